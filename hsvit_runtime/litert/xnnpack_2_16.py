"""What the XNNPACK delegate of TensorFlow Lite 2.16 runs of a graph, and in how many partitions.

The app's runtime is that release, and this machine's is not. So this is told from rules: those of the
current delegate (`xnnpack.reason`), what 2.16 lacks, and how TensorFlow Lite cuts a graph. The tests compare
them with what the wheel of 2.16.2 does, see `tests/runtime/litert/record_2_16.py`.
"""

from hsvit_runtime.litert import xnnpack

RUNTIME = "2.16"
_LACKING = ("BATCH_MATMUL", "COS", "EXP", "GELU", "LOG", "REDUCE_MAX", "REDUCE_MIN", "RSQRT", "SIN", "SUM")
_LATER_LIMITS = (xnnpack.NO_ELEMENTS, xnnpack.SLICE_TO_THE_END)
_KERNELS = ("CONV_2D", "FULLY_CONNECTED")


def plan(graph):
    """How the runtime cuts a graph.

    Args:
        graph: `tflite_file.Subgraph`, the main graph of a file that the runtime loads.

    Returns:
        (list of (`Op`, str), int): the ops that the delegate leaves, each with the reason, and the number of
        partitions that it makes of the others.
    """
    left = {op: why for op in graph.ops if not _unpacks_constant(op) and (why := reason(op))}
    for op in filter(_unpacks_constant, graph.ops):
        readers = [reader for reader in graph.ops if op.outputs[0] in reader.inputs]
        if not readers or any(reader in left for reader in readers):
            left[op] = "it converts a constant for an op that is not delegated"
    return list(left.items()), _partitions(graph, left)


def reason(op):
    """Why the delegate of 2.16 does not run an op, in a few words; None if it does.

    Args:
        op: `tflite_file.Op`.
    """
    if op.kind in _LACKING:
        return f"XNNPACK of {RUNTIME} has no such op"
    today = xnnpack.reason(op)
    if today in _LATER_LIMITS:
        return None
    return today or _LIMITS.get(op.kind, lambda op: None)(op)


def _mean(op):
    axes = sorted(axis % max(len(op.inputs[0].shape), 1) for axis in xnnpack.integers(op.inputs[1]))
    is_run = len(op.inputs[0].shape) == 4 and axes in ([1, 2], [2])
    return None if is_run else f"XNNPACK of {RUNTIME} has means over height and width, or width, alone"


def _kernel(op):
    values, kernel = op.inputs[:2]
    is_mixed = values.dtype == "float32" and kernel.dtype != "float32"
    return f"its input is {values.dtype} and its kernel is {kernel.dtype}" if is_mixed else None


_LIMITS = {"MEAN": _mean, **dict.fromkeys(_KERNELS, _kernel)}


def _unpacks_constant(op):
    return op.kind == "DEQUANTIZE" and op.inputs[0].data is not None


def _partitions(graph, left):
    """The number of partitions: in turns, all delegated ops that are ready, and all others that are.

    The first op says which come first.
    """
    waiting, done, count = list(graph.ops), set(), 0
    runs_delegated = bool(waiting) and waiting[0] not in left
    while waiting:
        rest = []
        for op in waiting:
            is_ready = all(
                tensor is None or tensor.source is None or tensor.source in done for tensor in op.inputs
            )
            if is_ready and (op not in left) == runs_delegated:
                done.add(op)
            else:
                rest.append(op)
        if len(rest) == len(waiting):  # a damaged file, whose ops wait for each other
            break
        count += runs_delegated
        waiting, runs_delegated = rest, not runs_delegated
    return count

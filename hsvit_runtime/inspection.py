"""Inspects any .tflite file: tensors, ops, multiply-adds, delegation and the oldest runtime that loads it."""

import collections
import hashlib
import math
import textwrap

from hsvit_runtime import input_files
from hsvit_runtime.errors import InputError
from hsvit_runtime.litert import delegation, runtimes, tflite_file, xnnpack, xnnpack_2_16

_WIDTH = 100  # of a line of `summary`, in characters
_INVALID_FLATBUFFER = "not a valid Flatbuffer"  # in LiteRT's message about damaged files


def inspect(path_or_bytes, *, runtime=None):
    """Reads a file and loads it in LiteRT, without running it.

    Args:
        path_or_bytes: path of a `.tflite` file, or its content.
        runtime: str, a TensorFlow Lite release such as "2.16", to check whether it loads the file.

    Returns:
        dict that can be written as JSON:

        `bytes`, `sha256`: size and hash of the file.
        `inputs`, `outputs`: list of `{name, shape, dtype, scale, zero_point}`; sizes that are known only at
            run time are None.
        `ops`, `macs`: dicts from the kind of op to the number of its ops and of their multiply-adds. Unknown
            sizes count as 1, the body of a loop once.
        `total_macs`: int.
        `partitions`: int, number of subgraphs that XNNPACK runs; None if LiteRT could not load the file.
        `fully_delegated`: bool, whether one partition contains all ops; None as above.
        `undelegated_ops`: list of `{op, count, reason}`; None as above.
        `delegation_problem`: str, why LiteRT could not load the file; None if it could.
        `delegation`: dict from an older runtime, "2.16", to what its delegate does: `{partitions,
            fully_delegated, undelegated_ops, nodes_total, nodes_delegated}`; None for a runtime that does not
            load the file.
        `litert_version`: str, the version of LiteRT that loaded the file; older versions delegate fewer ops.
        `custom_ops`, `flex_ops`: lists of names of ops that an app has to provide.
        `quantized_tensors`: list of `{name, dtype, scale, zero_point, axis, constant}`, where scale and zero
            point are lists, and axis is None for one scale for the tensor.
        `weights_bytes`: dict from dtype to bytes of constants.
        `minimum_runtime`: str, the oldest TensorFlow Lite release that loads the file. "2.12" means 2.12 or
            older; None means newer than all known releases.
        `runtime_needs`: list of `{feature, runtime}`, features that need a release newer than 2.12.
        `declared_runtime`: str, the oldest release according to the file itself, or None.
        `runtime`, `loads_on_runtime`: the argument `runtime`, and whether that release loads the file.

    Raises:
        MissingFileError: there is no such file.
        InputError: the file is not a `.tflite` file or is damaged, or `runtime` is not a release.
    """
    import ai_edge_litert

    content, name = _content(path_or_bytes)
    tflite_file.check_header(content, name)
    observed = delegation.observe(content)
    if _INVALID_FLATBUFFER in observed.get("problem", ""):
        raise InputError(f"{name} is damaged or cut short: it is not a valid flatbuffer")
    model = tflite_file.read(content, name)
    needs = runtimes.needs(model)
    oldest = runtimes.oldest(needs)
    main_graph = model.subgraphs[0]
    ops = [op for graph in model.subgraphs for op in graph.ops]
    try:
        macs = _sum((op.kind, multiply_adds(op)) for op in ops)
        older = _older_delegation(model, oldest)
    except (LookupError, AttributeError) as error:
        raise InputError(f"{name} is damaged: an op lacks an input, an output or a dimension") from error
    custom = {op.kind for op in ops if op.custom}
    flex = {kind for kind in custom if kind.startswith("Flex")}
    return {
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "inputs": [_described(tensor) for tensor in main_graph.inputs],
        "outputs": [_described(tensor) for tensor in main_graph.outputs],
        "ops": _sum((op.kind, 1) for op in ops),
        "macs": macs,
        "total_macs": sum(macs.values()),
        **_delegation(model, observed),
        "delegation": {xnnpack_2_16.RUNTIME: older},
        "litert_version": ai_edge_litert.__version__,
        "custom_ops": sorted(custom - flex),
        "flex_ops": sorted(flex),
        "quantized_tensors": [
            _quantization(tensor) for graph in model.subgraphs for tensor in graph.tensors if tensor.scales
        ],
        "weights_bytes": _weights_bytes(model),
        "minimum_runtime": oldest,
        "runtime_needs": needs,
        "declared_runtime": _declared_runtime(model),
        "runtime": runtime,
        "loads_on_runtime": None if runtime is None else runtimes.loads(oldest, runtime),
    }


def multiply_adds(op):
    """The multiply-adds of an op; 0 for ops other than convolutions and matrix products.

    Args:
        op: `tflite_file.Op`.

    Returns:
        int.
    """
    if op.kind in ("CONV_2D", "FULLY_CONNECTED"):  # kernel: (outputs, height, width, inputs of a group)
        return math.prod((*op.outputs[0].shape, *op.inputs[1].shape[1:]))
    if op.kind == "CONV_3D":  # kernel: (depth, height, width, inputs, outputs)
        return math.prod((*op.outputs[0].shape, *op.inputs[1].shape[:-1]))
    if op.kind == "CONV_3D_TRANSPOSE":  # kernel: (depth, height, width, outputs, inputs)
        return math.prod((*op.inputs[2].shape, *op.inputs[1].shape[:-1]))
    if op.kind == "DEPTHWISE_CONV_2D":  # kernel: (1, height, width, channels)
        return math.prod((*op.outputs[0].shape, *op.inputs[1].shape[:-1]))
    if op.kind == "TRANSPOSE_CONV":  # kernel: (outputs, height, width, inputs), applied to each input pixel
        return math.prod((*op.inputs[2].shape, *op.inputs[1].shape[:-1]))
    if op.kind == "BATCH_MATMUL":
        return math.prod((*op.outputs[0].shape, op.inputs[0].shape[-2 if op.option("adjX") else -1]))
    return 0


def _content(path_or_bytes):
    if isinstance(path_or_bytes, bytes | bytearray | memoryview):
        return bytes(path_or_bytes), "the model"
    return input_files.read(path_or_bytes, ".tflite file", may_be_empty=True), str(path_or_bytes)


def _delegation(model, observed):
    """The entries of a report about delegation; `observed` is the result of `delegation.observe`."""
    if "problem" in observed:
        unknown = dict.fromkeys(("partitions", "fully_delegated", "undelegated_ops"))
        return unknown | {"delegation_problem": observed["problem"]}
    undelegated = delegation.undelegated_ops(model.subgraphs[0], observed["partitions"])
    left = [(op, xnnpack.reason(op) or "unknown reason") for op in undelegated]
    return {**_delegated(model, left, len(observed["partitions"])), "delegation_problem": None}


def _older_delegation(model, oldest):
    """What the delegate of 2.16 does, by its rules; None where that runtime does not load the file."""
    custom = any(op.custom for graph in model.subgraphs for op in graph.ops)
    if custom or not runtimes.loads(oldest, xnnpack_2_16.RUNTIME):
        return None
    left, partitions = xnnpack_2_16.plan(model.subgraphs[0])
    total = sum(len(graph.ops) for graph in model.subgraphs)
    found = _delegated(model, left, partitions)
    missing = sum(entry["count"] for entry in found["undelegated_ops"])
    return {**found, "nodes_total": total, "nodes_delegated": total - missing}


def _delegated(model, left, partitions):
    """The entries about the ops that a delegate leaves, a list of (`Op`, reason), and its partitions."""
    reasons = [(op.kind, reason) for op, reason in left]
    for graph in model.subgraphs[1:]:
        reasons += [(op.kind, f"in graph {graph.name!r}, which is not examined") for op in graph.ops]
    entries = [
        {"op": kind, "count": count, "reason": reason}
        for (kind, reason), count in collections.Counter(reasons).items()
    ]
    return {
        "partitions": partitions,
        "fully_delegated": partitions == 1 and not entries,
        "undelegated_ops": entries,
    }


def _sum(pairs):
    """A dict from each key to the sum of its values, in the order of first appearance."""
    total = {}
    for key, value in pairs:
        total[key] = total.get(key, 0) + value
    return total


def _described(tensor):
    return {
        "name": tensor.name,
        "shape": list(tensor.signature),
        "dtype": tensor.dtype,
        "scale": tensor.scales[0] if tensor.scales else None,
        "zero_point": tensor.zero_points[0] if tensor.zero_points else None,
    }


def _quantization(tensor):
    return {
        "name": tensor.name,
        "dtype": tensor.dtype,
        "scale": list(tensor.scales),
        "zero_point": list(tensor.zero_points),
        "axis": tensor.axis,
        "constant": tensor.data is not None,
    }


def _weights_bytes(model):
    """Bytes of constants by dtype; a buffer that several tensors share counts once."""
    constants = [tensor for graph in model.subgraphs for tensor in graph.tensors if tensor.data is not None]
    buffers = {tensor.buffer: (tensor.dtype, len(tensor.data)) for tensor in constants}
    return _sum(buffers.values())


def _declared_runtime(model):
    text = model.metadata.get("min_runtime_version", b"").rstrip(b"\0").decode("ascii", "replace")
    return text or None


# ---- summary as text -------------------------------------------------------------------------------
def summary(name, report):
    """A report as text.

    Args:
        name: str or path, the file.
        report: dict of `inspect`.

    Returns:
        list of str, lines of at most 100 characters.
    """
    lines = [str(name), ""]
    for side in ("inputs", "outputs"):
        lines += [_tensor_line(side[:-1], tensor) for tensor in report[side]]
    lines += ["", *_op_table(report), ""]
    facts = {
        "XNNPACK": _delegation_text(report),
        **{f"on {runtime}": older_delegation(report, runtime) for runtime in asked_for(report)},
        "custom ops": _names(report["custom_ops"]),
        "Flex ops": _names(report["flex_ops"]),
        "runtime": _runtime_text(report),
        "quantized": _quantized_text(report),
        "weights": ", ".join(f"{dtype} {size:,}" for dtype, size in report["weights_bytes"].items())
        or "none",
        "bytes": f"{report['bytes']:,}",
        "SHA-256": report["sha256"],
    }
    for title, text in facts.items():
        lines += _wrapped(f"{title:<12}", text)
    return lines


def _tensor_line(side, tensor):
    shape = " x ".join("?" if size is None else str(size) for size in tensor["shape"]) or "scalar"
    quantization = (
        "" if tensor["scale"] is None else f", scale {tensor['scale']:g}, zero point {tensor['zero_point']}"
    )
    facts = f"{tensor['dtype']} {shape}{quantization}"
    return f"{side:<6}  {_clipped(tensor['name'], _WIDTH - 11 - len(facts))}  {facts}"


def _op_table(report):
    names = {kind: _clipped(kind, 40) for kind in report["ops"]}
    width = max(map(len, ["total", *names.values()]))
    lines = [f"{'op':<{width}}  {'count':>6}  {'MACs':>15}  in XNNPACK"]
    for kind, count in report["ops"].items():
        start = f"{names[kind]:<{width}}  {count:>6,}  {report['macs'][kind]:>15,}  "
        lines += _wrapped(start, _delegated_text(report, kind, count))
    total = sum(report["ops"].values())
    return [*lines, f"{'total':<{width}}  {total:>6,}  {report['total_macs']:>15,}"]


def _delegated_text(report, kind, count):
    if report["undelegated_ops"] is None:
        return "unknown"
    undelegated = [entry for entry in report["undelegated_ops"] if entry["op"] == kind]
    if not undelegated:
        return "yes"
    delegated = count - sum(entry["count"] for entry in undelegated)
    reasons = "; ".join(
        entry["reason"] if len(undelegated) == 1 else f"{entry['count']}: {entry['reason']}"
        for entry in undelegated
    )
    return f"{delegated} of {count}: {reasons}" if delegated else f"no: {reasons}"


def _delegation_text(report):
    if report["partitions"] is None:
        return f"unknown, since LiteRT does not load the file: {report['delegation_problem']}"
    partitions = f"{report['partitions']} partition{'s' * (report['partitions'] != 1)}"
    undelegated = sum(entry["count"] for entry in report["undelegated_ops"])
    rest = f"{undelegated} ops not delegated" if undelegated else "all ops delegated"
    return f"{partitions}, {rest} (LiteRT {report['litert_version']})"


def asked_for(report):
    """The older runtimes that a report is asked for and tells about."""
    asked = ".".join((report["runtime"] or "").split(".")[:2])
    return [asked] if report["delegation"].get(asked) else []


def older_delegation(report, runtime):
    """What the delegate of an older runtime does, with a warning where it leaves something: str.

    Args:
        report: dict of `inspect`.
        runtime: str, a key of its `delegation`.
    """
    found = report["delegation"][runtime]
    partitions = f"{found['partitions']} partition{'s' * (found['partitions'] != 1)}"
    if found["fully_delegated"]:
        return f"{partitions}, all {found['nodes_total']} ops delegated"
    left = ", ".join(f"{entry['count']} {entry['op']}" for entry in found["undelegated_ops"])
    return (
        f"WARNING: {partitions}, {found['nodes_delegated']} of {found['nodes_total']} ops delegated, "
        f"not {left}; ratios of latencies there are not those of the current runtime"
    )


def _runtime_text(report):
    oldest, needs = report["minimum_runtime"], report["runtime_needs"]
    features = ", ".join(need["feature"] for need in needs if need["runtime"] == oldest)
    if oldest is None:
        text = f"newer than TensorFlow Lite {runtimes.RELEASES[-1]}, for {features}"
    elif not features:
        text = f"TensorFlow Lite {oldest} or older"
    else:
        text = f"TensorFlow Lite {oldest} or newer, for {features}"
    if report["custom_ops"] or report["flex_ops"]:
        text += ", with the custom ops added"
    declared = report["declared_runtime"]
    return f"{text}; the file itself declares {declared}" if declared else text


def _quantized_text(report):
    dtypes = collections.Counter(tensor["dtype"] for tensor in report["quantized_tensors"])
    return ", ".join(f"{count} {dtype}" for dtype, count in dtypes.items()) or "none"


def _names(ops):
    return ", ".join(_clipped(op, 40) for op in ops) or "none"


def _clipped(name, width):
    name = _printable(name)
    return name if len(name) <= width else name[: max(width - 3, 0)] + "..."


def _printable(text):
    """Text from a file without control characters, which could change the terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _wrapped(start, text):
    """Lines with `text` after `start`; further lines are indented to the width of `start`."""
    indent = " " * len(start)
    return textwrap.wrap(_printable(text), _WIDTH, initial_indent=start, subsequent_indent=indent)

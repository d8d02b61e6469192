"""Observes which ops of a graph LiteRT delegates to XNNPACK, and which it runs by its slower kernels."""

import json
import signal
import subprocess
import sys

from hsvit_runtime.errors import MissingPackageError
from hsvit_runtime.litert import native_load, xnnpack

TIMEOUT_SECONDS = 120


def observe(content):
    """Loads a file in LiteRT, in a separate process.

    Args:
        content: bytes of a `.tflite` file.

    Returns:
        dict, either `{partitions}`, a list of `{inputs, outputs}` with tensor indices of the main graph, or
        `{problem}`, a str with the reason why the file did not load.

    Raises:
        MissingPackageError: LiteRT cannot be imported.
    """
    command = [sys.executable, "-P", native_load.__file__]
    try:
        done = subprocess.run(command, input=content, capture_output=True, timeout=TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        return {"problem": f"the runtime did not finish loading it within {TIMEOUT_SECONDS} seconds"}
    if done.returncode < 0:
        return {"problem": f"the runtime crashed on it ({signal.Signals(-done.returncode).name})"}
    if done.returncode:
        raise MissingPackageError(
            f"LiteRT does not start: {done.stderr.decode(errors='replace').splitlines()[-1]}"
        )
    return json.loads(done.stdout)


def undelegated_ops(graph, partitions):
    """The ops that are not part of any partition.

    Args:
        graph: `tflite_file.Subgraph`, the main graph.
        partitions: list of `{inputs, outputs}`, see `observe`.

    Returns:
        list of `tflite_file.Op`.
    """
    delegated, handed_out = set(), set()
    for partition in partitions:
        handed_out |= set(partition["outputs"])
        outputs = [graph.tensors[index] for index in partition["outputs"]]
        delegated |= _ops_computing(outputs, set(partition["inputs"]))
    # An op without outputs, such as ASSIGN_VARIABLE, is inside where only a partition has what it takes.
    delegated |= {
        op
        for op in graph.ops
        if not op.outputs
        and any(each.source in delegated and each.index not in handed_out for each in op.inputs if each)
    }
    # Ops that no output depends on cannot be found from the partitions; the rules decide about them.
    needed = _ops_computing(graph.outputs, set())
    return [op for op in graph.ops if op not in delegated and (op in needed or xnnpack.reason(op))]


def _ops_computing(tensors, inputs):
    """The ops that compute `tensors` from the tensors whose indices are in `inputs`, or from constants."""
    found, remaining = set(), list(tensors)
    while remaining:
        op = remaining.pop().source
        if op is not None and op not in found:
            found.add(op)
            remaining += [tensor for tensor in op.inputs if tensor is not None and tensor.index not in inputs]
    return found

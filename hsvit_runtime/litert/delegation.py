"""What the XNNPACK delegate takes of a graph and what it leaves to slower kernels, as LiteRT shows it."""

import json
import signal
import subprocess
import sys

from hsvit_runtime.errors import MissingPackageError
from hsvit_runtime.litert import native_load, xnnpack

SECONDS_TO_LOAD = 120


def observe(content):
    """Loads a file in LiteRT, in a process of its own.

    Args:
        content: bytes of a `.tflite` file.

    Returns:
        dict, either `{partitions}`, a list of `{inputs, outputs}` with numbers of tensors of the main
        graph, or `{problem}`, a str that tells why the file did not load.

    Raises:
        ImportError: LiteRT does not start.
    """
    command = [sys.executable, "-P", native_load.__file__]
    try:
        done = subprocess.run(command, input=content, capture_output=True, timeout=SECONDS_TO_LOAD)
    except subprocess.TimeoutExpired:
        return {"problem": f"the runtime did not finish loading it within {SECONDS_TO_LOAD} seconds"}
    if done.returncode < 0:
        return {"problem": f"the runtime crashed on it ({signal.Signals(-done.returncode).name})"}
    if done.returncode:
        raise MissingPackageError(
            f"LiteRT does not start: {done.stderr.decode(errors='replace').splitlines()[-1]}"
        )
    return json.loads(done.stdout)


def left_out(graph, partitions):
    """The ops that run outside of the partitions.

    Args:
        graph: `tflite_file.Subgraph`, the main one.
        partitions: list of `{inputs, outputs}`, see `observe`.

    Returns:
        list of `tflite_file.Op`.
    """
    delegated = set()
    for partition in partitions:
        ends = [graph.tensors[number] for number in partition["outputs"]]
        delegated |= _ops_behind(ends, set(partition["inputs"]))
    # No partition shows the ops that no output needs; the rules decide about them.
    needed = _ops_behind(graph.outputs, set())
    return [op for op in graph.ops if op not in delegated and (op in needed or xnnpack.reason(op))]


def _ops_behind(tensors, borders):
    """The ops that tensors are computed by, back to the tensors whose numbers are in `borders`."""
    found, wanted = set(), list(tensors)
    while wanted:
        op = wanted.pop().source
        if op is not None and op not in found:
            found.add(op)
            wanted += [tensor for tensor in op.inputs if tensor is not None and tensor.index not in borders]
    return found

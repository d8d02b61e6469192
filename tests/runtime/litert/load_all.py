"""Prints what TensorFlow's interpreter makes of each file of a folder, as JSON; run by record_2_16.py.

It runs in an environment of its own, which has an older TensorFlow and nothing of this repository.
"""

import json
import pathlib
import sys

from tensorflow.lite.python.interpreter import Interpreter


def main(folder):
    found = {path.stem: _plan(path) for path in sorted(pathlib.Path(folder).glob("*.tflite"))}
    json.dump(found, sys.stdout)


def _plan(path):
    """The number of partitions and the indices of the ops that run outside; None if it does not load."""
    try:
        interpreter = Interpreter(str(path))
        interpreter.allocate_tensors()
    except (RuntimeError, ValueError):
        return None
    ops = interpreter._get_ops_details()
    # A delegate's node is listed behind the ops that it replaces, and writes the same tensors.
    writers = {tensor: op for op in ops for tensor in op["outputs"]}
    running, tensors = {}, [output["index"] for output in interpreter.get_output_details()]
    while tensors:
        op = writers.get(tensors.pop())
        if op is not None and op["index"] not in running:
            running[op["index"]] = op
            tensors += list(op["inputs"])
    partitions = sum(op["op_name"] == "DELEGATE" for op in ops)
    return {
        "partitions": partitions,
        "left": sorted(int(index) for index, op in running.items() if op["op_name"] != "DELEGATE"),
    }


if __name__ == "__main__":
    main(sys.argv[1])

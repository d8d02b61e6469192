"""Times `.tflite` files side by side in the TensorFlow Lite of the Python that runs this, and prints JSON.

A program of its own, run by `export.older_runtime` in an environment with an older TensorFlow and NumPy.
"""

import json
import sys

import numpy as np
import tensorflow as tf

from measuring.timing import time_interleaved


def main(request):
    models = [_open(path, request["threads"]) for path in request["paths"]]
    functions = [model.invoke for model in models]
    timings = time_interleaved(
        functions, blocks=request["blocks"], runs=request["runs"], warmup=request["warmup"]
    )
    outputs = [model.get_tensor(model.get_output_details()[0]["index"]).tolist() for model in models]
    report = {
        "runtime": tf.__version__,
        "blocks_ms": [timing.blocks_ms for timing in timings],
        "nodes": [_nodes(model) for model in models],
        "outputs": outputs,
    }
    print(json.dumps(report))


def _open(path, threads):
    """An interpreter with the same made-up inputs in 0 to 255 for files with the same inputs."""
    model = tf.lite.Interpreter(path, num_threads=threads)
    model.allocate_tensors()
    chance = np.random.default_rng(0)
    for details in model.get_input_details():
        values = chance.integers(0, 256, details["shape"])
        model.set_tensor(details["index"], values.astype(details["dtype"]))
    return model


def _nodes(model):
    """How many partitions the delegate runs, and how many ops there are."""
    kinds = [op["op_name"] for op in model._get_ops_details()]
    partitions = kinds.count("DELEGATE")
    return {"partitions": partitions, "ops": len(kinds) - partitions}


if __name__ == "__main__":
    main(json.loads(sys.stdin.read()))

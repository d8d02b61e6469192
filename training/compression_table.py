"""What is measured of a model after each step of a compression, and the table of it."""

import zlib

import keras
import numpy as np

from hsvit_keras.compression.counting import count_multiply_adds
from hsvit_keras.compression.quantized_layers import RoundedKernel
from hsvit_keras.compression.sparsity import sparsity_report
from training.fitting import jit

_COLUMNS = {
    "accuracy": "{:.4f}",
    "loss": "{:.4f}",
    "multiply_adds": "{:,}",
    "parameters": "{:,}",
    "bytes": "{:,}",
    "zipped_bytes": "{:,}",
    "sparsity": "{:.1%}",
}


def measure(model, data, values):
    """Accuracy, loss, size and arithmetic of a model.

    Args:
        model: `keras.Model` with logits.
        data: `fitting.Data`.
        values: plain config.

    Returns:
        dict of `accuracy` and `loss` on the test part, `multiply_adds` of one image, `parameters`, `bytes`
        and `zipped_bytes` of the weights (rounded kernels as integers, all else in float32) and
        `sparsity`, the share of zeros in the kernels.
    """
    judged = keras.Model(model.input, model.output)  # so that the model itself stays as it is
    judged.compile(
        loss=keras.losses.CategoricalCrossentropy(from_logits=True),
        metrics=[keras.metrics.CategoricalAccuracy(name="accuracy")],
        jit_compile=jit(values["jit"]),
    )
    found = judged.evaluate(data.test(), steps=data.test_steps, verbose=0, return_dict=True)
    return {
        "accuracy": found["accuracy"],
        "loss": found["loss"],
        "multiply_adds": count_multiply_adds(model),
        "parameters": sum(int(np.prod(weight.shape)) for weight in model.trainable_weights),
        **_sizes(model),
        "sparsity": sparsity_report(model)["sparsity"],
    }


def table(rows):
    """The rows in lines.

    Args:
        rows: list of dicts of `measure`, each with the text `step`.
    """
    cells = [[row["step"], *(form.format(row[name]) for name, form in _COLUMNS.items())] for row in rows]
    cells.insert(0, ["step", *(name.replace("_", " ") for name in _COLUMNS)])
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(f"{text:{'<' if i == 0 else '>'}{widths[i]}}" for i, text in enumerate(line))
        for line in cells
    )


def _sizes(model):
    """Bytes of the weights as an artifact holds them, and as one gzip stream."""
    packer = zlib.compressobj(wbits=31)
    size = zipped = 0
    for array in _deployed(model):
        content = array.tobytes()
        size, zipped = size + len(content), zipped + len(packer.compress(content))
    return {"bytes": size, "zipped_bytes": zipped + len(packer.flush())}


def _deployed(model):
    kernels = {id(layer.kernel): layer for layer in model.layers if isinstance(layer, RoundedKernel)}
    for weight in model.weights:
        layer = kernels.get(id(weight))
        yield keras.ops.convert_to_numpy(weight) if layer is None else _integers(layer)


def _integers(layer):
    """The rounded kernel, one byte a weight."""
    rounded = keras.ops.convert_to_numpy(layer.rounded(layer.kernel))
    largest = np.abs(rounded).max(layer.inputs_axes(), keepdims=True)
    steps = 2 ** (layer.weight_bits - 1) - 1
    return np.rint(rounded / np.maximum(largest, 1e-20) * steps).astype(np.int8)

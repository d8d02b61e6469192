"""What is measured of a model after each step of a compression, and the table of it."""

import keras

from hsvit_keras.compression.counting import count_multiply_adds
from hsvit_keras.compression.quantized_layers import RoundedKernel
from hsvit_keras.compression.sparsity import sparsity_report, zipped_size
from training.fitting.fit import jit
from training.train import num_parameters

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
    size, zipped_bytes = zipped_size(_deployed(model))
    found = judged.evaluate(data.test(), steps=data.test_steps, verbose=0, return_dict=True)
    return {
        "accuracy": found["accuracy"],
        "loss": found["loss"],
        "multiply_adds": count_multiply_adds(model),
        "parameters": num_parameters(model),
        "bytes": size,
        "zipped_bytes": zipped_bytes,
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


def _deployed(model):
    """The weights as an artifact holds them."""
    kernels = {id(layer.kernel): layer for layer in model.layers if isinstance(layer, RoundedKernel)}
    for weight in model.weights:
        layer = kernels.get(id(weight))
        yield keras.ops.convert_to_numpy(weight) if layer is None else layer.integer_kernel()

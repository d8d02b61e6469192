"""What is measured of a model after each step of a compression, and the table of it."""

import keras

from command_line import tables
from hsvit_keras.compression.counting import count_multiply_adds, count_parameters
from hsvit_keras.compression.quantized_layers import RoundedKernel
from hsvit_keras.compression.sparsity import sparsity_report, zipped_size
from training.fitting.evaluation import evaluate_on_test

_SIZES = ("multiply_adds", "parameters", "bytes", "zipped_bytes")


def measure(model, data, values):
    """Quality, size and arithmetic of a model.

    Args:
        model: `keras.Model` with logits.
        data: `training.fitting.data.Data`.
        values: plain config.

    Returns:
        dict of `loss` and the task's metrics on the test part, `multiply_adds` of one image, `parameters`,
        `bytes` and `zipped_bytes` of the weights (rounded kernels as integers, all else in float32) and
        `sparsity`, the share of zeros in the kernels.
    """
    tested = evaluate_on_test(model, data, values)
    del tested["samples"]
    size, zipped_bytes = zipped_size(_deployed(model))
    return {
        **tested,
        "multiply_adds": count_multiply_adds(model),
        "parameters": count_parameters(model),
        "bytes": size,
        "zipped_bytes": zipped_bytes,
        "sparsity": sparsity_report(model)["sparsity"],
    }


def table(rows, metric):
    """The rows as text.

    Args:
        rows: list of dicts of `measure`, each with the text `step`.
        metric: `hsvit_keras.tasks.Measure`, the main one.
    """
    columns = ("step", metric.title, "loss", *(name.replace("_", " ") for name in _SIZES), "sparsity")
    lines = [
        (
            row["step"],
            metric.format(row[metric.name]),
            f"{row['loss']:.4f}",
            *(f"{row[name]:,}" for name in _SIZES),
            f"{row['sparsity']:.1%}",
        )
        for row in rows
    ]
    return tables.table(columns, lines)


def _deployed(model):
    """The weights as an artifact holds them."""
    kernels = {id(layer.kernel): layer for layer in model.layers if isinstance(layer, RoundedKernel)}
    for weight in model.weights:
        layer = kernels.get(id(weight))
        yield keras.ops.convert_to_numpy(weight) if layer is None else layer.integer_kernel()

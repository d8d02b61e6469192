"""Sparsity of a model: the share of zeros in its kernels, and the zipped size of its weights."""

import zlib

import keras
import numpy as np

from hsvit_keras.compression.kernels import kernels


def sparsity_report(model):
    """Counts the zeros in the kernels of a model.

    Args:
        model: built `keras.Model`.

    Returns:
        dict with

        `layers`: list of `{name, weights, zeros, sparsity}`, one for each kernel of a `Dense` or
            `EinsumDense` layer or of a convolution that is not depthwise.
        `weights`, `zeros`: int, sums over these kernels.
        `sparsity`: float, share of zeros in these kernels.
        `bytes`, `zipped_bytes`: int, size of all weights of the model, and when compressed by gzip.

    Raises:
        InputError: the model has no weights yet.
    """
    rows = [{"name": kernel.name, **_count(kernel)} for kernel in kernels(model)]
    weights, zeros = (sum(row[key] for row in rows) for key in ("weights", "zeros"))
    size, zipped = zipped_size(map(keras.ops.convert_to_numpy, model.weights))
    return {
        "layers": rows,
        "weights": weights,
        "zeros": zeros,
        "sparsity": zeros / max(weights, 1),
        "bytes": size,
        "zipped_bytes": zipped,
    }


def as_text(report):
    """The result of `sparsity_report` as a text table, with a note on what sparsity is good for."""
    rows = [*report["layers"], {**report, "name": "all kernels"}]
    width = max(len(row["name"]) for row in rows)
    return "\n".join(
        [
            *(
                f"{row['name']:{width}}  {row['weights']:>12,} weights  {row['sparsity']:7.2%} zeros"
                for row in rows
            ),
            f"all weights: {report['bytes']:,} bytes, zipped {report['zipped_bytes']:,} bytes",
            "Zeros make the zipped file smaller, but inference on phones no faster, since zeros are "
            "multiplied like other weights. For faster inference, remove whole parts by slim().",
        ]
    )


def _count(kernel):
    array = kernel.read()
    zeros = int(np.count_nonzero(array == 0))
    return {"weights": array.size, "zeros": zeros, "sparsity": zeros / array.size}


def zipped_size(arrays):
    """(bytes of all arrays, bytes of one gzip stream of them)."""
    compressor = zlib.compressobj(wbits=31)  # 31: gzip format
    size = zipped = 0
    for array in arrays:
        data = array.tobytes()
        size, zipped = size + len(data), zipped + len(compressor.compress(data))
    return size, zipped + len(compressor.flush())

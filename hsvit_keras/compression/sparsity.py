"""How sparse a model is: the zeros in its kernels, and the size of its weights when zipped."""

import zlib

import keras
import numpy as np

from hsvit_keras.compression.kernels import kernels


def sparsity_report(model):
    """Counts the zeros in the kernels of a model.

    Args:
        model: built `keras.Model`.

    Returns:
        dict with `layers` (a list of dicts with `name`, `weights`, `zeros` and `sparsity`); the sums
        `weights`, `zeros` and `sparsity` of the kernels of all convolutions (less depthwise ones),
        `Dense` and `EinsumDense` layers; and `bytes` and `zipped_bytes` of all weights of the model.

    Raises:
        ValueError: the model has no weights yet.
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
    """A table of what `sparsity_report` gives, and what it is worth."""
    rows = [*report["layers"], {**report, "name": "all kernels"}]
    width = max(len(row["name"]) for row in rows)
    return "\n".join(
        [
            *(
                f"{row['name']:{width}}  {row['weights']:>12,} weights  {row['sparsity']:7.2%} zeros"
                for row in rows
            ),
            f"all weights take {report['bytes']:,} bytes, zipped {report['zipped_bytes']:,}",
            "Zeros make a zipped download smaller, but no phone faster: it computes with them like with any "
            "other number. To be faster, remove whole parts with slim().",
        ]
    )


def _count(kernel):
    array = kernel.read()
    zeros = int(np.count_nonzero(array == 0))
    return {"weights": array.size, "zeros": zeros, "sparsity": zeros / array.size}


def zipped_size(arrays):
    """Bytes of all arrays as they are, and as one gzip stream."""
    packer = zlib.compressobj(wbits=31)
    size = zipped = 0
    for array in arrays:
        data = array.tobytes()
        size, zipped = size + len(data), zipped + len(packer.compress(data))
    return size, zipped + len(packer.flush())

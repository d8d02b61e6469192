"""The correct outputs of a bundle's models: one binary file a model, a row of float32 for each image.

A row holds all outputs of the model, one behind the other. A phone reads a row at a time; JSON of the same
numbers is several times as large and has to be parsed as a whole.
"""

import hashlib
import math

import numpy as np

from hsvit_runtime.errors import InputError

FOLDER = "references"
_DTYPE = np.dtype("<f4")


def write(folder, name, outputs, limits, runtime):
    """Writes the file of a model.

    Args:
        folder: path of the bundle.
        name: str, the model's without suffix.
        outputs: dict from an output's name to a float array (images, ...), in the order of the model.
        limits: dict from an output's name to the largest difference that counts as correct, or None.
        runtime: str, what computed them.

    Returns:
        dict, the model's `reference` in `bundle.json`.
    """
    rows = {key: np.reshape(array, (len(array), -1)) for key, array in outputs.items()}
    content = np.concatenate(list(rows.values()), 1).astype(_DTYPE).tobytes()
    offsets = np.cumsum([0, *(array.shape[1] for array in rows.values())])
    file = f"{FOLDER}/{name}.bin"
    (folder / FOLDER).mkdir(exist_ok=True)
    (folder / file).write_bytes(content)
    return {
        "file": file,
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "outputs": [
            {
                "name": key,
                "offset": int(offset),
                "shape": list(outputs[key].shape[1:]),
                "max_abs_diff": limits[key],
            }
            for key, offset in zip(outputs, offsets, strict=False)
        ],
        "runtime": runtime,
    }


def check(model, images, where):
    """Raises `InputError` unless a model's `reference` in a `bundle.json` fits its outputs.

    Args:
        model: dict of `bundle.json`.
        images: int, how many the bundle has.
        where: str, how the error begins.
    """
    reference, expected, offset = model["reference"], [], 0
    for tensor in model["outputs"]:
        expected.append((tensor["name"], offset, tensor["shape"][1:]))
        offset += math.prod(tensor["shape"])
    found = [(part["name"], part["offset"], part["shape"]) for part in reference["outputs"]]
    if found != expected:
        raise InputError(
            f"{where}: the name, offset and shape of each output in {reference['file']} must be {expected}; "
            f"received {found}"
        )
    if all(part["max_abs_diff"] is None for part in reference["outputs"]):
        raise InputError(f"{where}: an output in {reference['file']} must have max_abs_diff")
    size = _DTYPE.itemsize * offset * images
    if reference["bytes"] != size:
        raise InputError(
            f"{where}: {reference['file']} must have {size} bytes, {offset} numbers for each of {images} "
            f"images; received bytes={reference['bytes']}"
        )


def read(folder, model):
    """The correct outputs of a model.

    Args:
        folder: path of the bundle.
        model: dict of `bundle.json`, with a `reference` that was checked.

    Returns:
        dict from an output's name to a float32 array (images, ...).

    Raises:
        InputError: it holds NaN or infinity.
        OSError: the file is not there or cannot be read.
    """
    reference = model["reference"]
    path = folder / reference["file"]
    rows = np.fromfile(path, _DTYPE)
    if not np.isfinite(rows).all():
        raise InputError(f"{path} is damaged: it holds NaN or infinity")
    sizes = [math.prod(part["shape"]) for part in reference["outputs"]]
    rows = rows.reshape(-1, sum(sizes))
    return {
        part["name"]: rows[:, part["offset"] : part["offset"] + size].reshape(-1, *part["shape"])
        for part, size in zip(reference["outputs"], sizes, strict=True)
    }

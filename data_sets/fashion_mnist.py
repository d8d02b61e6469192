"""Fashion-MNIST (Xiao, Rasul and Vollgraf, arXiv 1708.07747) from its official idx files."""

import gzip
import math
import pathlib
import struct
import zlib

import numpy as np

from data_sets.dataset import ImageDataset, as_labels
from data_sets.locating import missing
from hsvit_runtime.errors import InputError

# Where Debian's package dataset-fashion-mnist puts the official files.
_DEBIAN_FOLDER = pathlib.Path("/usr/share/datasets/fashion-mnist")
_PREFIX = {"train": "train", "test": "t10k"}
_CLASS_NAMES = (
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
)


def load(split, data_dir=None):
    """Opens Fashion-MNIST, 28x28 pixels, grey.

    Args:
        split: "train" (60,000 images) or "test" (10,000 images).
        data_dir: path of the folder with the idx files, plain or .gz; Debian's by default.

    Returns:
        An `ImageDataset`.

    Raises:
        FileNotFoundError: a file is not there.
        ValueError: a file is damaged.
    """
    folder = data_dir or _DEBIAN_FOLDER
    images_file = _find(folder, f"{_PREFIX[split]}-images-idx3-ubyte")
    labels_file = _find(folder, f"{_PREFIX[split]}-labels-idx1-ubyte")
    images = read_idx(images_file, rank=3)[..., np.newaxis]
    labels = as_labels(read_idx(labels_file, rank=1), len(_CLASS_NAMES), labels_file)
    return ImageDataset("fashion_mnist", split, _CLASS_NAMES, images.shape[1:], images, labels)


def _find(folder, name):
    for path in (folder / f"{name}.gz", folder / name):
        if path.is_file():
            return path
    raise missing(
        "Fashion-MNIST",
        folder,
        f"{name}.gz or {name}",
        "the project zalandoresearch/fashion-mnist on GitHub, or Debian's package dataset-fashion-mnist",
    )


def read_idx(path, rank):
    """Reads an array of bytes in the idx format.

    Args:
        path: path of the file, gzip-compressed if it ends in .gz.
        rank: how many axes it must have.

    Returns:
        uint8 array.

    Raises:
        ValueError: the file is no idx file of bytes, has another rank, or is shorter or longer than
            its header says.
    """
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rb") as file:
            # Two zero bytes, 8 for "unsigned bytes", the rank; then each axis, four bytes, big-endian.
            if file.read(4) != bytes((0, 0, 8, rank)):
                raise InputError(f"{path} is not an idx file of bytes with {rank} axes")
            shape = struct.unpack(f">{rank}I", file.read(4 * rank))
            values = np.frombuffer(file.read(), np.uint8)
    except (EOFError, gzip.BadGzipFile, struct.error, zlib.error) as error:
        raise InputError(f"{path} is truncated or damaged: {error}") from error
    if len(values) != math.prod(shape):
        raise InputError(f"{path} is truncated or damaged: {len(values)} bytes of data for shape {shape}")
    return values.reshape(shape)

"""The idx format of MNIST and of all that is published like it: images in one file, labels in another."""

import gzip
import math
import struct
import zlib

import numpy as np

from data_sets.dataset import ImageDataset, as_labels
from data_sets.locating import missing
from hsvit_runtime import input_files
from hsvit_runtime.errors import InputError

# What the names of MNIST's files begin with.
MNIST_PREFIX = {"train": "train", "test": "t10k"}


def load(split, data_dir=None):
    """Opens any set whose files are named as MNIST's, as Kuzushiji-MNIST's are; its classes are numbers.

    Args:
        split: "train" or "test".
        data_dir: path of the folder with the four files, plain or .gz.

    Returns:
        An `ImageDataset`.

    Raises:
        FileNotFoundError: a file is not there.
        ValueError: a file is damaged.
    """
    title, source = "A set in the idx format", "MNIST, Kuzushiji-MNIST and others"
    label_files = [
        find(data_dir, f"{prefix}-labels-idx1-ubyte", title, source) for prefix in MNIST_PREFIX.values()
    ]
    highest = max(int(read(file, rank=1).max(initial=0)) for file in label_files)
    names = tuple(str(label) for label in range(highest + 1))
    return open_pair("idx", split, names, data_dir, MNIST_PREFIX[split], title, source)


def open_pair(name, split, class_names, folder, prefix, title, source, first_label=0):
    """Opens a part of a set from its files PREFIX-images-idx3-ubyte and PREFIX-labels-idx1-ubyte.

    Args:
        name: the data set's name.
        split: "train" or "test".
        class_names: tuple of str.
        folder: path of the folder with the files, plain or .gz; None if the user gave none.
        prefix: what their names begin with.
        title: the set's usual name.
        source: who publishes it.
        first_label: int, the number that the files give the first class.

    Returns:
        An `ImageDataset`.

    Raises:
        FileNotFoundError: a file is not there.
        ValueError: a file is damaged.
    """
    images_file = find(folder, f"{prefix}-images-idx3-ubyte", title, source)
    labels_file = find(folder, f"{prefix}-labels-idx1-ubyte", title, source)
    images = read(images_file, rank=3)[..., np.newaxis]
    labels = read(labels_file, rank=1).astype(np.int64) - first_label
    labels = as_labels(labels, len(class_names), labels_file)
    return ImageDataset(name, split, class_names, images.shape[1:], images, labels)


def find(folder, name, title, source):
    """The path of a file in a folder, plain or .gz; raises a FileNotFoundError where there is none."""
    for path in (folder / f"{name}.gz", folder / name) if folder else ():
        if path.is_file():
            return path
    raise missing(title, folder, f"{name}.gz or {name}", source)


def read(path, rank):
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
        with opener(input_files.check(path, may_be_empty=True), "rb") as file:
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

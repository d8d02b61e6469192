"""CIFAR-10 and CIFAR-100 (Krizhevsky, 2009) from their official files.

Both come in a Python version (pickles) and a binary version (records of label and pixels), each an
archive with one folder. The archive is read in memory; the extracted folder serves as well.
"""

import dataclasses
import functools
import tarfile
import zlib
from collections.abc import Callable

import numpy as np

from data_sets import array_pickle
from data_sets.dataset import ImageDataset, as_labels
from data_sets.locating import find_folder, missing
from hsvit_runtime import input_files, text_lists
from hsvit_runtime.errors import InputError, MissingFileError

_PIXELS = 3 * 32 * 32


def load_cifar10(split, data_dir=None):
    """Opens CIFAR-10: 32x32 pixels, RGB, 50,000 images to train and 10,000 to test.

    Args:
        split: "train" or "test".
        data_dir: path of the folder with an archive or an extracted folder, or the latter itself.

    Returns:
        An `ImageDataset`.

    Raises:
        FileNotFoundError: neither version is there, or a file of it is missing.
        ValueError: a file is damaged, or a pickle asks for more than arrays of bytes.
    """
    return _load("cifar10", "CIFAR-10", split, data_dir)


def load_cifar100(split, data_dir=None):
    """Opens CIFAR-100 with its 100 fine labels; all else as `load_cifar10`."""
    return _load("cifar100", "CIFAR-100", split, data_dir)


def _read_pickle(content, label_entry):
    entries = array_pickle.loads(content)
    return np.asarray(entries[b"data"], np.uint8), np.asarray(entries[label_entry], np.int64)


def _read_pickled_names(content, names_entry):
    return [name.decode() for name in array_pickle.loads(content)[names_entry]]


def _read_records(content, label_bytes):
    """Records of `label_bytes` labels, the last of which is the finest, and 3072 pixels."""
    record_bytes = label_bytes + _PIXELS
    if len(content) % record_bytes:
        raise InputError(f"{len(content)} bytes are no whole number of records of {record_bytes}")
    records = np.frombuffer(content, np.uint8).reshape(-1, record_bytes)
    return records[:, label_bytes:], records[:, label_bytes - 1]


def _read_text_names(content):
    return text_lists.words_of(text_lists.lines_of(content, "the list of classes"))


@dataclasses.dataclass(frozen=True)
class _Version:
    """Where an official version keeps its parts and class names, and how they are read."""

    archive: str
    folder: str
    train: tuple[str, ...]
    test: tuple[str, ...]
    names: str
    read_part: Callable  # bytes -> (pixels (N, 3072) by channel, row, column; labels (N,))
    read_names: Callable  # bytes -> list of str


_VERSIONS = {
    "cifar10": (
        _Version(
            archive="cifar-10-python.tar.gz",
            folder="cifar-10-batches-py",
            train=tuple(f"data_batch_{number}" for number in range(1, 6)),
            test=("test_batch",),
            names="batches.meta",
            read_part=functools.partial(_read_pickle, label_entry=b"labels"),
            read_names=functools.partial(_read_pickled_names, names_entry=b"label_names"),
        ),
        _Version(
            archive="cifar-10-binary.tar.gz",
            folder="cifar-10-batches-bin",
            train=tuple(f"data_batch_{number}.bin" for number in range(1, 6)),
            test=("test_batch.bin",),
            names="batches.meta.txt",
            read_part=functools.partial(_read_records, label_bytes=1),
            read_names=_read_text_names,
        ),
    ),
    "cifar100": (
        _Version(
            archive="cifar-100-python.tar.gz",
            folder="cifar-100-python",
            train=("train",),
            test=("test",),
            names="meta",
            read_part=functools.partial(_read_pickle, label_entry=b"fine_labels"),
            read_names=functools.partial(_read_pickled_names, names_entry=b"fine_label_names"),
        ),
        _Version(
            archive="cifar-100-binary.tar.gz",
            folder="cifar-100-binary",
            train=("train.bin",),
            test=("test.bin",),
            names="fine_label_names.txt",
            read_part=functools.partial(_read_records, label_bytes=2),
            read_names=_read_text_names,
        ),
    ),
}


def _load(name, title, split, data_dir):
    versions = _VERSIONS[name]
    for version in versions:
        files = _read_files(version, (version.names, *getattr(version, split)), data_dir)
        if files:
            return _parse(version, name, split, files)
    expected = " or ".join(f"{version.archive} or its folder {version.folder}" for version in versions)
    raise missing(title, data_dir, expected, "Alex Krizhevsky's CIFAR page, University of Toronto")


def _read_files(version, names, data_dir):
    """{path: content} of the files `names`, in that order; None if this version is not in `data_dir`."""
    if folder := find_folder(data_dir, version.folder, version.names):
        return {folder / name: input_files.read(folder / name, may_be_empty=True) for name in names}
    if archive := find_folder(data_dir, ".", version.archive):
        return _read_archive(archive / version.archive, version.folder, names)
    return None


def _read_archive(archive, folder, names):
    wanted = [f"{folder}/{name}" for name in names]
    found = {}
    input_files.check(archive, "archive")
    try:
        with tarfile.open(archive, "r:gz") as tar:
            for member in tar:  # in the archive's order: seeking back would decompress it once more
                if member.isfile() and member.name in wanted:
                    found[member.name] = tar.extractfile(member).read()
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise InputError(f"{archive} is truncated or damaged: {error}") from error
    for name in wanted:
        if name not in found:
            raise MissingFileError(f"{archive} is not the official archive: there is no {name} in it")
    return {archive / name: found[name] for name in wanted}


def _parse(version, name, split, files):
    (names_file, names), *parts = files.items()
    class_names = tuple(_reading(version.read_names, names, names_file))
    images, labels = [], []
    for file, content in parts:
        pixels, part_labels = _reading(version.read_part, content, file)
        if pixels.shape != (len(part_labels), _PIXELS):
            raise InputError(
                f"{file}: pixels of shape {pixels.shape} for {len(part_labels)} labels, "
                f"expected ({len(part_labels)}, {_PIXELS})"
            )
        images.append(np.moveaxis(pixels.reshape(-1, 3, 32, 32), 1, 3))
        labels.append(as_labels(part_labels, len(class_names), file))
    labels = np.concatenate(labels)
    # Into one new array: rows of pixels are then contiguous, and nothing is copied twice.
    images = np.concatenate(images, out=np.empty((len(labels), 32, 32, 3), np.uint8))
    return ImageDataset(name, split, class_names, (32, 32, 3), images, labels)


def _reading(read, content, file):
    try:
        return read(content)
    except KeyError as error:
        raise InputError(f"{file} is not the official file: there is no entry {error} in it") from error
    except (ValueError, TypeError, AttributeError) as error:
        raise InputError(f"{file} is damaged or not the official file: {error}") from error

"""Every data set by its name."""

import pathlib

from data_sets import (
    cifar,
    class_folders,
    coco,
    digits,
    digits_detection,
    digits_segmentation,
    digits_video,
    domainnet,
    emnist,
    fashion_mnist,
    food101,
    idx,
    imagenet,
    kinetics,
    tiny_imagenet,
    voc,
)
from data_sets.folders import folder_in_archive
from hsvit_runtime.errors import FileError, InputError

_LOADERS = {
    "digits": digits.load,
    "digits_segmentation": digits_segmentation.load,
    "digits_detection": digits_detection.load,
    "digits_video": digits_video.load,
    "fashion_mnist": fashion_mnist.load,
    **emnist.LOADERS,
    "idx": idx.load,
    "cifar10": cifar.load_cifar10,
    "cifar100": cifar.load_cifar100,
    "tiny_imagenet": tiny_imagenet.load,
    "food101": food101.load,
    "imagenet": imagenet.load,
    "kinetics": kinetics.load,
    **domainnet.LOADERS,
    "coco": coco.load,
    "voc": voc.load,
    "folder": class_folders.load,
}

DATASETS = tuple(_LOADERS)
SPLITS = ("train", "test")


def load_dataset(name, split, data_dir=None):
    """Opens one part of a data set.

    Args:
        name: one of `DATASETS`.
        split: "train" or "test".
        data_dir: the folder with the set's official files, or for "folder" with the class folders, which may
            be a .zip or an uncompressed .tar. "digits" and "digits_..." need none, "fashion_mnist" is found
            without one where Debian's package dataset-fashion-mnist is installed.

    Returns:
        An `ImageDataset`.

    Raises:
        ValueError: an unknown name or split, or files that are damaged.
        FileNotFoundError: the files are not there; the message says what is expected and its source.
    """
    check_name(name)
    if split not in SPLITS:
        raise InputError(f"split={split!r} is not a part of a data set: choose train or test")
    return _LOADERS[name](split, folder_of(name, data_dir))


def load_validation(name, data_dir=None):
    """Opens the official validation part of a data set that has one and a test part.

    Args:
        name: one of `DATASETS`.
        data_dir: as for `load_dataset`.

    Returns:
        An `ImageDataset`, or None where the set has no such part.
    """
    check_name(name)
    return class_folders.load_validation(folder_of(name, data_dir)) if name == "folder" else None


def check_name(name):
    """Raises `ValueError` unless there is a data set of this name."""
    if name not in _LOADERS:
        raise InputError(f"data={name!r} is not a known data set: choose one of {', '.join(DATASETS)}")


def folder_of(name, data_dir):
    """Where the files of a data set are: a path, a folder in an archive, or None.

    Args:
        name: one of `DATASETS`.
        data_dir: as for `load_dataset`.

    Raises:
        InputError: it is a file that is no archive, or an archive that this set is not read from.
    """
    if data_dir is None:
        return None
    data_dir = pathlib.Path(data_dir).expanduser()
    if not data_dir.exists() or data_dir.is_dir():
        return data_dir
    if name == "folder":
        return folder_in_archive(data_dir)
    raise FileError(f"data_dir={str(data_dir)!r} is a file: give the folder that holds it")

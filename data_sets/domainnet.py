"""DomainNet (Peng et al., ICCV 2019, arXiv 1812.01754) by its official lists of images.

Each of the six domains is a data set of its own. The classes have the same numbers in all of them, so that a
model of one can be evaluated on another.
"""

import functools
import pathlib

import numpy as np

from data_sets.dataset import ImageDataset
from data_sets.images import ImageFiles
from data_sets.locating import missing
from hsvit_runtime.errors import InputError

DOMAINS = ("clipart", "infograph", "painting", "quickdraw", "real", "sketch")
_NUM_CLASSES = 345


def load(domain, split, data_dir=None):
    """Opens a domain: RGB pictures of many sizes, 345 classes.

    Args:
        domain: one of `DOMAINS`.
        split: "train" or "test".
        data_dir: path of the folder with the domains' folders and their lists.

    Returns:
        An `ImageDataset`; its class names are those of the folders in all lists that are there, for a domain
        may lack a class.

    Raises:
        FileNotFoundError: the list or the images are not there.
        ValueError: a line of a list is no path and label, or lists contradict each other.
    """
    part = f"{domain}_{split}.txt"
    if data_dir is None or not (data_dir / part).is_file() or not (data_dir / domain).is_dir():
        raise missing(
            f"DomainNet, {domain}",
            data_dir,
            f"{part} and the folder {domain}, extracted from {domain}.zip",
            "Boston University, Moment Matching for Multi-Source Domain Adaptation (M3SDA)",
        )
    pairs = _read_list(data_dir / part)
    images = ImageFiles([str(data_dir / path) for path, _ in pairs])
    labels = np.array([label for _, label in pairs], np.int32)
    return ImageDataset(f"domainnet_{domain}", split, _class_names(data_dir), (224, 224, 3), images, labels)


def _class_names(data_dir):
    """The folder of each label; a label that no list has is named by its number."""
    names = {}
    for file in (data_dir / f"{domain}_{split}.txt" for domain in DOMAINS for split in ("train", "test")):
        for path, label in _read_list(file) if file.is_file() else ():
            name = pathlib.PurePosixPath(path).parent.name
            if names.setdefault(label, name) != name:
                raise InputError(f"{file}: the class {name!r} of {path} has the label of {names[label]!r}")
    return tuple(names.get(label, f"class {label}") for label in range(_NUM_CLASSES))


def _read_list(file):
    """[(path of an image, its label)] of a list."""
    return [_parse(file, number, line) for number, line in enumerate(file.read_text().splitlines(), start=1)]


def _parse(file, number, line):
    path, _, label = line.rpartition(" ")
    if not path or not label.isdecimal() or int(label) >= _NUM_CLASSES:
        raise InputError(
            f"{file}, line {number}: expected a path, a blank and a label below {_NUM_CLASSES}; "
            f"received {line!r}"
        )
    return path, int(label)


LOADERS = {f"domainnet_{domain}": functools.partial(load, domain) for domain in DOMAINS}

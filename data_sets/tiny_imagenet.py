"""Tiny ImageNet (Stanford CS231n) from the extracted tree of its official zip file.

The official test images have no labels: the validation images are the test part, as in the papers.
"""

import numpy as np

from data_sets import class_folders, synsets
from data_sets.dataset import ImageDataset
from data_sets.images import ImageFiles
from data_sets.locating import find_folder, missing
from hsvit_runtime.errors import InputError


def load(split, data_dir=None):
    """Opens Tiny ImageNet: 64x64 pixels, RGB, 200 classes sorted by id.

    Args:
        split: "train" (100,000 images) or "test" (10,000 images).
        data_dir: path of the folder with tiny-imagenet-200, or that folder itself.

    Returns:
        An `ImageDataset`.

    Raises:
        FileNotFoundError: the set or a class folder is not there.
        ValueError: a class folder is empty, or a label is not one of the classes.
    """
    root = find_folder(data_dir, "tiny-imagenet-200", "wnids.txt")
    if root is None:
        raise missing(
            "Tiny ImageNet",
            data_dir,
            "tiny-imagenet-200, extracted from tiny-imagenet-200.zip, with wnids.txt, words.txt, "
            "train/ID/images/*.JPEG, val/images/*.JPEG and val/val_annotations.txt",
            "Stanford University's course CS231n",
        )
    ids = sorted((root / "wnids.txt").read_text().split())
    names = synsets.class_names(ids, synsets.read_words(root / "words.txt", "\t"))
    if split == "train":
        paths = [class_folders.list_images(root / "train" / one / "images") for one in ids]
        images, labels = class_folders.gather(paths)
    else:
        images, labels = _validation(root / "val", ids)
    return ImageDataset("tiny_imagenet", split, names, (64, 64, 3), images, labels)


def _validation(folder, ids):
    label_of = {one: label for label, one in enumerate(ids)}
    annotations = folder / "val_annotations.txt"
    paths, labels = [], []
    for line in annotations.read_text().splitlines():
        name, one = line.split("\t")[:2]
        if one not in label_of:
            raise InputError(f"{annotations}: the class {one} of {name} is not in wnids.txt")
        paths.append(str(folder / "images" / name))
        labels.append(label_of[one])
    return ImageFiles(paths), np.array(labels, np.int32)

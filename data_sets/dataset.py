"""One part of an image set: its images, labels and class names, with random access."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from hsvit_runtime.errors import InputError


@dataclasses.dataclass(frozen=True, eq=False)
class ImageDataset:
    """Labelled images with random access, usable as the source of a Grain dataset.

    `dataset[i]` is `{"image": uint8 (H, W, C), "label": int32}`. Images in an array are handed out as
    views of it; images in files are decoded when they are asked for.

    Args:
        name: the set's name, one of `training.data.DATASETS`.
        split: "train" or "test".
        class_names: the name of each label.
        image_shape: (H, W, C) of the images; where they differ in size, the size usually trained at.
        images: uint8 array (N, H, W, C), or an `ImageFiles`.
        labels: int32 array (N,), from 0 to `len(class_names) - 1`.

    Raises:
        ValueError: there are not as many labels as images, or no images at all.
    """

    name: str
    split: str
    class_names: tuple[str, ...]
    image_shape: tuple[int, int, int]
    images: Sequence = dataclasses.field(repr=False)
    labels: np.ndarray = dataclasses.field(repr=False)

    def __post_init__(self):
        if len(self.images) != len(self.labels):
            raise InputError(
                f"{self.name}, {self.split} part: {len(self.images)} images but {len(self.labels)} labels"
            )
        if not len(self.images):
            raise InputError(f"{self.name}, {self.split} part: there are no images")

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return {"image": self.images[index], "label": self.labels[index]}


def as_labels(values, num_classes, file):
    """Checks the labels read from a file.

    Args:
        values: integers (N,).
        num_classes: labels must be below this number.
        file: where they were read, for the error.

    Returns:
        int32 array (N,).

    Raises:
        ValueError: a label is out of range.
    """
    labels = np.asarray(values, np.int64)
    wrong = np.flatnonzero((labels < 0) | (labels >= num_classes))
    if len(wrong):
        position = wrong[0]
        raise InputError(
            f"{file}: label {labels[position]} at position {position} is not one of 0 to {num_classes - 1}"
        )
    return labels.astype(np.int32)

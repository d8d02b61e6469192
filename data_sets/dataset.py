"""One part of a data set: its images, labels and class names, with random access."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from hsvit_runtime.errors import InputError


@dataclasses.dataclass(frozen=True, eq=False)
class ImageDataset:
    """Labelled images with random access, usable as the source of a Grain dataset.

    `dataset[i]` is `{"image": uint8 (H, W, C), "label": int32}`. Images of an array are given as views of it;
    images in files are decoded when they are asked for. An image may be a clip, uint8 (frames, H, W, C).

    Args:
        name: the data set's name, one of `data_sets.DATASETS`.
        split: "train", "validation" or "test".
        class_names: the name of each class.
        image_shape: (H, W, C) of the images, (frames, H, W, C) of clips; where they differ in size, the size
            usually trained at.
        images: uint8 array (N, H, W, C) or (N, frames, H, W, C), an `ImageFiles` or a `VideoFiles`.
        labels: int32 array of classes from 0 to `len(class_names) - 1`: (N,), one for each image, or masks
            (N, H, W), one for each pixel; or float32 array of boxes (N, boxes, 6), see
            `hsvit_runtime.box_labels`.
        task: what the labels are for, a name of `hsvit_keras.tasks`.

    Raises:
        ValueError: there are not as many labels as images, or no images at all.
    """

    name: str
    split: str
    class_names: tuple[str, ...]
    image_shape: tuple[int, ...]
    images: Sequence = dataclasses.field(repr=False)
    labels: np.ndarray = dataclasses.field(repr=False)
    task: str = "classification"

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

    @property
    def has_clips(self):
        """Whether the images are clips."""
        return len(self.image_shape) == 4

    def subset(self, positions, split):
        """The elements at some positions, as a part of its own.

        Args:
            positions: int array (count,).
            split: str, the part's name.
        """
        images = self.images
        chosen = images[positions] if isinstance(images, np.ndarray) else images.subset(positions)
        return dataclasses.replace(self, split=split, images=chosen, labels=self.labels[positions])

    def labels_fit(self, class_names, num_outputs):
        """Whether the labels are indices of a model's classes.

        Args:
            class_names: sequence of str, what the model calls its classes; None where it does not say.
            num_outputs: int, length of the model outputs' last axis.
        """
        if class_names is not None:
            return tuple(class_names) == tuple(self.class_names)
        return len(self.class_names) == num_outputs


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

"""From the images of a data set to the inputs of a model, whoever made it."""

import numpy as np

from data_sets.catalog import load_dataset
from data_sets.pipeline import sample_images
from hsvit_runtime.errors import InputError


def data_set_for(description, name=None, split="test", data_dir=None):
    """Opens the data set of a model.

    Args:
        description: `Description` of the model.
        name: str, a data set to take instead of the model's own.
        split: str, the part.
        data_dir: folder of its official files, or None.

    Returns:
        An `ImageDataset`.

    Raises:
        InputError: neither the model nor the user says which data set.
        OSError: its files are not there.
    """
    name = name or description.data_set
    if name is None:
        raise InputError("the model does not say what data set it is for: name one with --data")
    return load_dataset(name, split, data_dir)


def input_range_for(description, asked=None):
    """The values of a black and of a white pixel in the model's input.

    Args:
        description: `Description` of the model.
        asked: (low, high) that the user gives where the model does not say.

    Raises:
        InputError: neither says it, or both and they differ.
    """
    told = description.input_range
    if told is None and asked is None:
        raise InputError(
            "the model does not say what values its pixels have: tell those of black and white, "
            "as in --input_range=0,255 or --input_range=-1,1"
        )
    if told is not None and asked is not None and tuple(asked) != tuple(told):
        raise InputError(
            f"the model takes pixels of {told[0]:g} to {told[1]:g}, not of {asked[0]:g} to {asked[1]:g}"
        )
    return tuple(told if asked is None else asked)


def in_range(pixels, input_range):
    """Pixels of 0 to 255 as float32 values of a model's input range."""
    low, high = input_range
    pixels = np.asarray(pixels, "float32")
    if (low, high) == (0, 255):
        return pixels
    return (low + pixels * ((high - low) / 255)).astype("float32")


def sample_inputs(dataset, count, image_shape, input_range, seed=0):
    """Some images of a data set, spread evenly over the classes, as a model takes them.

    Args:
        dataset: an `ImageDataset`.
        count: int, how many; all there are if it is more.
        image_shape: (height, width, channels).
        input_range: (low, high), see `input_range_for`.
        seed: int, decides which.

    Returns:
        (float32 array (count, height, width, channels), labels (count, ...)).
    """
    pixels, labels = sample_images(dataset, min(count, len(dataset)), image_shape=image_shape, seed=seed)
    return in_range(pixels, input_range), labels


def labels_fit(dataset, class_names, num_outputs):
    """Whether the labels of a data set are indices of a model's classes.

    Args:
        dataset: an `ImageDataset`.
        class_names: sequence of str, what the model calls its classes; None where it does not say.
        num_outputs: int, length of the outputs' last axis.
    """
    if class_names is not None:
        return tuple(class_names) == tuple(dataset.class_names)
    return len(dataset.class_names) == num_outputs

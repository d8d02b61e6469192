"""From the images of a data set to the inputs of a model, whoever made it."""

import numpy as np

from data_sets.pipeline import sample_images


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
        input_range: (low, high), the values of a black and of a white pixel.
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

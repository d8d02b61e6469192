"""From the images of a data set to the inputs of a model, whoever made it."""

from data_sets.pipeline import sample_images


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
    count = min(count, len(dataset))
    return sample_images(dataset, count, image_shape=image_shape, input_range=input_range, seed=seed)


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

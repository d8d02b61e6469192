"""How large the images in files are, from what stands at their beginning: none is decoded."""

import numpy as np

from data_sets.sampling import spread_over_classes

_SAMPLE = 200


def typical_shape(dataset):
    """The median height and width of some images, spread over the classes, and their channels.

    Args:
        dataset: an `ImageDataset` of files.

    Returns:
        (height, width, channels): two floats, and 3 if one of the images has colours, else 1.
    """
    chosen = spread_over_classes(dataset.labels, min(_SAMPLE, len(dataset)))
    shapes = np.array([dataset.images.shape_of(index) for index in chosen])
    height, width, _ = np.median(shapes, axis=0)
    return float(height), float(width), int(shapes[:, 2].max())

"""A picture of some images of a set with their labels, to see that both are right."""

import textwrap

import numpy as np
from matplotlib.figure import Figure

from data_sets.pipeline import spread_over_classes
from hsvit_runtime.files import replacing

_COLUMNS = 10
_MAX_IMAGES = 100


def draw(dataset, path):
    """Writes a contact sheet: up to 100 images, spread over the classes and sorted by them.

    Args:
        dataset: an `ImageDataset`.
        path: path of the .png to write.

    Raises:
        OSError: the file cannot be written, or an image cannot be read.
    """
    chosen = spread_over_classes(dataset.labels, min(len(dataset), _MAX_IMAGES))
    chosen = chosen[np.argsort(dataset.labels[chosen], kind="stable")]
    rows = -(-len(chosen) // _COLUMNS)
    figure = Figure(figsize=(_COLUMNS * 1.2, rows * 1.4), layout="constrained")
    grid = figure.subplots(rows, _COLUMNS, squeeze=False).ravel()
    for axes in grid:
        axes.set_axis_off()
    for axes, index in zip(grid, chosen, strict=False):
        element = dataset[index]
        axes.imshow(element["image"], cmap="gray", vmin=0, vmax=255)
        axes.set_title(textwrap.fill(dataset.class_names[element["label"]], width=16), fontsize=8)
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=100)

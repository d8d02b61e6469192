"""A picture of some images of a data set with their labels, to see that both are right."""

import textwrap

import numpy as np

from command_line import plots
from data_sets.sampling import spread_over_classes, strata
from hsvit_keras.tasks import drawn_boxes
from hsvit_runtime import box_labels

_COLUMNS = 10
_MAX_IMAGES = 100


def draw(dataset, path):
    """Writes a contact sheet: up to 100 images, spread over the classes and sorted by them.

    A mask is drawn over its image, and the classes in it are named; boxes are drawn with their names.

    Args:
        dataset: an `ImageDataset`.
        path: path of the .png to write.

    Raises:
        OSError: the file cannot be written, or an image cannot be read.
    """
    chosen = spread_over_classes(dataset.labels, min(len(dataset), _MAX_IMAGES))
    chosen = chosen[np.argsort(strata(dataset.labels)[chosen], kind="stable")]
    rows = -(-len(chosen) // _COLUMNS)
    with plots.style():
        figure = plots.new_figure((_COLUMNS * 1.2, rows * 1.4))
        grid = figure.subplots(rows, _COLUMNS, squeeze=False).ravel()
        for axes in grid:
            axes.set_axis_off()
        for axes, index in zip(grid, chosen, strict=False):
            element = dataset[index]
            axes.imshow(element["image"], cmap="gray", vmin=0, vmax=255)
            if box_labels.are_boxes(element["label"]):
                drawn_boxes.draw_labels(axes, element["label"], element["image"].shape, dataset.class_names)
                continue
            if element["label"].ndim:
                covered = np.ma.masked_equal(element["label"], 0)
                axes.imshow(covered, cmap="tab20", vmin=0, vmax=len(dataset.class_names), alpha=0.5)
            names = [dataset.class_names[label] for label in np.unique(element["label"])]
            axes.set_title(textwrap.fill(", ".join(names), width=16), fontsize=8)
        plots.save(figure, path, dpi=100)

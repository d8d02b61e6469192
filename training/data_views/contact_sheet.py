"""A picture of some images of a data set with their labels, to see that both are right."""

import textwrap

import numpy as np

from command_line import plots
from data_sets.sampling import spread_over_classes, strata
from hsvit_keras.tasks import drawn_boxes
from hsvit_runtime import box_labels
from hsvit_runtime.pixels import side_by_side

_COLUMNS = 10
_COLUMNS_OF_CLIPS = 2
_MAX_IMAGES = 100
_MAX_CLIPS = 24
_WIDTH = 12  # inches


def draw(dataset, path):
    """Writes a contact sheet: up to 100 images, or 24 clips, spread over the classes and sorted by them.

    A mask is drawn over its image, and the classes in it are named; boxes are drawn with their names. The
    frames of a clip stand side by side.

    Args:
        dataset: an `ImageDataset`.
        path: path of the .png to write.

    Raises:
        OSError: the file cannot be written, or an image cannot be read.
    """
    columns, most = (_COLUMNS_OF_CLIPS, _MAX_CLIPS) if dataset.has_clips else (_COLUMNS, _MAX_IMAGES)
    chosen = spread_over_classes(dataset.labels, min(len(dataset), most))
    chosen = chosen[np.argsort(strata(dataset.labels)[chosen], kind="stable")]
    rows = -(-len(chosen) // columns)
    with plots.style():
        figure = plots.new_figure((_WIDTH, rows * 1.4))
        grid = figure.subplots(rows, columns, squeeze=False).ravel()
        for axes in grid:
            axes.set_axis_off()
        for axes, index in zip(grid, chosen, strict=False):
            element = dataset[index]
            picture = side_by_side(element["image"]) if dataset.has_clips else element["image"]
            axes.imshow(picture, cmap="gray", vmin=0, vmax=255)
            if box_labels.are_boxes(element["label"]):
                drawn_boxes.draw_labels(axes, element["label"], element["image"].shape, dataset.class_names)
                continue
            if element["label"].ndim:
                covered = np.ma.masked_equal(element["label"], 0)
                axes.imshow(covered, cmap="tab20", vmin=0, vmax=len(dataset.class_names), alpha=0.5)
            names = [dataset.class_names[label] for label in np.unique(element["label"])]
            axes.set_title(textwrap.fill(", ".join(names), width=16), fontsize=8)
        plots.save(figure, path, dpi=100)

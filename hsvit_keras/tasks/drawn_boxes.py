"""Pictures with the boxes of objects: what is right dashed, what a detector says in its class's colour."""

import numpy as np

from hsvit_keras.tasks.kept_detections import KEPT
from hsvit_runtime import box_labels


def draw(images, labels, detections, class_names):
    """A figure of images with the labels' boxes and the kept detections.

    Args:
        images: uint8 array (count, height, width, channels).
        labels: float array (count, boxes, 6).
        detections: `hsvit_keras.tasks.detections.Detections`.
        class_names: sequence of str.

    Returns:
        matplotlib Figure.
    """
    from matplotlib.figure import Figure

    columns = min(4, len(images))
    rows = -(-len(images) // columns)
    figure = Figure(figsize=(3 * columns, 3 * rows * images.shape[1] / images.shape[2]), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes in grid:
        axes.set_axis_off()
    for index, (axes, image) in enumerate(zip(grid, images, strict=False)):
        axes.imshow(image[..., 0] if image.shape[-1] == 1 else image, cmap="gray", vmin=0, vmax=255)
        draw_labels(axes, labels[index], image.shape)
        kept = detections.scores[index] >= KEPT
        for score, one, corners in zip(
            *(part[index][kept] for part in (detections.scores, detections.classes, detections.boxes)),
            strict=True,
        ):
            _rectangle(axes, corners, image.shape, _colour(one), "-")
            _name(axes, corners, image.shape, f"{class_names[one]} {score:.0%}", _colour(one))
    return figure


def draw_labels(axes, labels, shape, class_names=None):
    """Draws the boxes of an image's labels, with the names of their classes where they are given."""
    classes = box_labels.classes(labels)
    for one, (x, y, width, height) in zip(classes, box_labels.boxes(labels), strict=True):
        if one < 0:
            continue
        corners = x - width / 2, y - height / 2, x + width / 2, y + height / 2
        _rectangle(axes, corners, shape, "white" if class_names is None else _colour(one), "--")
        if class_names is not None:
            _name(axes, corners, shape, class_names[one], _colour(one))


def _rectangle(axes, corners, shape, colour, style):
    from matplotlib.patches import Rectangle

    left, top, right, bottom = np.multiply(corners, (shape[1], shape[0]) * 2) - 0.5
    axes.add_patch(
        Rectangle((left, top), right - left, bottom - top, fill=False, color=colour, linestyle=style)
    )


def _name(axes, corners, shape, text, colour):
    axes.text(
        *(corners[0] * shape[1], corners[1] * shape[0]),
        text,
        fontsize=7,
        color="black",
        va="bottom",
        clip_on=True,
        bbox={"facecolor": colour, "edgecolor": "none", "pad": 0.5, "alpha": 0.8},
    )


def _colour(one):
    from matplotlib import colormaps

    return colormaps["tab10"](int(one) % 10)

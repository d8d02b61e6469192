"""Labels of detection: the boxes of each image, padded to the number of the image that has most.

A label is a row of six numbers: the class, or -1 where there is no box; center x, center y, width and height
of the box as shares of the image; and 1 if it holds a crowd, as COCO marks groups that are not told apart.
"""

import numpy as np

COLUMNS = 6
_EMPTY = np.array([-1, 0, 0, 0, 0, 0], np.float32)


def padded(rows):
    """The labels of several images in one array.

    Args:
        rows: list of arrays (boxes of an image, 6); an image may have none.

    Returns:
        float32 array (images, most boxes, 6).
    """
    most = max((len(of_image) for of_image in rows), default=0)
    labels = np.tile(_EMPTY, (len(rows), max(1, most), 1))
    for label, of_image in zip(labels, rows, strict=True):
        label[: len(of_image)] = np.reshape(of_image, (-1, COLUMNS))
    return labels


def row(one, corners, size, is_crowd=False):
    """A box in pixels as a label, cut off at the edges of its image; None where nothing is left.

    Args:
        one: int, the class.
        corners: (left, top, right, bottom) in pixels.
        size: (width, height) of the image.
        is_crowd: bool.

    Returns:
        tuple of six numbers, or None.
    """
    x0, y0, x1, y1 = (
        min(max(place / side, 0), 1) for place, side in zip(corners, 2 * tuple(size), strict=True)
    )
    if x1 <= x0 or y1 <= y0:
        return None
    return one, (x0 + x1) / 2, (y0 + y1) / 2, x1 - x0, y1 - y0, float(is_crowd)


def are_boxes(labels):
    """Whether labels are boxes; classes of images and of pixels are integers."""
    return np.issubdtype(np.asarray(labels).dtype, np.floating)


def classes(labels):
    """The class of each box, -1 where there is none: int array (..., boxes)."""
    return labels[..., 0].astype(np.int64)


def boxes(labels):
    """Center x, center y, width, height: array (..., boxes, 4)."""
    return labels[..., 1:5]


def crowds(labels):
    """Whether a box holds a crowd: bool array (..., boxes)."""
    return labels[..., 5] > 0


def seen_in(labels, part):
    """The labels of a part of an image: boxes are cut off at its edges, and left out where nothing is left.

    Args:
        labels: float array (boxes, 6).
        part: (left, top, right, bottom) as shares of the whole image; it may reach beyond its edges.

    Returns:
        float32 array (boxes, 6), what is left of the boxes first.
    """
    if tuple(part) == (0, 0, 1, 1):
        return labels.astype(np.float32)
    start, size = np.array(part[:2]), np.array(part[2:]) - part[:2]
    centers, sides = labels[:, 1:3], labels[:, 3:5]
    low = np.clip((centers - sides / 2 - start) / size, 0, 1)
    high = np.clip((centers + sides / 2 - start) / size, 0, 1)
    is_left = (labels[:, 0] >= 0) & (high > low).all(-1)
    rows = np.concatenate([labels[:, :1], (low + high) / 2, high - low, labels[:, 5:]], axis=1)[is_left]
    seen = np.tile(_EMPTY, (len(labels), 1))
    seen[: len(rows)] = rows
    return seen

"""Boxes and how far they overlap: (center x, center y, width, height), or (left, top, right, bottom) corners.

Generalized IoU: https://arxiv.org/abs/1902.09630, algorithm 1.
"""

from keras import ops


def corners_of(boxes):
    """Boxes `(..., 4)` of centers and sides as corners `(..., 4)`."""
    center, size = boxes[..., :2], boxes[..., 2:]
    return ops.concatenate([center - size / 2, center + size / 2], axis=-1)


def iou(one, other):
    """Intersection over union.

    Args:
        one: Tensor of corners `(..., 4)`.
        other: Tensor of corners of a shape that broadcasts with it.

    Returns:
        Tensor `(...)` from 0 to 1; 0 where both boxes have no area.
    """
    intersection, union = _areas(one, other)
    return _ratio(intersection, union)


def generalized_iou(one, other):
    """IoU, less the share of the smallest enclosing box that is in neither box.

    Args:
        one: Tensor of corners `(..., 4)`.
        other: Tensor of corners of a shape that broadcasts with it.

    Returns:
        Tensor `(...)` from -1 to 1.
    """
    intersection, union = _areas(one, other)
    low, high = ops.minimum(one[..., :2], other[..., :2]), ops.maximum(one[..., 2:], other[..., 2:])
    enclosing = _area(low, high)
    return _ratio(intersection, union) - _ratio(enclosing - union, enclosing)


def _areas(one, other):
    """The areas of the intersection and of the union."""
    low, high = ops.maximum(one[..., :2], other[..., :2]), ops.minimum(one[..., 2:], other[..., 2:])
    intersection = _area(low, high)
    area = _area(one[..., :2], one[..., 2:]) + _area(other[..., :2], other[..., 2:])
    return intersection, area - intersection


def _area(low, high):
    sides = ops.maximum(high - low, 0.0)
    return sides[..., 0] * sides[..., 1]


def _ratio(part, whole):
    """A ratio whose gradient is finite where the whole is nothing."""
    is_there = whole > 0
    return ops.where(is_there, part / ops.where(is_there, whole, 1.0), 0.0)

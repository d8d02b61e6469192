"""From a detector's outputs to detections: the best scores of all queries and classes, with their boxes."""

import dataclasses

import keras
import numpy as np

from hsvit_keras.tasks.boxes import corners_of, iou
from hsvit_runtime.errors import InputError

# How many detections of an image COCO counts, and Deformable DETR gives.
MOST = 100
# Of dense detectors: what is looked at before suppression, and the overlap from which the lesser one goes.
_CANDIDATES = 400
# The outputs of a detector that gives its best detections itself.
BEST = ("location", "category", "score", "number of detections")
_OVERLAP = 0.6


@dataclasses.dataclass(frozen=True)
class Detections:
    """Detections of several images, the best first; what was suppressed has a score of 0.

    Attributes:
        scores: float array (count, detections).
        classes: int array (count, detections).
        boxes: float array (count, detections, 4), corners as shares of the image.
    """

    scores: np.ndarray
    classes: np.ndarray
    boxes: np.ndarray


def detections_of(outputs, suppresses=False):
    """The detections that outputs say.

    Args:
        outputs: dict of `logits` (count, queries, classes) and `boxes` (count, queries, 4) as center x,
            center y, width and height; or those of `hsvit_keras.layers.DetectionOutput`.
        suppresses: bool, whether of boxes of one class that overlap the best alone stays.

    Returns:
        `Detections`, at most `MOST` of each image.
    """
    if set(outputs) == set(BEST):
        top, left, bottom, right = np.moveaxis(np.asarray(outputs["location"], "float32"), -1, 0)
        corners = np.stack([left, top, right, bottom], -1)
        scores, classes = np.asarray(outputs["score"]), np.rint(outputs["category"]).astype("int64")
        return Detections(scores, classes, corners)
    logits, boxes = (np.asarray(outputs[name], "float32") for name in ("logits", "boxes"))
    count, _, classes = logits.shape
    chosen = _best(logits.reshape(count, -1), _candidates(suppresses))
    scores = 1 / (1 + np.exp(-np.take_along_axis(logits.reshape(count, -1), chosen, 1)))
    corners = np.asarray(corners_of(boxes))
    corners = np.take_along_axis(corners, (chosen // classes)[..., np.newaxis], 1)
    found = Detections(scores, chosen % classes, corners)
    return _suppressed(found) if suppresses else found


def form(names, suppresses=False):
    """What `detections_of` knows of the outputs of these names, in the fields of a bundle's `detection`."""
    given = set(names) == set(BEST)
    scores, boxes, classes = ("score", "location", "category") if given else ("logits", "boxes", None)
    return {
        "scores": scores,
        "boxes": boxes,
        "classes": classes,
        "box_format": "top_left_bottom_right" if given else "center_size",
        "suppression_iou": _OVERLAP if suppresses and not given else None,
        "candidates": _candidates(suppresses),
        "most": MOST,
    }


def _candidates(suppresses):
    return _CANDIDATES if suppresses else MOST


def check_names(outputs):
    """Raises `InputError` unless a dict of outputs, or their names, are a detector's."""
    if set(outputs) not in ({"logits", "boxes"}, set(BEST)):
        raise InputError(
            f"a detector's outputs are called boxes and logits; received {', '.join(outputs) or 'none'}"
        )


def _best(values, count):
    """The positions of the largest values of each row, in order: int array (rows, at most count)."""
    # NaN would be the largest.
    return np.argsort(-np.nan_to_num(values, nan=-np.inf), axis=1, kind="stable")[:, :count]


def _suppressed(found):
    """Greedy suppression by score, in each class by itself."""
    overlaps = keras.ops.convert_to_numpy(iou(found.boxes[:, :, np.newaxis], found.boxes[:, np.newaxis]))
    rivals = (overlaps > _OVERLAP) & (found.classes[:, :, np.newaxis] == found.classes[:, np.newaxis])
    stays = np.ones(found.scores.shape, bool)
    for place in range(found.scores.shape[1]):
        goes = rivals[:, place] & stays[:, place, np.newaxis]
        goes[:, : place + 1] = False
        stays &= ~goes
    scores = np.where(stays, found.scores, 0)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :MOST]
    return Detections(
        np.take_along_axis(scores, order, 1),
        np.take_along_axis(found.classes, order, 1),
        np.take_along_axis(found.boxes, order[..., np.newaxis], 1),
    )

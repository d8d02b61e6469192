"""Which detections are kept, to be shown or compared, and whether two models keep the same."""

import keras
import numpy as np

from hsvit_keras.tasks.boxes import iou

# A detection is kept from this score on; of so much beside it, which side it is on is left to rounding.
KEPT = 0.5
_NEAR = 0.05
# Detections of two models are the same if their class is, and their boxes overlap by this much.
_SAME_BOX = 0.75
# These in the fields of a bundle's `detection`.
RULE = {"score_threshold": KEPT, "score_margin": _NEAR, "same_box_iou": _SAME_BOX}


def kept_by_both(expected, found):
    """How many detections two models share, which are paired by class and overlap.

    Args:
        expected: `hsvit_keras.tasks.detections.Detections` of the original.
        found: `Detections` of the same images.

    Returns:
        Three ints: how many both keep; how many both keep, or only one of them where the original itself is
        near its threshold; how many either keeps.
    """
    counts = np.zeros(3, np.int64)
    for index in range(len(expected.scores)):
        ours, theirs = (_of_image(each, index) for each in (expected, found))
        counts += _shared(ours, theirs)
    return tuple(counts.tolist())


def _of_image(detections, index):
    """Scores, classes and boxes of what is kept in an image, or nearly."""
    near = detections.scores[index] >= KEPT - _NEAR
    return tuple(part[index][near] for part in (detections.scores, detections.classes, detections.boxes))


def _shared(ours, theirs):
    scores, others = ours[0], theirs[0]
    pairs = _pairs(ours, theirs)
    partner = {there: here for here, there in pairs}
    both = sum(scores[here] >= KEPT and others[there] >= KEPT for here, there in pairs)
    paired = {here for here, there in pairs if others[there] >= KEPT}
    lost = [score for here, score in enumerate(scores) if score >= KEPT and here not in paired]
    new = [there for there, score in enumerate(others) if score >= KEPT]
    new = [there for there in new if there not in partner or scores[partner[there]] < KEPT]
    alike = both + sum(score < KEPT + _NEAR for score in lost) + sum(there in partner for there in new)
    return np.array([both, alike, both + len(lost) + len(new)])


def _pairs(ours, theirs):
    """Pairs of places, the boxes that overlap most first, each once."""
    (_, classes, boxes), (_, other_classes, other_boxes) = ours, theirs
    if not len(boxes) or not len(other_boxes):
        return []
    overlaps = keras.ops.convert_to_numpy(iou(boxes[:, np.newaxis], other_boxes[np.newaxis]))
    overlaps = np.where(classes[:, np.newaxis] == other_classes, overlaps, 0)
    pairs = []
    while (place := np.unravel_index(overlaps.argmax(), overlaps.shape)) and overlaps[place] >= _SAME_BOX:
        pairs.append(tuple(map(int, place)))
        overlaps[place[0]], overlaps[:, place[1]] = 0, 0
    return pairs

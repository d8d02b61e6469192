"""Average precision as COCO defines it, by pycocotools.

The mean over classes, and over IoU thresholds of 0.50 to 0.95 for "ap". IoU does not change if images are
stretched, so that boxes as shares of the image serve; COCO's small and large objects are not told apart.
"""

import contextlib
import io

import numpy as np

from hsvit_runtime import box_labels
from hsvit_runtime.errors import MissingPackageError

# What COCO calls AP, AP50 and AP75, and which of its ten thresholds of IoU each is the mean of.
NAMES = {"ap": slice(0, 10), "ap50": slice(0, 1), "ap75": slice(5, 6)}
# The side of all images, for pycocotools, which asks for the sizes of objects.
_SIDE = 1000.0


def average_precision(detections, labels, num_classes):
    """How good detections are.

    Args:
        detections: `hsvit_keras.tasks.detections.Detections`.
        labels: float array (count, boxes, 6), see `hsvit_runtime.box_labels`.
        num_classes: int.

    Returns:
        dict from the names of `NAMES` to floats; 0 where there is no box at all.
    """
    coco_class, evaluation_class = _pycocotools()
    truth = coco_class()
    truth.dataset = {
        "images": [{"id": index} for index in range(len(labels))],
        "categories": [{"id": index} for index in range(num_classes)],
        "annotations": _annotations(labels),
    }
    found = [
        {"image_id": index, "category_id": int(one), "score": float(score), "bbox": _bbox(*corners)}
        for index in range(len(labels))
        for score, one, corners in zip(
            detections.scores[index], detections.classes[index], detections.boxes[index], strict=True
        )
        if score > 0
    ]
    if not found:
        return dict.fromkeys(NAMES, 0.0)
    with contextlib.redirect_stdout(io.StringIO()):  # it tells what it does
        truth.createIndex()
        evaluation = evaluation_class(truth, truth.loadRes(found), "bbox")
        # Of the sizes of objects, all.
        evaluation.params.areaRng, evaluation.params.areaRngLbl = [[0, 1e12]], ["all"]
        evaluation.evaluate()
        evaluation.accumulate()
    return _summary(evaluation.eval["precision"])


def _summary(precision):
    """The means of the precisions (thresholds, recalls, classes, 1, limits) where there is a box to find."""
    found = {}
    for name, thresholds in NAMES.items():
        chosen = precision[thresholds][..., -1]
        found[name] = float(chosen[chosen > -1].mean()) if (chosen > -1).any() else 0.0
    return found


def _annotations(labels):
    """The boxes as pycocotools takes them."""
    classes, crowds, boxes = (
        part(labels) for part in (box_labels.classes, box_labels.crowds, box_labels.boxes)
    )
    annotations = []
    for index, place in zip(*np.nonzero(classes >= 0), strict=True):
        x, y, width, height = boxes[index, place]
        bbox = _bbox(x - width / 2, y - height / 2, x + width / 2, y + height / 2)
        annotations.append(
            {
                "id": len(annotations) + 1,  # 0 would stand for no match
                "image_id": int(index),
                "category_id": int(classes[index, place]),
                "bbox": bbox,
                "area": bbox[2] * bbox[3],
                "iscrowd": int(crowds[index, place]),
            }
        )
    return annotations


def _bbox(left, top, right, bottom):
    return [_SIDE * float(number) for number in (left, top, right - left, bottom - top)]


def _pycocotools():
    try:
        from pycocotools.coco import COCO
        from pycocotools.cocoeval import COCOeval
    except ImportError as error:
        raise MissingPackageError("average precision needs: pip install pycocotools") from error
    return COCO, COCOeval

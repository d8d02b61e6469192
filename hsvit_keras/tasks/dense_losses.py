"""The losses of YOLOv8 and RetinaNet as keras-cv has them, on decoded boxes.

Who learns which box is decided by keras-cv's label encoders. Crowds are left out.
"""

import keras
import numpy as np
from keras import ops

from hsvit_keras.layers.anchor_boxes import AnchorBoxes
from hsvit_keras.layers.distribution_boxes import DistributionBoxes
from hsvit_keras.tasks.boxes import corners_of


def dense_loss_of(model):
    """The loss of a detector, by the layer that decodes its boxes; None where it has no such layer.

    Args:
        model: `keras.Model`.
    """
    for layer in model.layers:
        if isinstance(layer, DistributionBoxes):
            return YOLOV8Loss(layer)
        if isinstance(layer, AnchorBoxes):
            return RetinaNetLoss(layer)
    return None


class _DenseLoss(keras.losses.Loss):
    """A loss of labels `(batch, boxes, 6)` and predictions `(batch, 1, places, classes + 4)`."""

    def __init__(self, layer):
        super().__init__(name="dense_loss")
        self._layer = layer
        self._size = np.array(layer.image_shape[::-1] * 2, "float32")

    def call(self, y_true, y_pred):
        logits, boxes = y_pred[:, 0, :, :-4], y_pred[:, 0, :, -4:]
        is_box = ops.logical_and(y_true[..., 0] >= 0, y_true[..., 5] == 0)
        # Padding as keras-cv has it.
        wanted = ops.where(is_box[..., None], corners_of(y_true[..., 1:5]) * self._size, -1.0)
        classes = ops.where(is_box, y_true[..., 0], -1.0)
        return self._loss(classes, wanted, is_box, logits, boxes)


class YOLOV8Loss(_DenseLoss):
    """Complete IoU of the boxes, cross-entropy of the classes, with the weights of keras-cv.

    Args:
        layer: `DistributionBoxes` of the detector.
    """

    _BOX_WEIGHT, _CLASS_WEIGHT = 7.5, 0.5

    def _loss(self, classes, wanted, is_box, logits, boxes):
        import keras_cv
        from keras_cv.src.models.object_detection.yolo_v8.yolo_v8_label_encoder import YOLOV8LabelEncoder

        places, strides = self._layer.places()
        scores, boxes = ops.sigmoid(logits), corners_of(boxes) * self._size
        encode = YOLOV8LabelEncoder(num_classes=logits.shape[-1])
        targets, target_scores, is_found = map(
            ops.stop_gradient,
            encode(
                ops.stop_gradient(scores),
                ops.stop_gradient(boxes),
                ops.convert_to_tensor(places),
                classes,
                wanted,
                is_box[..., None],
            ),
        )
        is_found = ops.cast(is_found, boxes.dtype)
        normalizer = ops.maximum(ops.sum(target_scores), 1.0)
        weights = ops.sum(target_scores, axis=-1) * is_found
        overlap = keras_cv.losses.CIoULoss(bounding_box_format="xyxy", reduction="none")
        apart = overlap(targets / strides * is_found[..., None], boxes / strides * is_found[..., None])
        apart = ops.reshape(apart, ops.shape(weights))
        crossentropy = ops.mean(ops.softplus(logits) - logits * target_scores)
        count = ops.cast(ops.shape(logits)[0] * ops.shape(logits)[1], boxes.dtype)
        loss = self._BOX_WEIGHT * ops.sum(apart * weights) + self._CLASS_WEIGHT * crossentropy * count
        return loss / normalizer


class RetinaNetLoss(_DenseLoss):
    """Smooth L1 of the boxes' differences from anchors, focal loss of the classes, as keras-cv has them.

    Args:
        layer: `AnchorBoxes` of the detector.
    """

    def __init__(self, layer):
        super().__init__(layer)
        from keras_cv.src.models.object_detection.retinanet.retinanet_label_encoder import (
            RetinaNetLabelEncoder,
        )

        self._encoder = RetinaNetLabelEncoder(bounding_box_format="xyxy", anchor_generator=None)

    def _loss(self, classes, wanted, is_box, logits, boxes):
        import keras_cv

        anchors = corners_of(ops.convert_to_tensor(self._layer.anchors)) * self._size
        labels = {"boxes": wanted, "classes": classes[..., None]}
        encoded = self._encoder._encode_sample(labels, anchors, (*self._layer.image_shape, 3))
        targets = ops.reshape(encoded["boxes"], (-1, *boxes.shape[1:]))
        chosen = encoded["classes"]
        is_found = ops.cast(chosen > -1.0, boxes.dtype)
        counts = ops.cast(chosen != -2.0, boxes.dtype)
        normalizer = ops.maximum(ops.sum(is_found), 1.0)
        wanted = ops.one_hot(ops.cast(chosen, "int32"), logits.shape[-1], dtype=boxes.dtype)
        of_class = keras_cv.losses.FocalLoss(from_logits=True, reduction="none")(wanted, logits)
        of_boxes = keras_cv.losses.SmoothL1Loss(l1_cutoff=1.0, reduction="none")(
            targets, self._layer.differences(boxes)
        )
        has_boxes = ops.cast(ops.sum(is_found) > 0, boxes.dtype)
        return has_boxes * (ops.sum(of_class * counts) + ops.sum(of_boxes * is_found)) / normalizer

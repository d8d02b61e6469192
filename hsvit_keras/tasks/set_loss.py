"""The loss of a detector that predicts a set: focal loss of the classes, L1 and generalized IoU of the boxes.

Deformable DETR (https://arxiv.org/abs/2010.04159, appendix A.4) and its program: the predictions of each
decoder layer are assigned to the boxes by themselves, and the losses of all layers added (auxiliary losses).
Focal loss: https://arxiv.org/abs/1708.02002, equation 5.
"""

import keras
from keras import ops

from hsvit_keras.tasks.boxes import corners_of, generalized_iou
from hsvit_keras.tasks.matching import matched

_LEAST = 1e-8  # of a probability whose logarithm is a cost


@keras.saving.register_keras_serializable("hsvit_keras")
class SetLoss(keras.losses.Loss):
    """The loss of predictions, each assigned to one box or to none, for each box of the batch.

    Crowds are left out: they are no single objects.

    Args:
        class_weight, box_weight, iou_weight: float, weights of focal loss, L1 and generalized IoU, in the
            assignment and in the loss.
        alpha, gamma: float, of the focal loss.
        name: str.

    Call arguments:
        y_true: float Tensor of labels `(batch, boxes, 6)`, see `hsvit_runtime.box_labels`.
        y_pred: float Tensor `(batch, layers, queries, classes + 4)`: logits, then boxes as center x, center
            y, width and height.

    Returns:
        float Tensor `()`.
    """

    def __init__(
        self,
        class_weight=2.0,
        box_weight=5.0,
        iou_weight=2.0,
        alpha=0.25,
        gamma=2.0,
        name="set_loss",
        **kwargs,
    ):
        super().__init__(name=name, **kwargs)
        self.class_weight, self.box_weight, self.iou_weight = class_weight, box_weight, iou_weight
        self.alpha, self.gamma = alpha, gamma

    def call(self, y_true, y_pred):
        parts = self.parts(y_true, y_pred)
        weights = {"class": self.class_weight, "box": self.box_weight, "iou": self.iou_weight}
        return sum(weight * ops.sum(parts[name]) for name, weight in weights.items())

    def parts(self, y_true, y_pred):
        """The losses without their weights: dict from "class", "box" and "iou" to Tensors `(layers,)`."""
        logits, boxes = y_pred[..., :-4], y_pred[..., -4:]
        is_box = ops.logical_and(y_true[..., 0] >= 0, y_true[..., 5] == 0)
        num_boxes = ops.maximum(ops.sum(ops.cast(is_box, y_pred.dtype)), 1.0)
        classes = ops.one_hot(ops.cast(y_true[..., 0], "int32"), logits.shape[-1], dtype=y_pred.dtype)
        classes, wanted = classes[:, None], y_true[:, None, :, 1:5]
        is_box = ops.broadcast_to(is_box[:, None], (*ops.shape(logits)[:2], ops.shape(y_true)[1]))
        costs = ops.stop_gradient(self._costs(logits, boxes, classes, wanted))
        queries = matched(costs, is_box)
        # (batch, layers, boxes, queries): 1 where a query is assigned to a box.
        assigned = ops.one_hot(queries, logits.shape[-2], dtype=y_pred.dtype)
        is_assigned = ops.cast(queries >= 0, y_pred.dtype)
        found = ops.matmul(assigned, boxes)
        targets = ops.matmul(ops.swapaxes(assigned, -1, -2), classes)
        distance = ops.sum(ops.abs(found - wanted), axis=-1)
        apart = 1 - generalized_iou(corners_of(found), corners_of(wanted))
        return {
            "class": ops.sum(self._focal(logits, targets), axis=(0, 2, 3)) / num_boxes,
            "box": ops.sum(distance * is_assigned, axis=(0, 2)) / num_boxes,
            "iou": ops.sum(apart * is_assigned, axis=(0, 2)) / num_boxes,
        }

    def _costs(self, logits, boxes, classes, wanted):
        """What it costs to assign a query to a box: Tensor `(batch, layers, queries, boxes)`."""
        chances = ops.sigmoid(logits)
        if_not = (1 - self.alpha) * chances**self.gamma * -ops.log(1 - chances + _LEAST)
        if_so = self.alpha * (1 - chances) ** self.gamma * -ops.log(chances + _LEAST)
        of_class = ops.matmul(if_so - if_not, ops.swapaxes(classes, -1, -2))
        boxes, wanted = boxes[:, :, :, None], wanted[:, :, None]
        distance = ops.sum(ops.abs(boxes - wanted), axis=-1)
        overlap = generalized_iou(corners_of(boxes), corners_of(wanted))
        return self.class_weight * of_class + self.box_weight * distance - self.iou_weight * overlap

    def _focal(self, logits, targets):
        """The focal loss of each logit."""
        crossentropy = ops.softplus(logits) - logits * targets
        chances = ops.sigmoid(logits)
        wrong = chances * (1 - targets) + (1 - chances) * targets
        balance = self.alpha * targets + (1 - self.alpha) * (1 - targets)
        return balance * wrong**self.gamma * crossentropy

    def get_config(self):
        names = ("class_weight", "box_weight", "iou_weight", "alpha", "gamma")
        return {**super().get_config(), **{name: getattr(self, name) for name in names}}

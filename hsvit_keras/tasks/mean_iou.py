"""Mean intersection over union as a streaming Keras metric."""

import keras
from keras import ops


@keras.saving.register_keras_serializable("hsvit_keras")
class MeanIoU(keras.metrics.Metric):
    """The mean over the classes that occur of intersection over union.

    `keras.metrics.MeanIoU` asks for 64-bit integers, of which JAX warns in each run.

    Args:
        num_classes: int.
        name: str.

    Call arguments:
        y_true: int Tensor of classes `(batch, height, width)`.
        y_pred: Tensor of logits `(batch, height, width, classes)`.
    """

    def __init__(self, num_classes, name="mean_iou", **kwargs):
        super().__init__(name=name, **kwargs)
        self.num_classes = num_classes
        shape = (num_classes, num_classes)
        self.confusion = self.add_variable(shape=shape, initializer="zeros", name="confusion")

    def update_state(self, y_true, y_pred, sample_weight=None):
        labels, predicted = (
            ops.one_hot(ops.reshape(ops.cast(classes, "int32"), (-1,)), self.num_classes, dtype="float32")
            for classes in (y_true, ops.argmax(y_pred, axis=-1))
        )
        self.confusion.assign_add(ops.matmul(ops.transpose(labels), predicted))

    def result(self):
        confusion = ops.convert_to_tensor(self.confusion)
        both = ops.diagonal(confusion)
        either = ops.sum(confusion, axis=0) + ops.sum(confusion, axis=1) - both
        occurs = ops.cast(either > 0, "float32")
        shares = both / ops.maximum(either, 1.0)
        return ops.sum(shares * occurs) / ops.maximum(ops.sum(occurs), 1.0)

    def reset_state(self):
        self.confusion.assign(ops.zeros((self.num_classes, self.num_classes)))

    def get_config(self):
        return {**super().get_config(), "num_classes": self.num_classes}

"""Cross-entropy in which classes weigh differently, for data sets whose classes differ in size."""

import keras
from keras import ops


@keras.saving.register_keras_serializable("hsvit_keras")
class WeightedCrossentropy(keras.losses.Loss):
    """`-sum(weight * target * log(softmax(logits)))` over the classes, averaged over the batch.

    As PyTorch's `CrossEntropyLoss(weight=...)` has it for targets that are probabilities. Keras' own
    cross-entropy takes no such weights, and on TensorFlow it is no gradient of targets that sum to another
    number than 1.

    Args:
        weights: sequence of float, one for each class.
        label_smoothing: float in [0, 1), the share of a target that is spread over all classes before it is
            weighted.

    Call arguments:
        y_true: Tensor `(batch, classes)`.
        y_pred: Tensor `(batch, classes)`, logits.
    """

    def __init__(self, weights, label_smoothing=0.0, name="weighted_crossentropy", **kwargs):
        super().__init__(name=name, **kwargs)
        self.weights = [float(weight) for weight in weights]
        self.label_smoothing = label_smoothing

    def call(self, y_true, y_pred):
        targets = ops.cast(y_true, "float32")
        targets = targets * (1 - self.label_smoothing) + self.label_smoothing / len(self.weights)
        logs = ops.log_softmax(ops.cast(y_pred, "float32"))
        return -ops.sum(ops.array(self.weights, "float32") * targets * logs, axis=-1)

    def get_config(self):
        config = {"weights": self.weights, "label_smoothing": self.label_smoothing}
        return {**super().get_config(), **config}

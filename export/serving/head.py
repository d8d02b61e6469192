"""The head of a model in shards: the mean of the class tokens that arrived becomes logits."""

import numpy as np

from hsvit_runtime.tflite_model import TFLiteModel


class Head:
    """The head of a model in shards, in LiteRT.

    Args:
        content: bytes of a `.tflite` file from the mean token (1, 1, dim) to logits (1, classes).
    """

    def __init__(self, content):
        self._model = TFLiteModel(content)

    def __call__(self, tokens):
        """Logits, float32 (classes,), of the class tokens (any number of groups, dim) in any order."""
        mean = np.mean(tokens, axis=0, dtype="float32")
        return self._model.predict_only(mean[np.newaxis, np.newaxis])[0]


def softmax(logits):
    """Probabilities, float64 (classes,), of logits (classes,)."""
    powers = np.exp(logits.astype("float64") - logits.max())
    return powers / powers.sum()

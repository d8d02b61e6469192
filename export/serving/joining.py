"""From the class tokens that arrived to probabilities: their mean goes through the head."""

import numpy as np

from export import tflite


class Head:
    """The head of a model in shards, in LiteRT.

    Args:
        content: bytes of a `.tflite` file from the mean token (1, 1, dim) to logits (1, classes).
    """

    def __init__(self, content):
        self._runner = tflite.runner(content)

    def __call__(self, tokens):
        """Logits, float32 (classes,), of the class tokens (any number of groups, dim) in any order."""
        return self._runner(np.mean(tokens, axis=0, dtype="float32")[np.newaxis, np.newaxis])[0]


def probabilities(logits):
    """The softmax of logits (classes,)."""
    powers = np.exp(logits.astype("float64") - logits.max())
    return powers / powers.sum()

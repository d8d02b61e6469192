"""The loss in which classes weigh differently, against its formula in NumPy."""

import keras
import numpy as np
import pytest

from hsvit_keras.tasks import task_named
from hsvit_runtime.errors import InputError

WEIGHTS = (0.5, 1.0, 2.5)
TARGETS = np.float32([[0, 0, 1], [0.3, 0.7, 0]])  # one of them mixed, as by MixUp
LOGITS = np.float32([[1, -1, 0.5], [2, 0, -3]])


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_losses_and_gradients(smoothing):
    """PyTorch's CrossEntropyLoss(weight, label_smoothing) of targets that are probabilities."""
    loss = task_named("classification").loss(smoothing, WEIGHTS)
    loss = type(loss).from_config(loss.get_config())
    targets = TARGETS * (1 - smoothing) + smoothing / 3
    softmax = np.exp(LOGITS) / np.exp(LOGITS).sum(1, keepdims=True)
    expected = -(np.array(WEIGHTS) * targets * np.log(softmax)).sum(1).mean()
    assert float(loss(TARGETS, LOGITS)) == pytest.approx(expected, rel=1e-5)

    # Of a layer that adds a bias to the logits: one step along the gradient.
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(3, kernel_initializer="identity")])
    model.compile(keras.optimizers.SGD(1.0), loss=loss)
    model.fit(LOGITS, TARGETS, batch_size=2, epochs=1, verbose=0)
    weighted = np.array(WEIGHTS) * targets
    gradient = (softmax * weighted.sum(1, keepdims=True) - weighted).mean(0)
    np.testing.assert_allclose(model.get_weights()[1], -gradient, rtol=1e-4, atol=1e-6)


def test_weights_of_one_are_the_plain_loss():
    weighted, plain = (task_named("classification").loss(0.1, weights) for weights in ((1, 1, 1), None))
    assert float(weighted(TARGETS, LOGITS)) == pytest.approx(float(plain(TARGETS, LOGITS)), rel=1e-6)


def test_masks_are_not_weighted():
    with pytest.raises(InputError, match="class_weights has to be None"):
        task_named("segmentation").loss(0.0, WEIGHTS)

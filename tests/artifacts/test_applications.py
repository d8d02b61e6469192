"""Models of keras.applications in the full depth of their papers, at 8 bits, as users hand them in."""

import keras
import numpy as np
import pytest

import hsvit_keras

if keras.backend.backend() != "tensorflow":
    pytest.skip("conversion needs the TensorFlow backend", allow_module_level=True)

from export.quantizers.quantizers import quantizers
from tests.artifacts.running import outputs_of
from tests.parameters import exhaustive_but

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]

# Of a model: how many ops are float, beside the softmax, and why.
APPLICATIONS = {
    "MobileNetV2": (keras.applications.MobileNetV2, 0),
    "DenseNet121": (keras.applications.DenseNet121, 0),
    # Averages of windows that reach beyond the edge, for which XNNPACK has no integer kernel.
    "InceptionV3": (keras.applications.InceptionV3, 9),
}


@pytest.mark.parametrize("name", exhaustive_but(["MobileNetV2"], APPLICATIONS))
def test_int8(name, tmp_path):
    """All is of integers, in one piece, and at least as near to the model as TFLiteConverter's artifact.

    Random weights round badly, so nearness alone says little.
    """
    make, float_ops = APPLICATIONS[name]
    keras.utils.set_random_seed(0)
    model = make(input_shape=(96, 96, 3), weights=None, classes=10)
    blocks = np.random.default_rng(0).uniform(0, 1, (32, 12, 12, 3)).astype("float32")
    images = blocks.repeat(8, 1).repeat(8, 2)
    settle(model, images)
    path, options = tmp_path / "model.tflite", {"samples": images[:16], "allow_loss": True}
    report = hsvit_keras.to_tflite(model, path, preset="int8", calibration=[images], **options)
    assert report["partitions"] == 1 and not report["undelegated_ops"]
    assert report["ops"].get("AVERAGE_POOL_2D", 0) == float_ops
    assert report["ops"]["DEQUANTIZE"] == float_ops + 1
    expected = np.asarray(model(images[:16], training=False))
    stock = quantizers()["TFLiteConverter"](model, images)
    errors = [
        np.abs(outputs_of(content, images[:16]) - expected).mean() for content in (path.read_bytes(), stock)
    ]
    assert errors[0] < 1.1 * errors[1]


def settle(model, images):
    """Sets the statistics of batch normalization to those of the images, as training does."""
    for layer in model.layers:
        if isinstance(layer, keras.layers.BatchNormalization):
            layer.momentum = 0.0
    for _ in range(2):
        model(images, training=True)

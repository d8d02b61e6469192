"""Models of keras.applications in the full depth of their papers, at 8 bits, as users hand them in."""

import keras
import numpy as np
import pytest

import hsvit_keras

if keras.backend.backend() != "tensorflow":
    pytest.skip("conversion needs the TensorFlow backend", allow_module_level=True)

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]

# Of a model: its function, its arguments, and ops that may be float in the artifact.
APPLICATIONS = {
    "MobileNetV2": (keras.applications.MobileNetV2, {}, {"SOFTMAX"}),
    "DenseNet121": (keras.applications.DenseNet121, {}, {"SOFTMAX"}),
    # Averages of windows that reach beyond the edge have no integer kernel in XNNPACK.
    "InceptionV3": (keras.applications.InceptionV3, {}, {"SOFTMAX", "AVERAGE_POOL_2D"}),
    "EfficientNetB0": (keras.applications.EfficientNetB0, {}, {"SOFTMAX"}),
    "ResNet50V2": (keras.applications.ResNet50V2, {}, {"SOFTMAX"}),
}


@pytest.mark.parametrize("name", APPLICATIONS)
def test_int8(name, tmp_path):
    """Random weights grown so that classes differ; only the ops named above are float."""
    make, arguments, float_ops = APPLICATIONS[name]
    keras.utils.set_random_seed(0)
    model = make(input_shape=(96, 96, 3), weights=None, classes=10, **arguments)
    images = (
        np.random.default_rng(0).uniform(0, 1, (32, 12, 12, 3)).repeat(8, 1).repeat(8, 2).astype("float32")
    )
    settle(model, images)
    report = hsvit_keras.to_tflite(
        model, tmp_path / "model.tflite", preset="int8", calibration=[images], samples=images[:16]
    )
    assert report["partitions"] == 1 and not report["undelegated_ops"]
    assert report["parity_with_original"]["cosine"] > 0.99
    changes = report["ops"]["DEQUANTIZE"] - 1 - report["ops"].get("AVERAGE_POOL_2D", 0)
    assert changes <= 1  # in front of the softmax
    assert float_ops  # named for the reader


def settle(model, images):
    """Sets the statistics of batch normalization to those of the images, as training does."""
    for layer in model.layers:
        if isinstance(layer, keras.layers.BatchNormalization):
            layer.momentum = 0.0
    for _ in range(2):
        model(images, training=True)

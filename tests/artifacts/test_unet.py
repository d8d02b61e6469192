"""U-Net as artifacts: accelerated whole, and with the outputs of Keras."""

import keras
import numpy as np
import pytest

if keras.backend.backend() != "tensorflow":
    pytest.skip("conversion needs the TensorFlow backend", allow_module_level=True)

import hsvit_keras
from hsvit_keras.artifacts import tflite_conversion
from hsvit_keras.artifacts.lowering import lower
from hsvit_runtime import inspection
from hsvit_runtime.tflite_model import TFLiteModel
from tests.models import small
from tests.parameters import slow_but

pytestmark = pytest.mark.tensorflow

RNG = np.random.default_rng(0)
IMAGES = RNG.uniform(0, 255, (8, 32, 32, 1)).round().astype("float32")


@pytest.fixture(scope="module")
def model():
    """`unet_tiny` of pixels, with statistics of batch normalization as a trained model has them."""
    unet = hsvit_keras.create_model("unet_tiny", mean=0.5, std=0.25)
    for layer in unet.layers:
        if isinstance(layer, keras.layers.BatchNormalization):
            gain, offset, mean, variance = (RNG.uniform(0.5, 1.5, w.shape) for w in layer.get_weights())
            layer.set_weights([gain, offset - 1, mean - 1, variance])
    return unet


@pytest.mark.parametrize("preset", slow_but(["int8"], ["float32", "int8"]))
def test_artifact(model, preset):
    model = hsvit_keras.calibrate(model, [IMAGES]) if preset == "int8" else model
    content = tflite_conversion.convert(lower(model), preset)
    found = inspection.inspect(content)
    assert (found["partitions"], found["fully_delegated"], found["undelegated_ops"]) == (1, True, [])
    artifact = TFLiteModel(content)
    (given,) = artifact.inputs
    outputs = [next(iter(artifact.predict({given.name: image[None]}).values())) for image in IMAGES]
    outputs, expected = np.concatenate(outputs), np.asarray(model(IMAGES, training=False))
    assert outputs.shape == (8, 32, 32, 11)
    if preset == "float32":
        np.testing.assert_allclose(outputs, expected, atol=2e-5)
    cosine = np.sum(outputs * expected) / np.linalg.norm(outputs) / np.linalg.norm(expected)
    assert cosine >= 0.999


def test_features_keep_their_names_when_lowered():
    backbone = small.small_model("unet_tiny", head=None, mean=0.5, std=0.25)
    images = RNG.uniform(0, 255, (2, 16, 16, 3)).astype("float32")
    expected, found = backbone(images, training=False), lower(backbone, batch_size=2)(images, training=False)
    assert found.keys() == expected.keys()
    for name in expected:
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-4, atol=1e-5)

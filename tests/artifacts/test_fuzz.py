"""Random models of Keras' layers as TFLite files: what Keras computes, or one line that says why not."""

import keras
import numpy as np
import pytest

import hsvit_keras

if keras.backend.backend() != "tensorflow":
    pytest.skip("conversion needs the TensorFlow backend", allow_module_level=True)

from hsvit_keras.artifacts.keras_model import predict
from hsvit_keras.compression.model_inputs import input_name
from hsvit_runtime.errors import InputError
from hsvit_runtime.tflite_model import TFLiteModel
from tests.compression.random_graphs import random_model
from tests.parameters import exhaustive_but, slow_but

pytestmark = [
    pytest.mark.tensorflow,
    pytest.mark.filterwarnings("ignore:the scheme has no entry"),
]
FAST, SLOW = (6,), 40  # 6 calls a layer twice
# Of two outputs that are one tensor, the converter keeps one.
REFUSED = {5: "two models with the outputs a, b, c and a, c cannot be compared"}

# They normalize channels that are nearly constant, which blows up what differs by a step of rounding.
UNSTABLE = (14,)


def pictures(model, seed, count=64):
    """Noise around a color of each picture, so that outputs differ between pictures."""
    rng, shape = np.random.default_rng(seed), model.input_shape[1:]
    colors = rng.normal(0, 2, (count, 1, 1, shape[-1]))
    return (colors + rng.normal(size=(count, *shape))).astype("float32")


@pytest.mark.parametrize("preset", slow_but(["float32"], ["float32", "int8"]))
@pytest.mark.parametrize("seed", exhaustive_but(FAST, range(SLOW)))
def test_tflite(seed, preset, tmp_path):
    """At int8, the ranges of random models may lose much, but Keras has to compute the same with them."""
    model, path = random_model(seed), tmp_path / "m.tflite"
    images = pictures(model, seed)
    options = {"calibration": [images], "allow_loss": True} if preset == "int8" else {}

    def convert():
        return hsvit_keras.to_tflite(
            model, path, preset=preset, samples=images, probabilities=False, **options
        )

    if seed in REFUSED:
        with pytest.raises(InputError, match=REFUSED[seed]):
            convert()
        assert not path.exists()
        return
    report = convert()
    assert report["flex_ops"] == report["custom_ops"] == []
    if preset == "float32":
        assert_computes(path, model, pictures(model, seed + 1, 3))
    else:
        assert report["parity"]["cosine"] > 0.999
        assert report["parity"]["alike"] >= 0.9 or seed in UNSTABLE


def assert_computes(path, model, images):
    """Whether the file computes what the model does, on other inputs than it was compared on."""
    inputs = {input_name(model.inputs[0]): images}
    found, expected = TFLiteModel(str(path)).predict(inputs), predict(model, inputs)
    if len(expected) == 1:  # whatever it is called
        found, expected = ({"output": next(iter(outputs.values()))} for outputs in (found, expected))
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=0, atol=1e-4 * np.abs(values).max())

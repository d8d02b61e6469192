"""Random models of Keras' layers as TFLite files: what Keras computes, or one line that says why not."""

import keras
import numpy as np
import pytest

import hsvit_keras

if keras.backend.backend() != "tensorflow":
    pytest.skip("conversion needs the TensorFlow backend", allow_module_level=True)

from hsvit_keras.artifacts.keras_model import predict
from hsvit_keras.compression.equality import random_inputs
from hsvit_keras.compression.model_inputs import input_name
from hsvit_runtime.errors import InputError
from hsvit_runtime.tflite_model import TFLiteModel
from tests.compression.random_graphs import random_model

pytestmark = [
    pytest.mark.tensorflow,
    pytest.mark.filterwarnings("ignore:the scheme has no entry"),
]

FAST, SLOW = (6,), 60  # 6 calls a layer twice between two ranges


@pytest.mark.parametrize("preset", ["float32", "int8"])
@pytest.mark.parametrize(
    "seed", [seed if seed in FAST else pytest.param(seed, marks=pytest.mark.slow) for seed in range(SLOW)]
)
def test_tflite(seed, preset, tmp_path):
    model = random_model(seed)
    inputs = random_inputs(model, 4)
    calibration = [inputs] if preset == "int8" else None
    try:
        report = hsvit_keras.to_tflite(
            model,
            tmp_path / "m.tflite",
            preset=preset,
            calibration=calibration,
            samples=inputs,
            probabilities=False,
        )
    except InputError as refusal:
        assert "\n" not in str(refusal)
        assert not (tmp_path / "m.tflite").exists()
        return
    assert report["flex_ops"] == report["custom_ops"] == []
    if preset == "float32":
        assert_computes(tmp_path / "m.tflite", model)


def assert_computes(path, model):
    """Whether the file computes what the model does, on other inputs than it was compared on."""
    images = np.random.default_rng(1).normal(size=(3, *model.input_shape[1:])).astype("float32")
    inputs = {input_name(model.inputs[0]): images}
    found, expected = TFLiteModel(str(path)).predict(inputs), predict(model, inputs)
    if len(expected) == 1:  # whose name in the file says what it is
        found = dict(zip(expected, found.values(), strict=True))
    for name, wanted in expected.items():
        np.testing.assert_allclose(found[name], wanted, rtol=0, atol=1e-4 * np.abs(wanted).max())

"""`open_model`: Keras models and artifacts behind one interface, which say what they are for."""

import keras
import numpy as np
import pytest

import hsvit_keras

if keras.backend.backend() != "tensorflow":
    pytest.skip("conversion needs the TensorFlow backend", allow_module_level=True)

from hsvit_keras.artifacts.keras_model import KerasModel
from hsvit_runtime.description import Description
from hsvit_runtime.errors import InputError, MissingFileError
from tests.artifacts.conftest import DIGITS

pytestmark = pytest.mark.tensorflow
KINDS = ("keras", "tflite", "onnx")


@pytest.fixture(scope="module")
def folder(classifier, tmp_path_factory):
    """One model of pixels as `model.keras`, `model.tflite` and `model.onnx`, all with logits."""
    folder = tmp_path_factory.mktemp("one model")
    classifier.save(folder / "model.keras")
    hsvit_keras.to_tflite(classifier, folder / "model.tflite", preset="float32", probabilities=False)
    hsvit_keras.to_onnx(classifier, folder / "model.onnx")
    return folder


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_says_what_it_is_for(folder, kind):
    assert hsvit_keras.open_model(folder / f"model.{kind}").description == Description(
        task="classification", class_names=DIGITS, data_set="digits", input_range=(0, 255)
    )


@pytest.mark.parametrize("kind", KINDS)
def test_computes_what_keras_does(folder, classifier, digits, kind):
    """Whoever holds the file gives it pixels."""
    model = hsvit_keras.open_model(folder / f"model.{kind}")
    expected = np.asarray(classifier(digits.inputs, training=False))
    found = model.predict({"image": digits.inputs})
    assert found.keys() == {"logits"}
    np.testing.assert_allclose(found["logits"], expected, atol=2e-5 * max(1, np.abs(expected).max()))


def test_a_keras_model_is_compiled_for_one_sample(folder):
    model = hsvit_keras.open_model(str(folder / "model.keras"))
    (image,), (logits,) = model.inputs, model.outputs
    assert (image.name, image.shape, image.dtype) == ("image", (1, 16, 16, 1), np.float32)
    assert (logits.shape, logits.scale) == ((1, 10), None)
    assert model.runtime == {"name": "Keras on tensorflow, XLA", "version": keras.version()}
    assert set(model.delegation.values()) == {None}
    assert model.init_ms > 0


def test_a_keras_model_with_several_inputs_and_outputs():
    left, right = keras.Input((2,), name="left"), keras.Input((2,), name="right")
    model = KerasModel(
        keras.Model({"left": left, "right": right}, {"sum": left + right, "less": left - right})
    )
    found = model.predict({"left": np.ones((3, 2)), "right": np.full((3, 2), 0.25)})
    assert {name: values.tolist() for name, values in found.items()} == {
        "sum": [[1.25] * 2] * 3, "less": [[0.75] * 2] * 3,
    }  # fmt: skip


@pytest.mark.parametrize("name", ["model.h5", "model"])
def test_other_formats_are_refused(tmp_path, name):
    with pytest.raises(InputError, match=r"its name has to end in \.keras, \.tflite or \.onnx"):
        hsvit_keras.open_model(tmp_path / name)


@pytest.mark.parametrize("kind", KINDS)
def test_missing_file(tmp_path, kind):
    with pytest.raises(MissingFileError, match=rf"there is no model file .*missing\.{kind}"):
        hsvit_keras.open_model(tmp_path / f"missing.{kind}")


@pytest.mark.parametrize("damage", ["truncated", "empty", "overwritten"])
@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("keras", "is damaged or no Keras model"),
        ("tflite", "does not load in LiteRT"),
        ("onnx", "does not load in ONNX Runtime"),
    ],
)
def test_damaged_files_are_one_line(folder, tmp_path, kind, message, damage):
    content = (folder / f"model.{kind}").read_bytes()
    damaged = {"truncated": content[: len(content) // 2], "empty": b"", "overwritten": b"no model\n" * 200}
    path = tmp_path / f"model.{kind}"
    path.write_bytes(damaged[damage])
    with pytest.raises(InputError, match=message) as raised:
        hsvit_keras.open_model(path)
    assert "\n" not in str(raised.value)
    assert str(path) in str(raised.value)

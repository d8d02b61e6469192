"""ONNX artifacts answer in ONNX Runtime as Keras does."""

import json

import keras
import numpy as np
import pytest
from keras import layers

import hsvit_keras

if keras.backend.backend() != "tensorflow":
    pytest.skip("conversion needs the TensorFlow backend", allow_module_level=True)

import onnx as onnx_package

from export import onnx
from hsvit_keras.artifacts import writing
from hsvit_keras.artifacts.lowering import lower

pytestmark = pytest.mark.tensorflow
VARIANTS = ["hsvit_c2a2", "hsvit_c3a4", pytest.param("hsvit_c4a8", marks=pytest.mark.slow)]


@pytest.mark.parametrize("side", [32, pytest.param(64, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "name", ["hsvit_c2a2", "hsvit_c3a4", pytest.param("hsvit_c4a8", marks=pytest.mark.slow)]
)
def test_every_variant_answers_alike(name, side):
    keras.utils.set_random_seed(side)
    model = hsvit_keras.create_model(name, input_shape=(side, side, 3), num_classes=10)
    images = np.random.default_rng(0).normal(size=(8, side, side, 3)).astype("float32")
    for _ in range(3):
        model(images, training=True)
    content = onnx.convert(lower(model))
    parsed = onnx_package.load_from_string(content)
    onnx_package.checker.check_model(parsed, full_check=True)
    assert [entry.version for entry in parsed.opset_import if entry.domain == ""] == [17]
    answer = onnx.runner(content)
    answers = np.concatenate([answer(image[None]) for image in images])
    assert np.abs(answers - np.asarray(model(images, training=False))).max() <= 1e-4


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "tiny.keras"
    hsvit_keras.create_model("hsvit_tiny").save(path)
    return path


@pytest.mark.parametrize("opset", [17, 18])
def test_report(tiny, tmp_path, opset):
    output = tmp_path / "tiny.onnx"
    report = onnx.export(writing.Request(str(tiny), str(output), samples=8), opset)
    assert report == json.loads((tmp_path / "tiny.onnx.json").read_text())
    assert report["bytes"] == output.stat().st_size
    assert report["opset"] == opset
    assert report["input"]["name"] == "image"
    assert (report["input"]["shape"], report["output"]["shape"]) == ([1, 32, 32, 1], [1, 10])
    assert report["output"]["name"] == "logits"
    assert report["ops"]["Softmax"] == 2
    assert report["parity"]["max_abs_diff"] <= 1e-4


def test_pixels_and_batch(tiny, tmp_path):
    output = tmp_path / "pixels.onnx"
    request = writing.Request(str(tiny), str(output), batch=2, pixels=True, mean=0.5, std=0.25, samples=8)
    assert onnx.export(request)["input"]["shape"] == [2, 32, 32, 1]
    pixels = np.random.default_rng(0).integers(0, 256, (2, 32, 32, 1)).astype("float32")
    expected = np.asarray(keras.models.load_model(tiny)((pixels / 255 - 0.5) / 0.25))
    np.testing.assert_allclose(onnx.runner(output.read_bytes())(pixels), expected, atol=1e-4)


@keras.saving.register_keras_serializable("tests")
class HeavyMath(layers.Layer):
    """An operation that ONNX does not have."""

    def call(self, inputs):
        return keras.ops.erfinv(inputs)


def test_an_operation_that_onnx_lacks(tmp_path):
    inputs = keras.Input((8, 8, 1))
    keras.Model(inputs, layers.Dense(3)(layers.Flatten()(HeavyMath()(inputs)))).save(tmp_path / "m.keras")
    with pytest.raises(ValueError, match=r"ONNX cannot hold this model at opset 17: .*Erfinv"):
        onnx.export(writing.Request(str(tmp_path / "m.keras"), str(tmp_path / "m.onnx")))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.keras"]

"""`to_onnx`: ONNX Runtime computes what Keras does, in each preset; what is written, and what is refused."""

import json

import keras
import numpy as np
import pytest
from keras import layers

import hsvit_keras

if keras.backend.backend() != "tensorflow":
    pytest.skip("conversion needs the TensorFlow backend", allow_module_level=True)

import onnx

from hsvit_keras.artifacts import onnx_conversion
from hsvit_keras.artifacts.lowering import lower
from hsvit_runtime.errors import InputError
from hsvit_runtime.onnx_model import OnnxModel
from hsvit_runtime.presets import ONNX_PRESETS
from tests.artifacts.conftest import DIGITS
from tests.artifacts.running import random_images

pytestmark = pytest.mark.tensorflow


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def opset_of(model):
    return [entry.version for entry in model.opset_import if entry.domain == ""]


@pytest.mark.slow
@pytest.mark.parametrize("side", [32, 64])
@pytest.mark.parametrize("name", ["hsvit_c2a2", "hsvit_c3a4", "hsvit_c4a8"])
def test_hsvit_of_its_papers_size(name, side):
    model = hsvit_keras.create_model(name, input_shape=(side, side, 3), num_classes=10)
    images = random_images(model, 8)
    for _ in range(3):
        model(images, training=True)
    content = onnx_conversion.convert(lower(model))
    parsed = onnx.load_from_string(content)
    onnx.checker.check_model(parsed, full_check=True)
    assert opset_of(parsed) == [17]
    assert np.abs(OnnxModel(content).predict_only(images) - model(images, training=False)).max() <= 1e-4


@pytest.mark.parametrize("opset", [17, 18])
def test_report(classifier, digits, tmp_path, opset):
    output = tmp_path / "model.onnx"
    report = hsvit_keras.to_onnx(classifier, output, opset=opset, samples=digits)
    assert report == json.loads((tmp_path / "model.onnx.json").read_text())
    assert names_in(tmp_path) == ["model.onnx", "model.onnx.json"]
    assert report["bytes"] == output.stat().st_size
    assert (report["artifact"], report["preset"], report["opset"]) == ("model.onnx", "float32", opset)
    grid = {"dtype": "float32", "scale": None, "zero_point": None}
    assert report["input"] == {"name": "image", "shape": [None, 16, 16, 1], **grid}
    assert report["output"] == {"name": "logits", "shape": [None, 10], **grid}
    assert report["ops"]["Softmax"] == 1
    assert report["description"]["class_names"] == list(DIGITS)
    assert (report["parity"]["data"], report["parity"]["top1_agreement"]) == ("digits", 1.0)
    assert report["parity"]["max_abs_diff"] <= 1e-4


@pytest.mark.parametrize("preset", ["float16", "int8"])
def test_presets(classifier, quantized, digits, tmp_path, preset):
    model = quantized if preset == "int8" else classifier
    report = hsvit_keras.to_onnx(model, tmp_path / "m.onnx", preset=preset, samples=digits)
    assert report["parity"]["cosine"] >= ONNX_PRESETS[preset].limits["cosine"]
    stored = {tensor.data_type for tensor in onnx.load(tmp_path / "m.onnx").graph.initializer}
    wanted = {"float16": onnx.TensorProto.FLOAT16, "int8": onnx.TensorProto.INT8}[preset]
    assert wanted in stored
    expected = np.asarray(model(digits.inputs, training=False))
    outputs = hsvit_keras.open_model(tmp_path / "m.onnx").predict_only(digits.inputs)
    cosine = np.sum(outputs * expected) / np.linalg.norm(outputs) / np.linalg.norm(expected)
    assert cosine >= ONNX_PRESETS[preset].limits["cosine"]


def test_integer_inputs_and_outputs(quantized, digits, tmp_path):
    """ONNX Runtime itself takes the bytes of images, and gives shares of 256."""
    import onnxruntime

    types = {"input_type": "uint8", "output_type": "uint8"}
    path = tmp_path / "m.onnx"
    report = hsvit_keras.to_onnx(quantized, path, preset="int8", samples=digits, probabilities=True, **types)
    onnx.checker.check_model(onnx.load(path), full_check=True)
    given, found = report["input"], report["output"]
    assert (given["dtype"], given["scale"], given["zero_point"]) == ("uint8", 1.0, 0)
    assert (found["dtype"], found["scale"], found["zero_point"]) == ("uint8", 1 / 256, 0)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    (shares,) = session.run(None, {"image": digits.inputs.astype("uint8")})
    assert shares.dtype == np.uint8
    opened = hsvit_keras.open_model(path).predict_only(digits.inputs)
    np.testing.assert_array_equal(opened, shares.astype("float32") / 256)
    whole = tmp_path / "float.onnx"
    hsvit_keras.to_onnx(quantized, whole, preset="int8", samples=digits, probabilities=True)
    expected = hsvit_keras.open_model(whole).predict_only(digits.inputs)
    assert np.abs(opened - np.minimum(expected, 255 / 256)).max() <= 0.5 / 256 + 1e-6
    kinds = [[node.op_type for node in onnx.load(file).graph.node] for file in (path, whole)]
    # The first pair's conversion is gone, and the last one's; there is a range of probabilities.
    assert kinds[0].count("QuantizeLinear") == kinds[1].count("QuantizeLinear")
    assert kinds[0].count("DequantizeLinear") == kinds[1].count("DequantizeLinear")


def test_integers_need_ranges_at_the_ends(tmp_path):
    """A model whose first layer is float takes no integers."""
    model = keras.Sequential([keras.Input((8, 8, 3)), layers.Softmax(), layers.Conv2D(2, 1), layers.ELU()])
    given = np.random.default_rng(0).normal(size=(4, 8, 8, 3)).astype("float32")
    quantized = hsvit_keras.calibrate(model, [given])
    for end, message in (("input", "computes with floats of"), ("output", "computes '.*' as floats")):
        with pytest.raises(InputError, match=f"^{end}_type cannot be uint8: the graph {message}"):
            hsvit_keras.to_onnx(
                quantized, tmp_path / "m.onnx", preset="int8", samples=given, **{f"{end}_type": "uint8"}
            )
    assert names_in(tmp_path) == []


def test_probabilities_and_batch(stranger, tmp_path):
    report = hsvit_keras.to_onnx(stranger, tmp_path / "m.onnx", batch_size=2, probabilities=True)
    assert report["input"]["shape"] == [2, 8, 8, 1]
    assert report["output"]["name"] == "probabilities"
    images = random_images(stranger, 3)
    logits = np.asarray(stranger(images), "float64")
    expected = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    artifact = hsvit_keras.open_model(tmp_path / "m.onnx")
    np.testing.assert_allclose(artifact.predict_only(images), expected, atol=1e-6)
    assert artifact.description.probabilities


def test_tflite_and_onnx_have_reports_of_their_own(stranger, tmp_path):
    hsvit_keras.to_tflite(stranger, tmp_path / "m.tflite", preset="float32")
    hsvit_keras.to_onnx(stranger, tmp_path / "m.onnx")
    assert json.loads((tmp_path / "m.json").read_text())["artifact"] == "m.tflite"
    assert json.loads((tmp_path / "m.onnx.json").read_text())["artifact"] == "m.onnx"


@keras.saving.register_keras_serializable("tests")
class HeavyMath(layers.Layer):
    """An operation that ONNX does not have."""

    def call(self, inputs):
        return keras.ops.erfinv(inputs)


def test_an_operation_that_onnx_lacks(tmp_path):
    inputs = keras.Input((8, 8, 1))
    model = keras.Model(inputs, layers.Dense(3)(layers.Flatten()(HeavyMath()(inputs))), name="heavy")
    with pytest.raises(InputError, match=r"ONNX cannot hold 'heavy' at opset 17: .*Erfinv"):
        hsvit_keras.to_onnx(model, tmp_path / "m.onnx")
    assert names_in(tmp_path) == []


WRONG = {
    "suffix": ({"path": "model.tflite"}, "has to end in .onnx; received .*model.tflite"),
    "preset": ({"preset": "dynamic"}, "one of float32, float16, int8; received preset='dynamic'"),
    "ranges": ({"preset": "int8"}, "'stranger' has no ranges, which int8 needs"),
    "calibration": ({"calibration": []}, "calibration is for preset='int8'; received preset='float32'"),
    "float32": (
        {"input_type": "uint8"},
        "input_type has to be float32, or uint8 with preset='int8'; received",
    ),
    "int8": ({"output_type": "int8", "preset": "int8"}, "output_type has to be float32, or uint8 with"),
    "opset": ({"opset": 11}, "opset has to be 17 to 18; received opset=11"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_named(name, stranger, tmp_path):
    arguments, message = WRONG[name]
    arguments = {"path": "model.onnx", **arguments}
    arguments["path"] = tmp_path / arguments["path"]
    with pytest.raises(InputError, match=message):
        hsvit_keras.to_onnx(stranger, **arguments)
    assert names_in(tmp_path) == []

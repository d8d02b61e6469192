"""`to_tflite`: what is written and reported, in every preset, and what stops a conversion."""

import hashlib
import json

import keras
import numpy as np
import pytest
from keras import layers

import hsvit_keras

if keras.backend.backend() != "tensorflow":
    pytest.skip("conversion needs the TensorFlow backend", allow_module_level=True)

from hsvit_keras.artifacts import comparison, tflite_conversion, writing
from hsvit_keras.artifacts.keras_model import predict
from hsvit_keras.artifacts.lowering import lower
from hsvit_keras.layers.model_description import description_of
from hsvit_runtime.errors import InputError
from hsvit_runtime.presets import PRESETS
from tests.artifacts.conftest import DIGITS
from tests.artifacts.running import outputs_of, random_images
from tests.parameters import slow_but

pytestmark = pytest.mark.tensorflow


def softmax(logits):
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


# ---- what is written -------------------------------------------------------------------------------
def test_report(classifier, digits, tmp_path):
    output = tmp_path / "model.tflite"
    report = hsvit_keras.to_tflite(classifier, output, preset="float32", samples=digits)
    assert report == json.loads((tmp_path / "model.json").read_text())
    assert names_in(tmp_path) == ["model.json", "model.tflite"]
    content = output.read_bytes()
    assert report["artifact"] == "model.tflite"
    assert report["bytes"] == len(content)
    assert report["sha256"] == hashlib.sha256(content).hexdigest()
    assert (report["preset"], report["runtime"]) == ("float32", None)
    grid = {"dtype": "float32", "scale": None, "zero_point": None}
    assert report["input"] == {"name": "image", "shape": [1, 16, 16, 1], **grid}
    assert report["output"] == {"name": "probabilities", "shape": [1, 10], **grid}
    assert (report["partitions"], report["fully_delegated"]) == (1, True)
    assert report["undelegated_ops"] == report["flex_ops"] == []
    assert report["ops"]["CONV_2D"] == 2 + 2 + 4  # two stages of two, and the projections of one block
    assert report["minimum_runtime"]
    assert report["description"] == {
        "task": "classification",
        "class_names": list(DIGITS),
        "data_set": "digits",
        "input_range": [0, 255],
        "probabilities": True,
        "resizing": None,
    }
    parity = report["parity"]
    assert (parity["samples"], parity["data"], parity["top1_agreement"]) == (32, "digits", 1.0)
    assert parity["max_abs_diff"] <= 2e-5 * max(1, parity["largest_output"])
    predicted = np.asarray(classifier(digits.inputs)).argmax(-1)
    assert parity["metrics"] == {"accuracy": np.mean(predicted == digits.labels)}


def test_a_file_of_keras_is_taken_by_its_path(classifier, tmp_path):
    classifier.save(tmp_path / "model.keras")
    report = hsvit_keras.to_tflite(tmp_path / "model.keras", tmp_path / "m.tflite", preset="float32")
    assert report["model"] == str(tmp_path / "model.keras")
    assert report["description"]["class_names"] == list(DIGITS)


@pytest.mark.parametrize("preset", slow_but(["dynamic", "int8"], PRESETS))
def test_presets(classifier, quantized, digits, tmp_path, preset):
    """Each computes what Keras does: the int8 one what the model with its ranges does."""
    model = quantized if preset == "int8" else classifier
    report = hsvit_keras.to_tflite(model, tmp_path / "m.tflite", preset=preset, samples=digits)
    assert (report["partitions"], report["fully_delegated"], report["undelegated_ops"]) == (1, True, [])
    limits, parity = PRESETS[preset].limits, report["parity"]
    assert parity["max_abs_diff"] <= limits.get("max_abs_diff", np.inf) * max(1, parity["largest_output"])
    assert parity["cosine"] >= limits.get("cosine", 0)
    assert set(report["weights_bytes"]) >= {
        {"dynamic": "int8", "float32": "float32", "float16": "float16", "int8": "int8"}[preset]
    }


def test_without_samples_inputs_are_made_up(stranger, tmp_path):
    parity = hsvit_keras.to_tflite(stranger, tmp_path / "m.tflite", preset="float32")["parity"]
    assert (parity["samples"], parity["data"], parity["metrics"]) == (16, None, {})
    assert parity["max_abs_diff"] <= 2e-5 * max(1, parity["largest_output"])


def test_made_up_pixels_are_whole_numbers_of_the_range(classifier):
    description = description_of(classifier)
    (pixels,) = comparison.made_up_inputs(classifier, description, 16).values()
    np.testing.assert_array_equal(pixels, pixels.round())
    assert 0 <= pixels.min() < 10 and 245 < pixels.max() <= 255


def test_probabilities_are_the_softmax_of_the_logits(classifier, digits, tmp_path):
    """A classifier's artifact gives probabilities unless logits are asked for."""
    for name, wanted in (("probabilities", None), ("logits", False)):
        report = hsvit_keras.to_tflite(
            classifier, tmp_path / f"{name}.tflite", preset="float32", probabilities=wanted
        )
        assert report["output"]["name"] == name
        assert report["description"]["probabilities"] == (name == "probabilities")
    probabilities, logits = (
        hsvit_keras.open_model(tmp_path / f"{name}.tflite").predict_only(digits.inputs)
        for name in ("probabilities", "logits")
    )
    np.testing.assert_allclose(probabilities.sum(-1), 1, atol=1e-6)
    np.testing.assert_allclose(probabilities, softmax(logits), atol=1e-6)
    np.testing.assert_allclose(logits, classifier(digits.inputs), atol=2e-5)


def test_a_model_that_ends_in_softmax_gets_no_second_one(stranger, tmp_path):
    model = keras.Model(stranger.inputs[0], layers.Softmax()(stranger.outputs[0]))
    images = random_images(model, 4)
    for name, wanted in (("default", None), ("logits", False)):
        report = hsvit_keras.to_tflite(
            model, tmp_path / f"{name}.tflite", preset="float32", probabilities=wanted
        )
        assert report["description"]["probabilities"]
        content = (tmp_path / f"{name}.tflite").read_bytes()
        np.testing.assert_allclose(outputs_of(content, images), model(images), atol=1e-6)


# ---- batches ---------------------------------------------------------------------------------------
def test_batch(classifier, digits, tmp_path):
    """The last batch is filled up: 32 samples in batches of 3."""
    report = hsvit_keras.to_tflite(
        classifier, tmp_path / "m.tflite", preset="float32", batch_size=3, samples=digits
    )
    assert report["input"]["shape"] == [3, 16, 16, 1]
    assert report["parity"]["samples"] == 32
    assert report["fully_delegated"]


def test_any_batch(stranger, tmp_path):
    report = hsvit_keras.to_tflite(stranger, tmp_path / "m.tflite", preset="float32", batch_size=None)
    assert report["input"]["shape"] == [None, 8, 8, 1]
    artifact, images = hsvit_keras.open_model(tmp_path / "m.tflite"), random_images(stranger, 3)
    together = artifact.predict_only(images)
    apart = np.concatenate([artifact.predict_only(image[None]) for image in images])
    np.testing.assert_allclose(together, apart, atol=1e-6)
    np.testing.assert_allclose(together, softmax(np.asarray(stranger(images))), atol=1e-6)


# ---- integer inputs and outputs --------------------------------------------------------------------
@pytest.mark.parametrize("output_type", ["uint8", "int8"])
def test_integer_probabilities_are_steps_of_a_256th(quantized, digits, tmp_path, output_type):
    output = hsvit_keras.to_tflite(
        quantized, tmp_path / "m.tflite", preset="int8", samples=digits, output_type=output_type
    )["output"]
    assert output["dtype"] == output_type
    assert output["scale"] == pytest.approx(1 / 256, rel=1e-6)
    assert output["zero_point"] == {"uint8": 0, "int8": -128}[output_type]


# ---- kinds of models -------------------------------------------------------------------------------
def test_models_of_bare_operations(tmp_path):
    """`x / 2 + y` and `keras.ops` make operations that are no layers."""
    inputs = keras.Input((8, 8, 1))
    maps = keras.ops.relu(layers.Conv2D(4, 3, padding="same")(inputs / 2.0)) + inputs
    model = keras.Model(inputs, layers.Dense(3)(layers.Flatten()(maps)))
    report = hsvit_keras.to_tflite(model, tmp_path / "bare.tflite", preset="float32")
    assert report["parity"]["top1_agreement"] == 1.0


def test_half_precision_models_are_compared_in_float32(tmp_path):
    model = keras.Sequential(
        [keras.Input((8, 8, 1)), layers.Flatten(), layers.Dense(8, "relu"), layers.Dense(3)]
    )
    half = keras.Sequential.from_config(
        {**model.get_config(), "layers": [
            {**layer, "config": {**layer["config"], "dtype": "mixed_bfloat16"}}
            if layer["class_name"] == "Dense" else layer
            for layer in model.get_config()["layers"]
        ]}
    )  # fmt: skip
    assert half.layers[-1].compute_dtype == "bfloat16"
    report = hsvit_keras.to_tflite(half, tmp_path / "half.tflite", preset="float32")
    assert report["parity"]["max_abs_diff"] <= 2e-5


def test_several_inputs_and_outputs(tmp_path):
    """Any model with a graph: tensors are compared by name, and nothing is known of classes."""
    left, right = keras.Input((4,), name="left"), keras.Input((6,), name="right")
    sums = layers.Add()([layers.Dense(3)(left), layers.Dense(3)(right)])
    model = keras.Model([left, right], {"sums": sums, "halves": sums / 2.0})
    report = hsvit_keras.to_tflite(model, tmp_path / "m.tflite", preset="float32")
    assert "top1_agreement" not in report["parity"]
    assert (report["description"]["task"], report["description"]["probabilities"]) == (None, False)
    artifact = hsvit_keras.open_model(tmp_path / "m.tflite")
    inputs = {"left": np.ones((1, 4), "float32"), "right": np.arange(6, dtype="float32")[None]}
    found, expected = artifact.predict(inputs), predict(model, inputs)
    assert found.keys() == expected.keys() == {"sums", "halves"}
    for name in found:
        np.testing.assert_allclose(found[name], expected[name], atol=1e-5)


def test_a_quantized_model_becomes_a_float_artifact(classifier, quantized, digits, tmp_path):
    hsvit_keras.to_tflite(quantized, tmp_path / "m.tflite", preset="float32", probabilities=False)
    outputs = hsvit_keras.open_model(tmp_path / "m.tflite").predict_only(digits.inputs)
    np.testing.assert_allclose(outputs, classifier(digits.inputs), atol=5e-5)


def test_new_ranges_are_those_of_the_artifact_alone(stranger, tmp_path):
    """Calibration gives a quantized model other ranges for its artifact; the model keeps its own."""
    images = random_images(stranger)
    quantized = hsvit_keras.calibrate(stranger, [images])
    before = [weight.copy() for weight in quantized.get_weights()]
    report = hsvit_keras.to_tflite(
        quantized, tmp_path / "m.tflite", preset="int8", calibration=[images / 4], samples=images / 4
    )
    scales = {scale for tensor in report["quantized_tensors"] for scale in tensor["scale"]}
    assert any(np.isclose(scale, np.ptp(images / 4) / 255, rtol=1e-5) for scale in scales)
    for old, new in zip(before, quantized.get_weights(), strict=True):
        np.testing.assert_array_equal(old, new)


# ---- runtimes --------------------------------------------------------------------------------------
def test_old_runtime(stranger, tmp_path):
    """2.16 refuses Dense layers quantized for each output apart; the others load there anyway."""
    new = hsvit_keras.to_tflite(stranger, tmp_path / "new.tflite")
    old = hsvit_keras.to_tflite(stranger, tmp_path / "old.tflite", runtime="2.16")

    def number(report):
        return tuple(int(part) for part in report["minimum_runtime"].split("."))

    assert number(new) > (2, 16) >= number(old)


def test_file_that_the_runtime_would_refuse_is_not_written(stranger, tmp_path, monkeypatch):
    monkeypatch.setattr(tflite_conversion, "_FIRST_OF_TODAYS_FORM", (2, 10))
    with pytest.raises(InputError, match=r"load on runtime 2\.16: .*FULLY_CONNECTED version 12 needs 2\.17"):
        hsvit_keras.to_tflite(stranger, tmp_path / "m.tflite", runtime="2.16")
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("runtime", ["new", "2.3", ""])
def test_unknown_runtime(stranger, tmp_path, runtime):
    with pytest.raises(InputError, match=f"'{runtime}'"):
        hsvit_keras.to_tflite(stranger, tmp_path / "m.tflite", runtime=runtime)
    assert names_in(tmp_path) == []


# ---- what stops a conversion -----------------------------------------------------------------------
def test_artifact_that_computes_something_else_is_not_written(stranger, tmp_path, monkeypatch):
    """Such as one whose weights the converter has got wrong."""
    convert = tflite_conversion.convert

    def with_other_weights(lowered, *args, **kwargs):
        other = keras.models.clone_model(lowered)
        other.set_weights([1.001 * weight for weight in lowered.get_weights()])
        return convert(other, *args, **kwargs)

    monkeypatch.setattr(tflite_conversion, "convert", with_other_weights)
    (tmp_path / "m.tflite").write_bytes(b"the one before")
    with pytest.raises(InputError, match=r"does not compute what Keras does.*Nothing was written"):
        hsvit_keras.to_tflite(stranger, tmp_path / "m.tflite", preset="float32")
    assert names_in(tmp_path) == ["m.tflite"]
    assert (tmp_path / "m.tflite").read_bytes() == b"the one before"


@pytest.mark.parametrize(
    ("parity", "limits", "passes"),
    [
        ({"max_abs_diff": 1.9e-5, "largest_output": 0.5}, {"max_abs_diff": 2e-5}, True),
        ({"max_abs_diff": 2.1e-5, "largest_output": 0.5}, {"max_abs_diff": 2e-5}, False),
        ({"max_abs_diff": 1.9e-4, "largest_output": 10}, {"max_abs_diff": 2e-5}, True),
        ({"max_abs_diff": 2.1e-4, "largest_output": 10}, {"max_abs_diff": 2e-5}, False),
        ({"max_abs_diff": np.nan, "largest_output": 10}, {"max_abs_diff": 2e-5}, False),
        ({"max_abs_diff": 9.0, "largest_output": 10, "cosine": 0.9991}, {"cosine": 0.999}, True),
        ({"max_abs_diff": 0.1, "largest_output": 10, "cosine": 0.9989}, {"cosine": 0.999}, False),
        ({"max_abs_diff": 0.1, "largest_output": 10, "cosine": np.nan}, {"cosine": 0.999}, False),
        ({"max_abs_diff": 0.1, "largest_output": 10, "alike": 0.96}, {"cosine": 0.999, "alike": 0.95}, True),
        ({"max_abs_diff": 0.1, "largest_output": 10, "alike": 0.94}, {"cosine": 0.999, "alike": 0.95}, False),
    ],
)
def test_limits(parity, limits, passes):
    parity = {"samples": 8, "cosine": 1.0, "alike": 1.0, **parity}
    if passes:
        comparison.check(parity, limits)
    else:
        with pytest.raises(InputError, match=r"on 8 samples"):
            comparison.check(parity, limits)


def test_other_json_files_are_not_replaced(stranger, tmp_path):
    (tmp_path / "config.json").write_text('{"mean": 0.5}')
    with pytest.raises(InputError, match=r"config\.json: the file there is no report"):
        hsvit_keras.to_tflite(stranger, tmp_path / "config.tflite")
    assert (tmp_path / "config.json").read_text() == '{"mean": 0.5}'


@keras.saving.register_keras_serializable("tests")
class Erf(layers.Layer):
    """An operation that LiteRT has no kernel for."""

    def call(self, inputs):
        return keras.ops.erfinv(inputs)


def test_flex_op_stops_the_conversion(tmp_path):
    inputs = keras.Input((8, 8, 1))
    model = keras.Model(inputs, layers.Dense(10)(layers.Flatten()(Erf()(inputs))))
    with pytest.raises(InputError, match=r"LiteRT cannot hold this model: it has no op for tf\.Erfinv"):
        hsvit_keras.to_tflite(model, tmp_path / "flex.tflite", preset="float32")
    assert names_in(tmp_path) == []


WRONG = {
    "suffix": ({"path": "model.lite"}, "has to end in .tflite; received .*model.lite"),
    "folder": ({"path": "nowhere/model.tflite"}, "there is no folder .*nowhere"),
    "model": ({"model": "nothing.keras"}, "there is no model file .*nothing.keras"),
    "kind": ({"model": "config.json"}, "a model saved by Keras ends in .keras or .h5"),
    "preset": ({"preset": "int4"}, "one of float32, float16, dynamic, int8; received preset='int4'"),
    "calibration": (
        {"calibration": [np.zeros((1, 8, 8, 1))]},
        "calibration is for preset='int8'; received preset='dynamic'",
    ),
    "ranges": ({"preset": "int8"}, "'stranger' has no ranges, which int8 needs"),
    "batch": ({"batch_size": 0}, "batch_size has to be at least 1, or None; received 0"),
    "input": ({"input_type": "uint8"}, "received input_type='uint8', preset='dynamic'"),
    "output": ({"preset": "int8", "output_type": "int4"}, "received output_type='int4', preset='int8'"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_named(name, stranger, tmp_path):
    arguments, message = WRONG[name]
    (tmp_path / "config.json").write_text("{}")
    arguments = {
        key: tmp_path / value if key in ("path", "model") else value for key, value in arguments.items()
    }
    with pytest.raises(InputError, match=message) as raised:
        hsvit_keras.to_tflite(**{"model": stranger, "path": tmp_path / "model.tflite", **arguments})
    assert "\n" not in str(raised.value)
    assert names_in(tmp_path) == ["config.json"]


def test_inputs_of_any_size_are_refused(tmp_path):
    model = keras.Sequential([keras.Input((None, None, 1)), layers.GlobalAveragePooling2D(), layers.Dense(3)])
    with pytest.raises(InputError, match=r"takes inputs of any size, \(None, None, None, 1\)"):
        hsvit_keras.to_tflite(model, tmp_path / "m.tflite")
    assert names_in(tmp_path) == []


def test_only_classifiers_give_probabilities(tmp_path):
    inputs = keras.Input((4,))
    model = keras.Model(inputs, [layers.Dense(3)(inputs), layers.Dense(2)(inputs)], name="two")
    with pytest.raises(InputError, match="only a classifier gives probabilities; 'two' is for tensors"):
        hsvit_keras.to_tflite(model, tmp_path / "m.tflite", probabilities=True)
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("kept", [0, 100, 20_000])
def test_truncated_model(kept, classifier, tmp_path):
    classifier.save(tmp_path / "whole.keras")
    broken = tmp_path / "broken.keras"
    broken.write_bytes((tmp_path / "whole.keras").read_bytes()[:kept])
    with pytest.raises(InputError, match=r"broken.keras is damaged or no Keras model"):
        hsvit_keras.to_tflite(broken, tmp_path / "model.tflite")
    assert names_in(tmp_path) == ["broken.keras", "whole.keras"]


def test_interrupted_while_it_compares(stranger, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(writing.comparison, "compare", interrupted)
    with pytest.raises(KeyboardInterrupt):
        hsvit_keras.to_tflite(stranger, tmp_path / "m.tflite", preset="float32")
    assert names_in(tmp_path) == []


# ---- real sizes ------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("side", [32, 64])
@pytest.mark.parametrize("name", ["hsvit_c2a2", "hsvit_c3a4", "hsvit_c4a8"])
def test_hsvit_of_its_papers_size(name, side):
    """Accelerated whole in each preset; 8 bits a weight, as far as the converter takes them."""
    model = hsvit_keras.create_model(name, input_shape=(side, side, 3), num_classes=10)
    images = random_images(model, 8)
    for _ in range(3):
        model(images, training=True)
    expected, lowered = np.asarray(model(images, training=False)), lower(model)
    contents = {name: tflite_conversion.convert(lowered, name) for name in PRESETS if name != "int8"}
    for preset, content in contents.items():
        found = hsvit_keras.inspect_tflite(content)
        assert (found["partitions"], found["fully_delegated"]) == (1, True)
        assert found["undelegated_ops"] == found["custom_ops"] == found["flex_ops"] == []
        outputs = outputs_of(content, images)
        cosine = np.sum(outputs * expected) / np.linalg.norm(outputs) / np.linalg.norm(expected)
        assert cosine >= PRESETS[preset].limits.get("cosine", 0)
        if preset == "float32":
            assert np.abs(outputs - expected).max() <= 2e-5
    assert len(contents["float16"]) <= 0.52 * len(contents["float32"])
    assert len(contents["dynamic"]) <= 0.32 * len(contents["float32"])

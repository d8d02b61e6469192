"""An artifact is compared with the model that was handed in, and refused where it says something else."""

import json

import keras
import numpy as np
import pytest
from keras import layers

import hsvit_keras

if keras.backend.backend() != "tensorflow":
    pytest.skip("conversion needs the TensorFlow backend", allow_module_level=True)

from data_sets import load_dataset, sample_images
from hsvit_keras.artifacts import comparison
from hsvit_keras.layers.model_description import describe
from hsvit_runtime.errors import InputError
from hsvit_runtime.presets import PRESETS
from tests.parameters import slow_but

pytestmark = pytest.mark.tensorflow

SHAPE = (8, 8, 1)
BLACK = [np.zeros((16, *SHAPE), "float32")]


def images(split, count):
    return sample_images(load_dataset("digits", split), count, image_shape=SHAPE)


@pytest.fixture(scope="module")
def trained():
    """A classifier that knows more than nine of ten digits."""
    keras.utils.set_random_seed(0)
    image = keras.Input(SHAPE, name="image")
    hidden = layers.Dense(32, "relu")(layers.Flatten()(layers.Rescaling(1 / 255)(image)))
    model = keras.Model(image, layers.Dense(10)(hidden))
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    pixels, labels = images("train", 1400)
    model.fit(pixels, labels, epochs=10, batch_size=32, verbose=0)
    return describe(model, input_range=(0, 255))


@pytest.fixture(scope="module")
def real():
    return hsvit_keras.Samples(*images("test", 200), "digits")


@pytest.fixture(scope="module")
def good():
    return [images("train", 64)[0]]


def convert(kind, model, folder, **options):
    write = {"tflite": hsvit_keras.to_tflite, "onnx": hsvit_keras.to_onnx}[kind]
    return write(model, folder / f"m.{kind}", **options)


def answers(model, samples):
    return np.asarray(model(samples.inputs)).argmax(-1)


@pytest.mark.parametrize("kind", slow_but(["tflite"], ["tflite", "onnx"]))
@pytest.mark.parametrize("given", ["real samples", "no samples"])
def test_black_images_are_no_calibration(kind, given, trained, real, tmp_path):
    options = {"preset": "int8", "calibration": BLACK}
    options["samples"] = real if given == "real samples" else None
    with pytest.raises(InputError, match="says something else than the model that was handed in") as raised:
        convert(kind, trained, tmp_path, **options)
    for advice in ("calibrate it on other data", "quantize_aware", "--allow_loss"):
        assert advice in str(raised.value)
    assert "\n" not in str(raised.value) and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["tflite", "onnx"])
def test_both_comparisons_are_in_the_report(kind, trained, real, good, tmp_path):
    report = convert(kind, trained, tmp_path, preset="int8", calibration=good, samples=real)
    quantized, original = report["parity"], report["parity_with_original"]
    assert quantized.keys() == original.keys()
    artifact = hsvit_keras.open_model(tmp_path / f"m.{kind}").predict_only(real.inputs).argmax(-1)
    assert original["top1_agreement"] == np.mean(artifact == answers(trained, real))
    # With margin to the limits.
    assert original["alike"] >= 0.99 and original["cosine"] >= 0.99
    assert quantized["cosine"] > original["cosine"]
    assert PRESETS["int8"].original_limits == {"cosine": 0.9, "alike": 0.95}


@pytest.mark.parametrize("kind", ["tflite", "onnx"])
def test_a_loss_that_is_allowed_is_written_and_reported(kind, trained, real, tmp_path):
    options = {"preset": "int8", "calibration": BLACK, "samples": real, "allow_loss": True}
    report = convert(kind, trained, tmp_path, **options)
    assert report["parity"]["cosine"] > 0.999
    assert report["parity_with_original"]["top1_agreement"] < 0.9
    artifact = hsvit_keras.open_model(tmp_path / f"m.{kind}").predict_only(real.inputs).argmax(-1)
    assert report["parity_with_original"]["metrics"] == {"accuracy": np.mean(artifact == real.labels)}


def test_without_samples_a_good_calibration_passes(trained, good, tmp_path):
    report = convert("tflite", trained, tmp_path, preset="int8", calibration=good)
    assert (report["parity_with_original"]["data"], report["parity_with_original"]["samples"]) == (None, 16)


def test_a_quantized_model_is_the_original_with_its_own_ranges(trained, real, good, tmp_path):
    quantized = hsvit_keras.calibrate(trained, good)
    report = convert("tflite", quantized, tmp_path, preset="int8", samples=real)
    assert report["parity"] == report["parity_with_original"]
    with pytest.raises(InputError, match="that was handed in"):
        convert("tflite", quantized, tmp_path, preset="int8", samples=real, calibration=BLACK)
    report = convert("tflite", quantized, tmp_path, preset="float32", samples=real)
    assert report["parity"]["max_abs_diff"] < 1e-3 < report["parity_with_original"]["max_abs_diff"]


def test_float_presets_are_made_of_the_model_that_was_handed_in(trained, real, tmp_path):
    report = convert("tflite", trained, tmp_path, preset="dynamic", samples=real)
    assert report["parity"] == report["parity_with_original"]


# ---- offsets -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("given", [True, False])
def test_a_common_offset_of_logits_hides_nothing(given, tmp_path):
    """Logits that are large and nearly equal: 8 bits keep the offset and lose the classes."""
    keras.utils.set_random_seed(0)
    rng = np.random.default_rng(0)
    inputs = keras.Input((128,))
    model = keras.Model(inputs, layers.Dense(10)(inputs))
    kernel = 200 * rng.random((128, 1)) + rng.normal(size=(128, 10))
    model.set_weights([kernel, np.zeros(10)])
    samples = rng.random((64, 128)).astype("float32")
    options = {"preset": "dynamic", "samples": samples if given else None}
    with pytest.raises(InputError, match="does not compute what Keras does"):
        convert("tflite", model, tmp_path, **options)
    report = convert("tflite", model, tmp_path, allow_loss=True, **options)
    assert report["parity"]["top1_agreement"] < 0.9


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("given", slow_but([False], [True, False]))
def test_an_offset_of_numbers_hides_nothing(count, given, tmp_path):
    """A cosine of 0.9999, and nothing left of what the model says of the samples."""
    keras.utils.set_random_seed(0)
    samples = np.random.default_rng(0).normal(size=(64, 12)).astype("float32")
    model = keras.Sequential([keras.Input((12,)), layers.Dense(16, "relu"), layers.Dense(count)])
    model.compile(loss="mse")
    model.layers[-1].bias.assign(np.full(count, 1000.0))
    options = {"preset": "int8", "calibration": [samples], "samples": samples if given else None}
    with pytest.raises(InputError, match=r"\d% alike on (16|64) samples"):
        convert("tflite", model, tmp_path, **options)
    parity = convert("tflite", model, tmp_path, allow_loss=True, **options)["parity_with_original"]
    assert parity["cosine"] > 0.999 and parity["alike"] < 0.5
    report = convert("tflite", model, tmp_path, preset="float32", samples=options["samples"])
    assert report["parity"]["alike"] == 1.0 and report["task"]["name"] == "regression"


# ---- yes and no ----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("count", "task", "agreement"),
    [
        (1, "binary_classification", "decision_agreement"),
        (4, "multi_label_classification", "label_agreement"),
    ],
)
@pytest.mark.parametrize("kind", slow_but(["tflite"], ["tflite", "onnx"]))
def test_sigmoids(count, task, agreement, kind, tmp_path):
    keras.utils.set_random_seed(0)
    rng = np.random.default_rng(0)
    samples = rng.normal(size=(64, 12)).astype("float32")
    model = keras.Sequential(
        [keras.Input((12,)), layers.Dense(16, "relu"), layers.Dense(count, activation="sigmoid")]
    )
    options = {"preset": "int8", "samples": samples}
    report = convert(kind, model, tmp_path, calibration=[samples], **options)
    assert (report["task"]["name"], report["description"]["task"]) == (task, task)
    assert (report["output"]["name"], report["description"]["probabilities"]) == ("probabilities", True)
    artifact = hsvit_keras.open_model(tmp_path / f"m.{kind}").predict_only(samples)
    same = np.mean((artifact > 0.5) == (np.asarray(model(samples)) > 0.5))
    assert report["parity_with_original"][agreement] == same
    assert same > 0.9 and report["parity_with_original"]["alike"] >= 0.95
    with pytest.raises(InputError, match="that was handed in"):
        convert(kind, model, tmp_path, calibration=[samples / 100], **options)


def test_the_loss_of_a_file_says_what_linear_outputs_are(tmp_path):
    """So no softmax is put behind numbers."""
    model = keras.Sequential([keras.Input((12,)), layers.Dense(3)])
    for loss, task in (("mse", "regression"), ("binary_crossentropy", "multi_label_classification")):
        model.compile(loss=loss)
        model.save(tmp_path / "model.keras")
        report = hsvit_keras.to_tflite(tmp_path / "model.keras", tmp_path / "m.tflite", preset="float32")
        assert (report["task"]["name"], report["output"]["name"]) == (task, "logits")
    model.compile(loss=keras.losses.Huber())
    model.save(tmp_path / "model.keras")
    assert (
        hsvit_keras.to_tflite(tmp_path / "model.keras", tmp_path / "m.tflite", preset="float32")["task"][
            "name"
        ]
        == "regression"
    )


# ---- several inputs and outputs ------------------------------------------------------------------------
def pair(as_dict=False):
    """A model of two inputs and two outputs."""
    keras.utils.set_random_seed(0)
    left, right = keras.Input((4,), name="left"), keras.Input((6,), name="right")
    both = layers.Add()([layers.Dense(8)(left), layers.Dense(8)(right)])
    outputs = [layers.Dense(3, name="first")(both), layers.Dense(2, "sigmoid", name="second")(both)]
    return keras.Model({"left": left, "right": right} if as_dict else [left, right], outputs)


LEFT, RIGHT = (np.random.default_rng(0).normal(size=(40, n)).astype("float32") for n in (4, 6))


@pytest.mark.parametrize("kind", slow_but(["tflite"], ["tflite", "onnx"]))
@pytest.mark.parametrize(
    ("as_dict", "inputs"),
    [
        (False, [LEFT, RIGHT]),
        (False, {"right": RIGHT, "left": LEFT}),
        (True, {"left": LEFT, "right": RIGHT}),
    ],
)
def test_two_inputs_and_two_outputs(kind, as_dict, inputs, tmp_path):
    model = pair(as_dict)
    calibration = [inputs, (inputs, np.zeros(40))]
    report = convert(kind, model, tmp_path, preset="int8", samples=inputs, calibration=calibration)
    assert [tensor["name"] for tensor in report["outputs"]] == ["first", "second"]
    assert report["task"]["name"] == "tensors" and report["parity_with_original"]["alike"] >= 0.95
    artifact = hsvit_keras.open_model(tmp_path / f"m.{kind}")
    found = artifact.predict({"left": LEFT, "right": RIGHT})
    expected = model({"left": LEFT, "right": RIGHT} if as_dict else [LEFT, RIGHT])
    for name, wanted in zip(("first", "second"), expected, strict=True):
        wanted = np.asarray(wanted)
        assert np.abs(found[name] - wanted).max() < 0.5 * wanted.std()
    assert json.loads((tmp_path / f"m.{'json' if kind == 'tflite' else 'onnx.json'}").read_text()) == report


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        (LEFT, "has 2 inputs, left, right: samples have to be a list"),
        ([LEFT], "has 2 inputs, left, right: samples have to be a list"),
        ({"left": LEFT}, "samples have to be named as those of .*, left, right; received left"),
        ([LEFT, LEFT], r"samples for 'right' have to be of shape \(count, 6\); received \(40, 4\)"),
        ([LEFT, RIGHT[:3]], "of one number of samples; received 40 for 'left', 3 for 'right'"),
    ],
)
def test_samples_that_are_not_the_inputs(samples, message, tmp_path):
    with pytest.raises(InputError, match=message):
        hsvit_keras.to_tflite(pair(), tmp_path / "m.tflite", preset="float32", samples=samples)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("cosine", "alike", "expected"),
    [
        (0.985, 0.97, True),
        (0.99, 0.99, True),
        (0.98, 0.97, False),
        (0.985, 0.96, False),
        (np.nan, 1.0, False),
    ],
)
def test_an_artifact_as_near_to_the_original_as_its_simulation(cosine, alike, expected):
    """The simulation is 0.014 away, of which a tenth more is allowed."""
    simulated = {"cosine": 0.986, "alike": 0.97}
    assert comparison.is_as_near({"cosine": cosine, "alike": alike}, simulated) == expected

"""The command `export.tflite`: the data that it compares on, what it prints, and how it stops."""

import json
import pathlib
import signal
import subprocess
import sys
import time

import keras
import numpy as np
import pytest
from keras import layers

if keras.backend.backend() != "tensorflow":
    pytest.skip("conversion needs the TensorFlow backend", allow_module_level=True)

import hsvit_keras
from data_sets import load_dataset, sample_images
from export import onnx, tflite
from hsvit_keras.artifacts import comparison
from hsvit_runtime.errors import InputError, MissingFileError
from tests.command_line.in_process import call
from tests.export import hsvits

pytestmark = pytest.mark.tensorflow


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """Path of a small HSViT of pixels that has seen digits."""
    path = tmp_path_factory.mktemp("model") / "model.keras"
    hsvits.small().save(path)
    return path


@pytest.fixture(scope="module")
def stranger(tmp_path_factory):
    """Path of somebody else's classifier, which says nothing of itself; it takes images from -1 to 1."""
    path = tmp_path_factory.mktemp("stranger") / "model.keras"
    keras.utils.set_random_seed(0)
    keras.Sequential([keras.Input((8, 8, 1)), layers.Flatten(), layers.Dense(10)]).save(path)
    return path


def export(model, output, **options):
    call(tflite, f"--model={model}", f"--output={output}", *(f"--{k}={v}" for k, v in options.items()))
    return json.loads(output.with_suffix(".json").read_text())


def test_data_and_labels_are_those_that_the_model_says(model, tmp_path, capsys):
    report = export(model, tmp_path / "m.tflite", preset="float32", samples=20)
    assert (report["parity"]["data"], report["parity"]["samples"]) == ("digits", 20)
    pixels, labels = sample_images(load_dataset("digits", "test"), 20, image_shape=(16, 16, 1))
    predicted = np.asarray(hsvits.small()(pixels, training=False)).argmax(-1)
    assert report["parity"]["metrics"] == {"accuracy": np.mean(predicted == labels)}
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith(f"wrote {tmp_path / 'm.tflite'}: float32, ")
    assert out[1].startswith(
        "  takes float32 1 x 16 x 16 x 1, pixels of 0 to 255; gives probabilities; loads"
    )
    assert "XNNPACK runs all of it in 1 partition(s)" in out[2]
    assert "on 20 samples of digits: largest difference" in out[3]
    assert out[3].endswith("same class 100.00%")
    assert out[4].startswith("  outputs against the original on 20 samples of digits: largest difference")
    assert len(out) == 5 and max(map(len, out)) <= 120


def test_int8_by_calibration_data(model, tmp_path):
    report = export(
        model, tmp_path / "m.tflite", preset="int8", calibration_data="digits", calibration_samples=64,
        samples=16, input_type="uint8", output_type="uint8",
    )  # fmt: skip
    assert report["input"] == {
        "name": "image", "shape": [1, 16, 16, 1], "dtype": "uint8", "scale": 1.0, "zero_point": 0,
    }  # fmt: skip
    assert report["output"]["dtype"] == "uint8"


def test_logits_of_any_batch(model, tmp_path):
    report = export(model, tmp_path / "m.tflite", preset="float32", batch=0, logits=True, samples=8)
    assert report["input"]["shape"] == [None, 16, 16, 1]
    assert report["output"]["name"] == "logits"


def test_more_samples_than_images(stranger, tmp_path):
    options = {"data": "digits", "input_range": "-1,1", "preset": "float32"}
    assert export(stranger, tmp_path / "m.tflite", samples=10_000, **options)["parity"]["samples"] == 355


def test_a_stranger_is_shown_images_in_its_range(stranger, tmp_path):
    report = export(
        stranger, tmp_path / "m.tflite", data="digits", input_range="-1,1", preset="float32", samples=20
    )
    pixels, labels = sample_images(load_dataset("digits", "test"), 20, image_shape=(8, 8, 1))
    predicted = np.asarray(keras.models.load_model(stranger)(pixels / 127.5 - 1)).argmax(-1)
    assert report["parity"]["metrics"] == {"accuracy": np.mean(predicted == labels)}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"input_range": "0,1"}, "the model does not say its data set: name it by --data, one of"),
        (
            {"data": "digits"},
            "which values its pixels have: give those of black and white",
        ),
        ({"data": "digit", "input_range": "0,1"}, "digit"),
        ({"data": "digits", "input_range": "1,1"}, "--input_range takes two different numbers"),
        ({"logits": True, "probabilities": True}, "--logits and --probabilities exclude each other"),
    ],
)
def test_what_has_to_be_said_of_a_stranger(stranger, tmp_path, options, message):
    with pytest.raises(InputError, match=message) as raised:
        export(stranger, tmp_path / "m.tflite", **options)
    assert "\n" not in str(raised.value)
    assert list(tmp_path.iterdir()) == []


def test_a_range_that_contradicts_the_model(model, tmp_path):
    with pytest.raises(InputError, match=r"--input_range=0,1 contradicts the model, whose .* 0,255"):
        export(model, tmp_path / "m.tflite", input_range="0,1")


def test_a_model_of_something_else(tmp_path):
    inputs = keras.Input((8,))
    keras.Model(inputs, layers.Dense(3)(inputs), name="other").save(tmp_path / "other.keras")
    with pytest.raises(InputError, match=r"'other' has to take images.*\(None, 8\)"):
        export(tmp_path / "other.keras", tmp_path / "m.tflite", data="digits", input_range="0,1")


# ---- arrays instead of a data set ------------------------------------------------------------------
@pytest.fixture(scope="module")
def two_inputs(tmp_path_factory):
    """Path of a model of two inputs and two outputs, and of a file of arrays for it."""
    folder = tmp_path_factory.mktemp("two inputs")
    keras.utils.set_random_seed(0)
    left, right = keras.Input((4,), name="left"), keras.Input((6,), name="right")
    sums = layers.Add()([layers.Dense(8)(left), layers.Dense(8)(right)])
    outputs = [layers.Dense(3, name="first")(sums), layers.Dense(2, name="second")(sums)]
    keras.Model([left, right], outputs, name="pair").save(folder / "model.keras")
    rng = np.random.default_rng(0)
    arrays = {"right": rng.normal(size=(40, 6)), "left": rng.normal(size=(40, 4))}
    np.savez(folder / "arrays.npz", **arrays)
    np.savez(folder / "lacks.npz", left=arrays["left"])
    np.savez(folder / "wide.npz", left=arrays["right"], right=arrays["right"])
    return folder


@pytest.mark.parametrize("command", [tflite, onnx])
@pytest.mark.parametrize("preset", ["float32", "int8"])
def test_arrays_are_samples_and_calibration(command, preset, two_inputs, tmp_path, capsys):
    output = tmp_path / ("m.tflite" if command is tflite else "m.onnx")
    call(
        command,
        f"--model={two_inputs / 'model.keras'}",
        f"--output={output}",
        f"--inputs={two_inputs / 'arrays.npz'}",
        f"--preset={preset}",
    )
    report = json.loads(output.with_suffix(".json" if command is tflite else ".onnx.json").read_text())
    assert (report["parity"]["data"], report["parity"]["samples"]) == ("arrays.npz", 40)
    assert report["parity_with_original"]["alike"] >= 0.95
    assert [tensor["name"] for tensor in report["outputs"]] == ["first", "second"]
    out = capsys.readouterr().out
    assert "gives first, second" in out and "samples of arrays.npz" in out and "outputs alike" in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"inputs": "lacks.npz"},
            r"arrays of --inputs=.*lacks\.npz have to be named .*, left, right; received",
        ),
        ({"inputs": "wide.npz"}, r"wide\.npz for 'left' have to be of shape \(count, 4\)"),
        ({"inputs": "none.npz"}, r"there is no file of --inputs .*none\.npz"),
        ({"inputs": "model.keras"}, r"model\.keras is no \.npz file of arrays|have to be named"),
        ({"inputs": "arrays.npz", "data": "digits"}, "--inputs and --data exclude each other"),
        ({"inputs": "arrays.npz", "samples": 9}, "^--samples means nothing with --inputs, whose arrays are"),
        ({"inputs": "arrays.npz", "input_range": "0,1"}, "^--input_range means nothing with --inputs"),
        (
            {"inputs": "arrays.npz", "preset": "int8", "calibration_samples": 9},
            "^--calibration_samples means nothing with --inputs and without --calibration_data",
        ),
        ({}, "does not say its data set|export.tflite and export.onnx take arrays by --inputs"),
    ],
)
def test_arrays_that_do_not_fit(options, message, two_inputs, tmp_path):
    if "inputs" in options:
        options = {**options, "inputs": two_inputs / options["inputs"]}
    with pytest.raises((InputError, MissingFileError), match=message) as raised:
        export(two_inputs / "model.keras", tmp_path / "m.tflite", **options)
    assert "\n" not in str(raised.value) and list(tmp_path.iterdir()) == []


def test_a_loss_has_to_be_allowed(two_inputs, tmp_path):
    """Of a model whose ranges cut off what it is shown, as its float artifact does not."""
    model = keras.models.load_model(two_inputs / "model.keras")
    arrays = dict(np.load(two_inputs / "arrays.npz"))
    hsvit_keras.calibrate(model, [arrays]).save(tmp_path / "ranged.keras")
    for name in arrays:
        arrays[name] = 100 * arrays[name]
    np.savez(tmp_path / "large.npz", **arrays)
    options = {"preset": "float32", "inputs": tmp_path / "large.npz"}
    with pytest.raises(InputError, match=r"than the model that was handed in.*--allow_loss"):
        export(tmp_path / "ranged.keras", tmp_path / "m.tflite", **options)
    report = export(tmp_path / "ranged.keras", tmp_path / "m.tflite", allow_loss=True, **options)
    assert report["parity"]["alike"] == 1.0 and report["parity_with_original"]["alike"] < 0.95


# ---- in a process of its own -----------------------------------------------------------------------
def command(**settings):
    return [sys.executable, "-m", "export.tflite", *(f"--{key}={value}" for key, value in settings.items())]


def test_command(model, tmp_path):
    """What a user types."""
    output = tmp_path / "with space" / "tiny.tflite"
    output.parent.mkdir()
    result = subprocess.run(
        command(model=model, output=output, samples=8), capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    assert "dynamic" in result.stdout and "1 partition" in result.stdout and "cosine" in result.stdout
    assert output.with_suffix(".json").is_file()


@pytest.mark.slow
def test_command_on_another_backend(model, tmp_path):
    result = subprocess.run(
        command(model=model, output=tmp_path / "m.tflite"),
        capture_output=True, text=True, check=False,
        env={"PATH": "", "KERAS_BACKEND": "jax", "PYTHONPATH": str(pathlib.Path.cwd())},
    )  # fmt: skip
    assert result.returncode == 1
    assert result.stderr.splitlines() == [
        "error: this needs Keras on tensorflow, and Keras runs on jax: "
        "set the environment variable KERAS_BACKEND=tensorflow"
    ]


@pytest.mark.slow
def test_interrupted_conversion_leaves_nothing(model, tmp_path):
    process = subprocess.Popen(command(model=model, output=tmp_path / "m.tflite"))
    deadline = time.monotonic() + 60
    while not list(tmp_path.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) != 0
    assert list(tmp_path.iterdir()) == []


def test_interrupted_comparison_leaves_nothing(model, tmp_path, monkeypatch):
    def interrupted(*_):
        assert list(tmp_path.iterdir()) != []  # the place was found to be writable
        raise KeyboardInterrupt

    monkeypatch.setattr(comparison, "check", interrupted)
    with pytest.raises(KeyboardInterrupt):
        export(model, tmp_path / "m.tflite")
    assert list(tmp_path.iterdir()) == []

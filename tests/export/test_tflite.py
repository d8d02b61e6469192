"""LiteRT artifacts: every preset of every HSViT, what the report says, and what stops a conversion."""

import hashlib
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

import hsvit_keras
from hsvit_keras import model_files

if keras.backend.backend() != "tensorflow":
    pytest.skip("conversion needs the TensorFlow backend", allow_module_level=True)

from export import inspection, tflite
from hsvit_keras.artifacts import writing
from hsvit_keras.artifacts.lowering import lower

pytestmark = pytest.mark.tensorflow

RNG = np.random.default_rng(0)
VARIANTS = ["hsvit_c2a2", "hsvit_c3a4", pytest.param("hsvit_c4a8", marks=pytest.mark.slow)]


def save(model, folder):
    path = folder / "model.keras"
    model.save(path)
    return path


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A small HSViT that has seen digits, as a run of training leaves it."""
    from data_sets import load_dataset, sample_images

    folder = tmp_path_factory.mktemp("a run")
    images, _ = sample_images(
        load_dataset("digits", "train"), 64, image_shape=(32, 32, 1), mean=0.3, std=0.35
    )
    keras.utils.set_random_seed(0)
    model = hsvit_keras.create_model("hsvit_tiny", input_shape=(32, 32, 1))
    for _ in range(20):
        model(images, training=True)
    (folder / "config.json").write_text(json.dumps({"mean": [0.3], "std": [0.35]}))
    (folder / "labels.txt").write_text("".join(f"{digit}\n" for digit in range(10)))
    return save(model, folder)


def request(model, output, **options):
    return writing.Request(str(model), str(output), samples=16, **options)


@pytest.fixture(scope="module")
def artifacts():
    """Content of the three presets by (variant, side); made once, the models are large."""
    made = {}

    def make(name, side):
        if (name, side) not in made:
            keras.utils.set_random_seed(side)
            model = hsvit_keras.create_model(name, input_shape=(side, side, 3), num_classes=10)
            images = RNG.normal(size=(8, side, side, 3)).astype("float32")
            for _ in range(3):
                model(images, training=True)
            lowered = lower(model)
            contents = {preset: tflite.convert(lowered, preset) for preset in tflite.PRESETS}
            made[name, side] = contents, images, np.asarray(model(images, training=False))
        return made[name, side]

    return make


@pytest.mark.parametrize("preset", tflite.PRESETS)
@pytest.mark.parametrize("side", [32, 64])
@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_is_accelerated_whole_and_answers_alike(name, side, preset, artifacts):
    contents, images, expected = artifacts(name, side)
    found = inspection.inspect(contents[preset])
    assert found["partitions"] == 1
    assert found["fully_delegated"]
    assert found["undelegated_ops"] == found["custom_ops"] == found["flex_ops"] == []
    answer = tflite.runner(contents[preset])
    answers = np.concatenate([answer(image[None]) for image in images])
    cosine = np.sum(answers * expected) / np.linalg.norm(answers) / np.linalg.norm(expected)
    if preset == "float32":
        assert np.abs(answers - expected).max() <= 2e-5
    elif preset == "float16":
        assert len(contents[preset]) <= 0.52 * len(contents["float32"])
        assert cosine >= 0.9999
    else:
        assert len(contents[preset]) <= 0.32 * len(contents["float32"])
        assert cosine >= 0.999


def test_report(tiny, tmp_path):
    output = tmp_path / "tiny.tflite"
    report = tflite.export(request(tiny, output), "float32")
    assert report == json.loads((tmp_path / "tiny.json").read_text())
    content = output.read_bytes()
    assert report["bytes"] == len(content)
    assert report["sha256"] == hashlib.sha256(content).hexdigest()
    assert (report["preset"], report["runtime"]) == ("float32", None)
    assert report["input"]["shape"] == [1, 32, 32, 1]
    assert report["input"]["dtype"] == report["output"]["dtype"] == "float32"
    assert not report["input"]["pixels"]
    assert report["output"]["shape"] == [1, 10]
    assert report["partitions"] == 1
    assert report["fully_delegated"]
    assert report["undelegated_ops"] == report["flex_ops"] == []
    assert report["ops"]["CONV_2D"] == 4 + 8  # the stages, and the projections of two blocks
    assert report["minimum_runtime"]
    assert report["labels"] == [str(digit) for digit in range(10)]
    assert (tmp_path / "tiny.labels.txt").read_text().split() == report["labels"]
    parity = report["parity"]
    assert (parity["samples"], parity["data"], parity["top1_agreement"]) == (16, "digits", 1.0)
    assert parity["max_abs_diff"] <= 2e-5 * max(1, parity["largest_answer"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tiny.json", "tiny.labels.txt", "tiny.tflite"]


def test_pixels_in_the_artifact(tiny, tmp_path):
    output = tmp_path / "pixels.tflite"
    report = tflite.export(request(tiny, output, pixels=True), "float32")
    assert (report["input"]["pixels"], report["input"]["mean"], report["input"]["std"]) == (
        True,
        [0.3],
        [0.35],
    )
    pixels = RNG.integers(0, 256, (1, 32, 32, 1)).astype("float32")
    expected = np.asarray(model_files.load_model(tiny)((pixels / 255 - 0.3) / 0.35))
    answers = tflite.runner(output.read_bytes())(pixels)
    np.testing.assert_allclose(answers, expected, atol=2e-5 * max(1, np.abs(expected).max()))


def test_batch(tiny, tmp_path):
    report = tflite.export(request(tiny, tmp_path / "three.tflite", batch=3), "float32")
    assert report["input"]["shape"] == [3, 32, 32, 1]
    assert report["parity"]["samples"] == 15  # whole batches
    assert report["fully_delegated"]


def test_models_of_bare_operations(tmp_path):
    """`x / 2 + y` and `keras.ops` make operations that are no layers."""
    inputs = keras.Input((8, 8, 1))
    maps = keras.ops.relu(layers.Conv2D(4, 3, padding="same")(inputs / 2.0)) + inputs
    path = save(keras.Model(inputs, layers.Dense(3)(layers.Flatten()(maps))), tmp_path)
    report = tflite.export(request(path, tmp_path / "bare.tflite"), "float32")
    assert report["parity"]["top1_agreement"] == 1.0


def test_half_precision_models_are_compared_in_float32(tmp_path):
    path = save(hsvit_keras.create_model("hsvit_tiny", dtype="mixed_bfloat16"), tmp_path)
    report = tflite.export(request(path, tmp_path / "half.tflite"), "float32")
    assert report["parity"]["max_abs_diff"] <= 2e-5


def test_more_samples_than_images(tiny, tmp_path):
    asked = writing.Request(str(tiny), str(tmp_path / "all.tflite"), batch=2, samples=10_000)
    assert tflite.export(asked, "float32")["parity"]["samples"] == 354  # of 355, whole batches
    with pytest.raises(ValueError, match="--batch=400 is more than the 355 images of digits"):
        tflite.export(request(tiny, tmp_path / "b.tflite", batch=400), "float32")


def test_other_json_files_are_not_replaced(tiny, tmp_path):
    (tmp_path / "config.json").write_text('{"mean": 0.5}')
    with pytest.raises(ValueError, match=r"would replace .*config\.json, which is no report"):
        tflite.export(request(tiny, tmp_path / "config.tflite"))
    assert (tmp_path / "config.json").read_text() == '{"mean": 0.5}'


def test_tflite_and_onnx_have_reports_of_their_own(tiny, tmp_path):
    from export import onnx

    tflite.export(request(tiny, tmp_path / "m.tflite"), "float32")
    onnx.export(request(tiny, tmp_path / "m.onnx"))
    assert json.loads((tmp_path / "m.json").read_text())["artifact"] == "m.tflite"
    assert json.loads((tmp_path / "m.onnx.json").read_text())["artifact"] == "m.onnx"


def test_old_runtime(tiny, tmp_path):
    """2.16 refuses Dense layers quantized for each output apart; the others load there anyway."""
    new = tflite.export(request(tiny, tmp_path / "new.tflite"))
    old = tflite.export(request(tiny, tmp_path / "old.tflite"), runtime="2.16")

    def number(report):
        return tuple(int(part) for part in report["minimum_runtime"].split("."))

    assert number(new) > (2, 16) >= number(old)


def test_file_that_the_runtime_would_refuse_is_not_written(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(tflite, "_FIRST_WITH_PER_CHANNEL_DENSE", (2, 10))
    with pytest.raises(
        ValueError, match=r"not load on runtime 2\.16: .*FULLY_CONNECTED version 12 needs 2\.17"
    ):
        tflite.export(request(tiny, tmp_path / "m.tflite"), runtime="2.16")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("runtime", ["new", "2.3", ""])
def test_unknown_runtime(tiny, tmp_path, runtime):
    with pytest.raises(ValueError, match=f"'{runtime}'"):
        tflite.export(request(tiny, tmp_path / "m.tflite"), runtime=runtime)
    assert list(tmp_path.iterdir()) == []


def test_artifact_that_answers_differently_is_not_written(tiny, tmp_path, monkeypatch):
    monkeypatch.setitem(tflite.PRESETS, "dynamic", tflite.Preset("", {"cosine": 0.9999999}))
    with pytest.raises(ValueError, match=r"does not answer as Keras does.*Nothing was written"):
        tflite.export(request(tiny, tmp_path / "far.tflite"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("parity", "limits", "passes"),
    [
        ({"max_abs_diff": 1.9e-5, "largest_answer": 0.5}, {"max_abs_diff": 2e-5}, True),
        ({"max_abs_diff": 2.1e-5, "largest_answer": 0.5}, {"max_abs_diff": 2e-5}, False),
        ({"max_abs_diff": 1.9e-4, "largest_answer": 10}, {"max_abs_diff": 2e-5}, True),
        ({"max_abs_diff": 2.1e-4, "largest_answer": 10}, {"max_abs_diff": 2e-5}, False),
        ({"max_abs_diff": np.nan, "largest_answer": 10}, {"max_abs_diff": 2e-5}, False),
        ({"max_abs_diff": 9.0, "largest_answer": 10, "cosine": 0.9991}, {"cosine": 0.999}, True),
        ({"max_abs_diff": 0.1, "largest_answer": 10, "cosine": 0.9989}, {"cosine": 0.999}, False),
        ({"max_abs_diff": 0.1, "largest_answer": 10, "cosine": np.nan}, {"cosine": 0.999}, False),
    ],
)
def test_limits(parity, limits, passes):
    parity = {"samples": 8, "top1_agreement": 1.0, "cosine": 1.0, **parity}
    if passes:
        writing.check_parity(parity, limits)
    else:
        with pytest.raises(ValueError, match=r"on 100\.0% of 8 images"):
            writing.check_parity(parity, limits)


@keras.saving.register_keras_serializable("tests")
class Erf(layers.Layer):
    """An operation that LiteRT has no kernel for."""

    def call(self, inputs):
        return keras.ops.erfinv(inputs)


def test_flex_op_stops_the_conversion(tmp_path):
    inputs = keras.Input((8, 8, 1))
    model = keras.Model(inputs, layers.Dense(10)(layers.Flatten()(Erf()(inputs))))
    with pytest.raises(ValueError, match=r"LiteRT cannot hold this model: it has no op for tf\.Erfinv"):
        tflite.export(request(save(model, tmp_path), tmp_path / "flex.tflite"), "float32")
    assert not (tmp_path / "flex.tflite").exists()


WRONG = {
    "suffix": ({"output": "model.lite"}, "has to end in .tflite; received output=.*model.lite"),
    "folder": ({"output": "nowhere/model.tflite"}, "there is no folder .*nowhere"),
    "model": ({"model": "nothing.keras"}, "there is no model file .*nothing.keras"),
    "kind": ({"model": "config.json"}, "a model saved by Keras ends in .keras"),
    "std": ({"std": 0.0}, "std above 0; .* std=0.0"),
    "channels": ({"mean": [0.1, 0.2]}, "one for each of the 1 channels"),
    "labels": ({"labels": "short.txt"}, "short.txt names 2 classes, the model has 10"),
    "data": ({"data": "digit"}, "digit"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_options_are_named(name, tiny, tmp_path):
    options, message = WRONG[name]
    (tmp_path / "short.txt").write_text("one\ntwo\n")
    (tmp_path / "config.json").write_text("{}")
    options = {
        option: str(tmp_path / value) if option in ("output", "model", "labels") else value
        for option, value in options.items()
    }
    before = sorted(tmp_path.iterdir())
    asked = {"model": str(tiny), "output": str(tmp_path / "model.tflite"), "samples": 4, **options}
    with pytest.raises((ValueError, OSError), match=message):
        tflite.export(writing.Request(**asked))
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("kept", [0, 100, 20_000])
def test_truncated_model(kept, tiny, tmp_path):
    broken = tmp_path / "broken.keras"
    broken.write_bytes(tiny.read_bytes()[:kept])
    with pytest.raises(ValueError, match=r"broken.keras is damaged or no Keras model"):
        tflite.export(request(broken, tmp_path / "model.tflite"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broken.keras"]


def test_a_model_of_something_else(tmp_path):
    inputs = keras.Input((8,))
    path = save(keras.Model(inputs, layers.Dense(3)(inputs)), tmp_path)
    with pytest.raises(ValueError, match=r"has to classify images.*\(None, 8\)"):
        tflite.export(request(path, tmp_path / "model.tflite"))


def command(*arguments, **settings):
    return [sys.executable, "-m", "export.tflite", *(f"--{key}={value}" for key, value in settings.items())]


def test_command(tiny, tmp_path):
    """What a user types, in a process of its own; answers of the artifact in another."""
    output = tmp_path / "with space" / "tiny.tflite"
    output.parent.mkdir()
    result = subprocess.run(
        command(model=tiny, output=output, samples=8), capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    assert "dynamic" in result.stdout and "1 partition" in result.stdout and "cosine" in result.stdout
    assert output.with_suffix(".json").is_file()


def test_command_on_another_backend(tiny, tmp_path):
    result = subprocess.run(
        command(model=tiny, output=tmp_path / "m.tflite"),
        capture_output=True, text=True, check=False,
        env={"PATH": "", "KERAS_BACKEND": "jax", "PYTHONPATH": str(pathlib.Path.cwd())},
    )  # fmt: skip
    assert result.returncode == 1
    assert result.stderr.splitlines() == [
        "error: this needs Keras on tensorflow, and Keras runs on jax: "
        "set the environment variable KERAS_BACKEND=tensorflow"
    ]


@pytest.mark.parametrize("when", ["early", "late"])
def test_interrupted_conversion_leaves_nothing(tiny, tmp_path, when):
    process = subprocess.Popen(command(model=tiny, output=tmp_path / "m.tflite", samples=300))
    deadline = time.monotonic() + 60
    while not list(tmp_path.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0 if when == "early" else 1.5)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) != 0
    assert list(tmp_path.iterdir()) == []

"""The layer whose quantization costs most is found, and the numbers are those of the models they speak of."""

import json

import keras
import numpy as np
import pytest
from keras import layers

import hsvit_keras
from data_sets import load_dataset
from hsvit_keras.layers.model_description import describe
from hsvit_keras.tasks import task_named
from hsvit_runtime.errors import InputError
from tests.command_line.in_process import call
from training import sensitivity as command
from training.compressing.layer_sensitivity import sensitivity, table

CLASSIFICATION = task_named("classification")


def model_with_an_outlier():
    """`coarse` makes one channel a thousand times as large as the others, `rescaled` takes that away."""
    model = keras.Sequential(
        [
            keras.Input((4,)),
            layers.Dense(4, name="fine", use_bias=False),
            layers.Dense(4, name="coarse", use_bias=False),
            layers.Dense(3, name="rescaled", use_bias=False),
        ]
    )
    rng = np.random.default_rng(0)
    first, last = rng.normal(size=(2, 4, 4)).astype("float32")
    scales = np.array([1000, 1, 1, 1], "float32")
    model.set_weights([first, np.diag(scales), (last / scales[:, None])[:, :3]])
    return model


@pytest.mark.slow_on_jax
def test_the_layer_with_the_outlier_is_the_worst():
    model = model_with_an_outlier()
    images = np.random.default_rng(1).normal(size=(200, 4)).astype("float32")
    labels = model.predict(images, verbose=0).argmax(-1)
    labels[:50] = (labels[:50] + 1) % 3  # wrong ones
    progress = []
    report = sensitivity(
        model, np.split(images, 4), images, labels, CLASSIFICATION,
        progress=lambda *done: progress.append(done),
    )  # fmt: skip
    assert report["accuracy"] == 0.75
    assert report["layers"][0]["layer"] == "coarse"
    assert {row["layer"] for row in report["layers"]} == {"fine", "coarse", "rescaled"}
    noises = [row["noise"] for row in report["layers"]]
    assert noises == sorted(noises, reverse=True) and noises[0] > 10 * noises[-1]
    assert progress == [(1, 3), (2, 3), (3, 3)]
    assert {row["kind"] for row in report["layers"]} == {"Dense"}

    # Whoever leaves the worst one out gets what is left of the noise.
    spared = hsvit_keras.quantize_aware(model, skip=["coarse", "rescaled"])
    hsvit_keras.calibrate(spared, np.split(images, 4))
    expected = model.predict(images, verbose=0)
    noise = np.sqrt(np.mean((spared.predict(images, verbose=0) - expected) ** 2) / np.mean(expected**2))
    (fine,) = (row for row in report["layers"] if row["layer"] == "fine")
    assert fine["noise"] == pytest.approx(noise, rel=1e-3)
    assert report["quantized"]["noise"] > noises[0] / 2

    lines = table(report, CLASSIFICATION.metric, worst=1).splitlines()
    assert len(lines) == 4
    assert lines[1].startswith("all layers") and lines[2].startswith("coarse") and "75.00%" in lines[3]


@pytest.mark.slow
def test_of_several_outputs_the_one_that_changes_most_counts():
    """A detector's classes alone come through the coarse layer, see `model_with_an_outlier`."""
    trunk = model_with_an_outlier()
    inputs = keras.Input((4,))
    hidden = trunk.get_layer("fine")(inputs)
    coarse = layers.Dense(4, name="coarse", use_bias=False)(hidden)
    logits = layers.Dense(6, name="classes")(coarse)
    boxes = layers.Activation("sigmoid")(layers.Dense(8, name="corners")(hidden))
    outputs = {
        "logits": layers.Reshape((2, 3), name="logits")(logits),
        "boxes": layers.Reshape((2, 4), name="boxes")(boxes),
    }
    model = keras.Model(inputs, outputs)
    model.get_layer("coarse").set_weights(trunk.get_layer("coarse").get_weights())
    kernel, bias = model.get_layer("classes").get_weights()
    model.get_layer("classes").set_weights([kernel / 1000, bias])
    images = np.random.default_rng(1).normal(size=(40, 4)).astype("float32")
    labels = np.tile(np.float32([1, 0.5, 0.5, 0.2, 0.2, 0]), (40, 1, 1))  # one box in each image
    report = sensitivity(model, np.split(images, 4), images, labels, task_named("detection"))
    assert 0 <= report["ap"] <= 1 and 0 <= report["quantized"]["ap"] <= 1
    expected = model.predict(images, verbose=0)
    for row in report["layers"]:
        others = {"fine", "coarse", "classes", "corners"} - {row["layer"]}
        alone = hsvit_keras.quantize_aware(model, skip=sorted(others))
        hsvit_keras.calibrate(alone, np.split(images, 4))
        found = alone.predict(images, verbose=0)
        noise = {
            name: np.sqrt(np.mean((found[name] - expected[name]) ** 2) / np.mean(expected[name] ** 2))
            for name in ("logits", "boxes")
        }
        # The report takes the ranges that all layers together would have, which differ a little.
        assert row["noise"] == pytest.approx(max(noise.values()), rel=0.05)


@pytest.mark.slow_on_jax
def test_the_command(tmp_path, capsys):
    image = keras.Input((8, 8, 1))
    hidden = layers.Dense(12, "relu", name="hidden")(layers.Flatten()(image))
    model = keras.Model(image, layers.Dense(10, name="head")(hidden), name="small")
    model = describe(model, task="classification", data_set="digits", input_range=(0, 255))
    model.save(tmp_path / "model.keras")
    output = tmp_path / "sensitivity.json"
    arguments = [f"--model={tmp_path / 'model.keras'}", f"--output={output}"]
    call(command, *arguments, "--calibration_samples=64", "--samples=50", "--worst=2")
    report = json.loads(output.read_text())
    assert (report["data"], report["scheme"]) == ("digits", "int8")
    assert {row["layer"] for row in report["layers"]} == {"hidden", "head"}
    assert report["layers"][0]["layer"] in capsys.readouterr().out

    hsvit_keras.quantize_aware(model).save(tmp_path / "model.keras")
    with pytest.raises(InputError, match="'small' is quantized already"):
        call(command, *arguments)


def test_a_model_that_does_not_say_its_pixels_needs_a_flag(tmp_path):
    model = keras.Sequential([keras.Input((8, 8, 1)), layers.Flatten(), layers.Dense(10, name="only")])
    model.save(tmp_path / "model.keras")
    arguments = [f"--model={tmp_path / 'model.keras'}", f"--output={tmp_path / 'sensitivity.json'}"]
    with pytest.raises(InputError, match="the model does not say its data set: name it by --data"):
        call(command, *arguments)
    with pytest.raises(InputError, match="give those of black and white by --input_range"):
        call(command, *arguments, "--data=digits")
    call(command, *arguments, "--data=digits", "--input_range=-1,1")
    found = json.loads((tmp_path / "sensitivity.json").read_text())
    digits = load_dataset("digits", "test")
    logits = model.predict_on_batch(digits.images.astype("float32") / 127.5 - 1)
    assert found["accuracy"] == pytest.approx((logits.argmax(1) == digits.labels).mean(), abs=1e-6)


@pytest.mark.once
def test_outputs_without_names_are_refused(tmp_path):
    image = keras.Input((8, 8, 1))
    features = layers.Flatten()(image)
    keras.Model(image, [layers.Dense(3)(features), layers.Dense(2)(features)]).save(tmp_path / "m.keras")
    with pytest.raises(
        InputError, match=r"has to give one output, and its outputs are \[\(None, 3\), \(None, 2\)\]"
    ):
        call(command, f"--model={tmp_path}/m.keras", f"--output={tmp_path}/s.json", "--data=digits")

"""The layer whose quantization costs most is found, and the numbers are those of the models they speak of."""

import json
import pathlib
import subprocess
import sys

import keras
import numpy as np
import pytest
from keras import layers

import hsvit_keras
from training.sensitivity import sensitivity, table

ROOT = pathlib.Path(__file__).parents[2]


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


def test_the_layer_with_the_outlier_is_the_worst():
    model = model_with_an_outlier()
    images = np.random.default_rng(1).normal(size=(200, 4)).astype("float32")
    labels = model.predict(images, verbose=0).argmax(-1)
    labels[:50] = (labels[:50] + 1) % 3  # wrong ones
    progress = []
    report = sensitivity(
        model, np.split(images, 4), images, labels, progress=lambda *done: progress.append(done)
    )
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

    lines = table(report, worst=1).splitlines()
    assert len(lines) == 4
    assert lines[1].startswith("all layers") and lines[2].startswith("coarse") and "75.00%" in lines[3]


@pytest.mark.slow
def test_the_command(tmp_path):
    model = hsvit_keras.create_model("hsvit_tiny", input_shape=(8, 8, 1), filters=(8,), pool_strides=(2,))
    model.save(tmp_path / "model.keras")
    command = [sys.executable, "-m", "training.sensitivity", f"--model={tmp_path}/model.keras"]
    output = tmp_path / "sensitivity.json"
    done = subprocess.run(
        [*command, f"--output={output}", "--calibration_samples=64", "--samples=50", "--worst=2"],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = json.loads(output.read_text())
    assert (report["data"], report["scheme"]) == ("digits", "int8")
    kinds = hsvit_keras.SCHEMES["int8"].integer
    assert len(report["layers"]) == sum(type(layer) in kinds for layer in model.layers)
    assert report["layers"][0]["layer"] in done.stdout

    hsvit_keras.quantize_aware(model).save(tmp_path / "model.keras")
    done = subprocess.run([*command, f"--output={output}"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1
    assert "error: 'hsvit_tiny' is quantized already" in done.stderr

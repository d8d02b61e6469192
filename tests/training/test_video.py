"""A model of clips is trained, compressed, converted, measured and shown by the same commands as others."""

import json

import keras
import numpy as np
import pytest
from PIL import Image

from data_sets import load_dataset, sample_images
from hsvit_keras.layers.model_description import description_of
from hsvit_runtime.tflite_model import TFLiteModel
from tests.command_line.in_process import call
from training import compress, train

pytestmark = [pytest.mark.once, pytest.mark.exhaustive, pytest.mark.tensorflow]

SHAPE = (4, 12, 12, 1)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run of one epoch on clips of half the size, its model in 8 bits, and artifacts of both."""
    from export import tflite

    folder = tmp_path_factory.mktemp("video")
    call(
        train, "--config=training/configs/digits_video.py", f"--workdir={folder}",
        f"--config.image_shape={SHAPE}", "--config.model_arguments.depth=1", "--config.epochs=1",
        "--config.warmup_epochs=0", "--config.batch_size=100", "--config.train_images=400",
    )  # fmt: skip
    call(
        compress, f"--model={folder / 'best.keras'}", f"--output={folder / 'small.keras'}",
        "--step=slim heads=0.5 mlp_units=0.5 epochs=0", "--step=quantize epochs=0 images=64",
    )  # fmt: skip
    for name, preset in (("best", "float32"), ("small", "int8")):
        call(
            tflite, f"--model={folder / name}.keras", f"--preset={preset}",
            f"--output={folder / preset}.tflite", "--allow_loss",
        )  # fmt: skip
    return folder


def accuracy(path):
    """By its definition, on the test part."""
    digits = load_dataset("digits_video", "test")
    clips, labels = sample_images(digits, len(digits), image_shape=SHAPE)
    predicted = keras.models.load_model(path).predict(clips, batch_size=100, verbose=0).argmax(-1)
    return np.mean(predicted == labels)


def test_the_run(run):
    summary = json.loads((run / "summary.json").read_text())
    assert summary["task"]["name"] == "video_classification" and summary["images"]["test"] == 355
    assert summary["test"]["accuracy"] == pytest.approx(accuracy(run / "best.keras"), abs=1e-5)
    description = description_of(keras.models.load_model(run / "best.keras"))
    assert (description.task, description.data_set) == ("video_classification", "digits_video")
    with Image.open(run / "samples.png") as picture:  # a row for each clip
        assert picture.height > picture.width / 2


def test_artifacts_take_clips(run):
    for preset in ("float32", "int8"):
        report = json.loads((run / f"{preset}.json").read_text())
        assert report["inputs"][0]["shape"] == [1, *SHAPE]
        assert (report["partitions"], report["flex_ops"]) == (1, [])
        assert report["task"]["name"] == "video_classification"
    clips = load_dataset("digits_video", "test").images[:20, ::2, ::2, ::2].astype("float32")
    model = TFLiteModel(run / "float32.tflite")
    assert model.description.class_names == ("right", "left", "down", "up", "turning left", "turning right")
    logits = keras.models.load_model(run / "best.keras").predict(clips, verbose=0)
    expected = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    np.testing.assert_allclose(model.predict_only(clips), expected, atol=1e-4)


def test_benchmark_and_report(run):
    from export import benchmark, report

    call(
        benchmark, f"--original={run / 'best.keras'}", f"--mobile={run / 'float32.tflite'}",
        "--images=40", "--blocks=2", "--runs=2", f"--output={run / 'benchmark.json'}",
    )  # fmt: skip
    measured = json.loads((run / "benchmark.json").read_text())
    assert measured["task"]["name"] == "video_classification"
    assert measured["pairs"][0]["agreement"]["top1_agreement"] == 1.0
    call(report, f"--workdir={run}", f"--output={run / 'report.html'}")
    page = (run / "report.html").read_text()
    assert "1 × 4 × 12 × 12 × 1" in page and "digits_video" in page


def test_bundle_stores_frames_below_each_other(run):
    from export import bundle, tflite

    call(
        tflite, f"--model={run / 'best.keras'}", "--preset=dynamic", "--runtime=2.16",
        f"--output={run / 'app.tflite'}", "--allow_loss",
    )  # fmt: skip
    call(
        bundle, f"--original={run / 'best.keras'}", f"--mobile={run / 'app.tflite'}", "--images=3",
        f"--output={run / 'bundle'}",
    )  # fmt: skip
    told = json.loads((run / "bundle" / "bundle.json").read_text())
    original = TFLiteModel(run / "bundle" / "original.tflite")
    rows = np.fromfile(run / "bundle" / told["models"][0]["reference"]["file"], "<f4").reshape(3, -1)
    for image, outputs in zip(told["images"], rows, strict=True):
        pixels = np.asarray(Image.open(run / "bundle" / image["file"]))
        assert pixels.shape == (SHAPE[0] * SHAPE[1], SHAPE[2])
        given = pixels.reshape(1, *SHAPE).astype("float32")
        np.testing.assert_allclose(original.predict_only(given)[0], outputs, atol=1e-4)

"""A model for another task is trained and quantized by the same commands: a U-Net that segments digits."""

import json

import keras
import numpy as np
import pytest

from data_sets import load_dataset, sample_images
from hsvit_keras.compression.quantization import is_quantized
from hsvit_keras.layers.model_description import description_of
from tests.command_line.in_process import call
from training import compress, sensitivity, train

pytestmark = pytest.mark.once  # JAX trains in test_train, and compresses in test_compress

SIZE = 16


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run of one epoch at half the size, and its model in 8 bits."""
    folder = tmp_path_factory.mktemp("segmentation")
    call(
        train, "--config=training/configs/digits_segmentation.py", f"--workdir={folder}",
        f"--config.image_shape=({SIZE}, {SIZE}, 1)", "--config.model_arguments.filters=(4, 8)",
        "--config.epochs=1", "--config.batch_size=100", "--config.augmentation=()",
    )  # fmt: skip
    call(
        compress, f"--model={folder / 'best.keras'}", f"--output={folder / 'small.keras'}",
        "--step=quantize epochs=0 images=64",
    )  # fmt: skip
    return folder


def mean_iou(path):
    """By its definition, over the classes that occur, on the test part."""
    digits = load_dataset("digits_segmentation", "test")
    images, masks = sample_images(digits, len(digits), image_shape=(SIZE, SIZE, 1))
    predicted = keras.models.load_model(path).predict(images, batch_size=100, verbose=0).argmax(-1)
    ratios = []
    for one in range(11):
        union = ((predicted == one) | (masks == one)).sum()
        if union:
            ratios.append(((predicted == one) & (masks == one)).sum() / union)
    return np.mean(ratios)


@pytest.mark.slow
def test_the_run_records_the_metric_of_its_task(run):
    rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    assert {"loss", "mean_iou", "val_loss", "val_mean_iou"} <= set(rows[0])
    assert not any("accuracy" in name for name in rows[0])
    summary = json.loads((run / "summary.json").read_text())
    assert summary["validation"] == {"part": "train, 10 %, seed 0", "metric": "mean_iou"}
    assert summary["images"] == {"train": 1298, "validation": 144, "test": 355}
    assert summary["test"]["mean_iou"] == pytest.approx(mean_iou(run / "best.keras"), abs=1e-5)
    assert summary["test"]["loss"] < np.log(11)


@pytest.mark.slow
def test_the_model_says_what_it_is_for(run):
    description = description_of(keras.models.load_model(run / "best.keras"))
    assert (description.task, description.data_set) == ("segmentation", "digits_segmentation")
    assert description.class_names == ("background", *"0123456789")


@pytest.mark.slow
def test_compression_measures_the_same_metric(run):
    report = json.loads((run / "small.compress.json").read_text())
    original, quantized = report["steps"]
    assert original["mean_iou"] == json.loads((run / "summary.json").read_text())["test"]["mean_iou"]
    assert quantized["mean_iou"] == pytest.approx(mean_iou(run / "small.keras"), abs=1e-5)
    assert quantized["bytes"] < 0.5 * original["bytes"]
    model = keras.models.load_model(run / "small.keras")
    assert is_quantized(model) and description_of(model).task == "segmentation"


@pytest.mark.slow
def test_sensitivity_measures_the_same_metric(run):
    call(sensitivity, f"--model={run / 'best.keras'}", f"--output={run / 'sensitivity.json'}", "--samples=20")
    report = json.loads((run / "sensitivity.json").read_text())
    assert {"layer", "kind", "mean_iou", "noise"} == set(report["layers"][0])


@pytest.mark.exhaustive
def test_the_recipe_finds_digits(tmp_path):
    """The whole recipe, as README shows it."""
    call(train, "--config=training/configs/digits_segmentation.py", f"--workdir={tmp_path}")
    assert json.loads((tmp_path / "summary.json").read_text())["test"]["mean_iou"] > 0.7

"""Detectors are trained, compressed and judged by the same commands as classifiers."""

import json

import numpy as np
import pytest

from data_sets import load_dataset, sample_images
from hsvit_keras.layers.model_description import description_of
from hsvit_keras.model_files import load_model
from hsvit_keras.tasks import task_named
from hsvit_runtime.errors import InputError
from tests.command_line.in_process import call
from training import train
from training.configs import digits_detection
from training.fitting import fit
from training.fitting.augmentation import Augmentation
from training.fitting.run import train as train_config

SMALL = {
    "backbone": "resnet18",
    "backbone_arguments": {
        "stem_filters": 4, "filters": (4, 8, 8), "depths": (1, 1, 1), "strides": (1, 2, 2),
    },
    "num_levels": 2, "hidden_dim": 16, "num_heads": 2, "encoder_layers": 1, "decoder_layers": 2,
    "mlp_dim": 16, "num_queries": 10, "group_norm_groups": 4,
}  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run of two epochs on few scenes."""
    folder = tmp_path_factory.mktemp("detection") / "run"
    config = digits_detection.get_config()
    config.model_arguments = SMALL
    config.train_images, config.epochs, config.batch_size = 60, 2, 16
    config.validation = {"share": 0.2, "seed": 0}
    train_config(config, folder)
    return folder


@pytest.mark.exhaustive
@pytest.mark.once
def test_a_run_judges_each_epoch_by_all_detections(run):
    rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    names = {"loss", "val_loss", "val_ap", "val_ap50", "val_ap75"}
    assert all(names <= set(row) and "ap" not in row for row in rows)
    summary = json.loads((run / "summary.json").read_text())
    assert summary["task"]["metric"]["name"] == "ap"
    assert (run / "samples.png").is_file() and (run / "curves.png").is_file()
    model = load_model(run / "best.keras")
    description = description_of(model)
    assert (description.task, description.class_names) == ("detection", tuple("0123456789"))
    scenes = load_dataset("digits_detection", "test")
    images, labels = sample_images(scenes, len(scenes), image_shape=(64, 64, 1))
    found = task_named("detection").evaluate(model.predict(images, batch_size=100, verbose=0), labels)
    for name in ("ap", "ap50", "ap75"):
        assert summary["test"][name] == pytest.approx(found[name], abs=1e-3)


@pytest.mark.exhaustive
@pytest.mark.tensorflow
def test_detectors_of_keras_cv_are_trained_by_the_same_command(tmp_path):
    pytest.importorskip("keras_cv")
    call(
        train, "--config=training/configs/digits_detection.py", f"--workdir={tmp_path / 'run'}",
        "--config.model=yolo_v8_xs", "--config.model_arguments.channels=(4, 4, 8, 8)", "--config.epochs=1",
        "--config.model_arguments.depths=(1, 1, 1, 1)", "--config.train_images=40", "--config.batch_size=16",
        "--config.validation.share=0.2", "--config.warmup_epochs=0",
    )  # fmt: skip
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["task"]["name"] == "dense_detection"
    assert np.isfinite(summary["test"]["loss"]) and "ap50" in summary["test"]
    assert description_of(load_model(tmp_path / "run" / "best.keras")).task == "dense_detection"


@pytest.mark.once
def test_what_would_leave_boxes_behind_is_refused():
    task = task_named("detection")
    augment = Augmentation([("RandomRotation", {"factor": 0.1})], task, 10)
    with pytest.raises(InputError, match=r"RandomRotation would leave boxes where they were; .* RandomFlip"):
        augment.try_out((8, 8, 1), np.zeros((1, 1, 6), np.float32))
    mirrored = Augmentation([("RandomFlip", {"mode": "horizontal"})], task, 10)
    labels = np.array([[[1, 0.25, 0.5, 0.1, 0.2, 0]]], np.float32)
    rng = np.random.default_rng(0)
    centers = {float(mirrored(np.zeros((1, 8, 8, 1)), labels, rng)[1][0, 0, 1]) for _ in range(20)}
    assert centers == {0.25, 0.75}


def test_detectors_learn_from_labels_alone():
    values = {"distillation": {"teachers": ["big.keras"]}}
    with pytest.raises(
        InputError, match=r"teachers=\('big.keras',\): models for detection learn from labels"
    ):
        fit.learner(None, values, task_named("detection"))

"""The command that measures the data pipeline, beside torchvision's where that is installed."""

import importlib.util
import json

import numpy as np
import pytest
from absl import flags
from PIL import Image

from data_sets import load_dataset
from tests.command_line.in_process import call
from training import data_throughput
from training.speed import photos, torchvision_pipeline
from training.speed.turns import Worker

pytestmark = pytest.mark.once


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "config.py"
    path.write_text(
        "from training.configs import digits\n"
        "def get_config():\n"
        "    config = digits.get_config()\n"
        "    config.image_shape = (16, 16, 3)\n"
        "    config.batch_size = 8\n"
        "    config.augmentation = (('RandomFlip', {'mode': 'horizontal'}),)\n"
        "    return config\n"
    )
    return path


def test_photos_are_class_folders_of_detailed_jpegs(tmp_path):
    mean_bytes = photos.write_photos(tmp_path, 12, (500, 375))
    train, test = (load_dataset("folder", split, tmp_path) for split in ("train", "test"))
    assert (len(train), len(test), len(train.class_names)) == (12, 10, 10)
    assert train.image_shape == (375, 500, 3)
    # ImageNet's photos of this size have about 110 KB.
    assert 70_000 < mean_bytes < 150_000
    with Image.open(train.images.paths[0]) as image:
        assert image.format == "JPEG"
        levels = np.asarray(image)
    assert 30 < levels.std() < 70
    assert np.mean((levels == 0) | (levels == 255)) < 0.05


@pytest.mark.slow
def test_the_command_measures_each_number_of_workers(tmp_path, config, capsys, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)  # no torchvision
    output = tmp_path / "speed.json"
    call(
        data_throughput, f"--config={config}", "--images=20", "--size=40,30", "--workers=0,2",
        "--repetitions=3", f"--output={output}",
    )  # fmt: skip
    report = json.loads(output.read_text())
    assert [(one["pipeline"], one["workers"]) for one in report["results"]] == [
        ("hsvit_keras", 0), ("hsvit_keras", 2),
    ]  # fmt: skip
    for one in report["results"]:
        for key in ("images_per_second", "images_per_cpu_second"):
            speeds = sorted(measurement[key] for measurement in one["measurements"])
            assert len(speeds) == 3 and speeds[0] > 0
            assert one[key] == pytest.approx(speeds[1], abs=0.01)
    assert report["size"] == [40, 30] and report["batch_size"] == 8
    assert report["device"]["cpu"]["architecture"]
    said = capsys.readouterr().out
    assert "torchvision is not measured: torch and torchvision are not installed" in said
    assert "hsvit_keras        2" in said


def test_ratios_are_those_of_as_many_workers():
    results = [
        {"pipeline": name, "workers": workers, "images_per_second": speed, "images_per_cpu_second": speed / 2}
        for name, workers, speed in (
            ("hsvit_keras", 0, 300.0), ("torchvision", 0, 200.0),
            ("hsvit_keras", 2, 500.0), ("torchvision", 2, 400.0),
        )
    ]  # fmt: skip
    lines = [line.split() for line in data_throughput.table({"results": results}).splitlines()]
    assert lines[1] == ["hsvit_keras", "0", "300", "1.50", "150", "1.50"]
    assert lines[3] == ["hsvit_keras", "2", "500", "1.25", "250", "1.25"]
    alone = data_throughput.table({"results": results[:1]}).splitlines()
    assert alone[1].split() == ["hsvit_keras", "0", "300", "-", "150", "-"]


def test_recipe_without_counterpart_is_measured_alone(monkeypatch, capsys):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    flip = ("RandomFlip", {"mode": "horizontal"})
    assert data_throughput._pipelines([flip]) == ("hsvit_keras", "torchvision")
    assert data_throughput._pipelines([flip, ("MixUp", {}), ("RandomHue", {})]) == ("hsvit_keras",)
    assert "the recipe has MixUp, RandomHue, which is not compared" in capsys.readouterr().out


@pytest.mark.skipif(not importlib.util.find_spec("torchvision"), reason="torchvision is not installed")
@pytest.mark.parametrize(
    "table",
    [
        [("RandomFlip", {"mode": "horizontal"}), ("TrivialAugmentWide", {"interpolation": "bilinear"})],
        [
            ("RandomResizedCrop", {"area": (0.5, 1.0), "aspect": (0.9, 1.1), "interpolation": "bicubic"}),
            ("RandAugment", {"num_ops": 1, "magnitude": 5}),
        ],
    ],
)
def test_torchvision_reads_the_same_files(tmp_path, table):
    """In a process of its own, since PyTorch and TensorFlow do not always get along in one."""
    photos.write_photos(tmp_path, 20, (60, 40))
    values = {"image_shape": (32, 32, 3), "batch_size": 8, "num_workers": 0, "augmentation": table}
    assert torchvision_pipeline.operations_without_counterpart(table) == []
    job = {"pipeline": "torchvision", "folder": str(tmp_path), "values": values}
    with Worker("training.speed.data_worker", job, "torchvision", {}) as worker:
        worker.measure()
    assert worker.measurements[0]["images_per_second"] > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--workers=0,x"], "--workers=0,x: invalid literal for int"),
        (["--workers="], "a list without gaps is needed, separated by commas"),
        (["--size=500"], "--size=500: 2 values are needed, separated by commas"),
        (["--size=500,0"], r"--size=500,0: 0 is not an integer in the range \[1, 16384\]"),
    ],
)
def test_bad_input_is_named(tmp_path, config, arguments, message):
    with pytest.raises(flags.Error, match=message):
        call(data_throughput, f"--config={config}", f"--output={tmp_path / 'speed.json'}", *arguments)

"""Which files are compared under which names, and what cannot be compared."""

import dataclasses
import pathlib
import types

import pytest

from export.choosing import models
from hsvit_keras.tasks import TASKS
from hsvit_runtime.resizing import Resizing

pytestmark = pytest.mark.once

MODEL = models.Model(
    "a", pathlib.Path("a.keras"), "0", TASKS["classification"], "digits", (8, 8, 1), None, ("x", "y"), 2, 10
)


def test_files_of_one_name_are_called_by_their_folders():
    paths = ["runs/one/best.keras", "runs/two/best.keras", "other.keras"]
    assert list(models.named(paths)) == ["one", "two", "other"]
    assert models.named(paths)["two"] == pathlib.Path("runs/two/best.keras")


@pytest.mark.parametrize("paths", [["a/r/best.keras", "b/r/best.keras"], ["a.keras", "a.keras"]])
def test_two_models_of_one_name(paths):
    with pytest.raises(ValueError, match="--models: 2 models would be called"):
        models.named(paths)


def make_run(folder, *names):
    folder.mkdir(parents=True)
    for name in names:
        (folder / name).write_text("{}")


def test_finished_runs_are_taken(tmp_path):
    make_run(tmp_path / "hsvit", "best.keras", "summary.json")
    make_run(tmp_path / "cct" / "seed 1", "best.keras", "summary.json")
    make_run(tmp_path / "going on", "best.keras")
    make_run(tmp_path / "just begun")
    found, unfinished = models.of_runs(tmp_path)
    assert found == {
        "cct_seed 1": tmp_path / "cct" / "seed 1" / "best.keras",
        "hsvit": tmp_path / "hsvit" / "best.keras",
    }
    assert unfinished == ["going on"]


def test_no_runs(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"--runs=.*missing is no folder"):
        models.of_runs(tmp_path / "missing")
    make_run(tmp_path / "going on", "best.keras")
    with pytest.raises(
        ValueError, match=r"holds no finished run: a folder with best\.keras and summary\.json"
    ):
        models.of_runs(tmp_path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"data_set": "cifar10"},
            "a is for classification of digits and b for classification of cifar10: what",
        ),
        (
            {"task": TASKS["segmentation"]},
            "a is for classification of digits and b for segmentation of digits",
        ),
        ({"image_shape": (16, 16, 1)}, r"a takes images \(8, 8, 1\) and b \(16, 16, 1\)"),
        ({"resizing": Resizing(size=12)}, "a and b want pictures resized in different ways"),
    ],
)
def test_what_cannot_be_compared(changes, message):
    other = dataclasses.replace(MODEL, name="b", **changes)
    with pytest.raises(ValueError, match=message):
        models.check_comparable([MODEL, dataclasses.replace(MODEL, name="c"), other])


def test_a_task_without_a_metric():
    with pytest.raises(ValueError, match="a is for regression, which has no metric"):
        models.check_comparable([dataclasses.replace(MODEL, task=TASKS["regression"])])


def test_other_classes():
    dataset = types.SimpleNamespace(name="digits", labels_fit=lambda names, count: names == ("x", "y"))
    models.check_labels([MODEL], dataset)
    with pytest.raises(ValueError, match="b has other classes than digits, so that its accuracy there"):
        models.check_labels([MODEL, dataclasses.replace(MODEL, name="b", class_names=("y", "x"))], dataset)

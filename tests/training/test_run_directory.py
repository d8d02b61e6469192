"""The folder of a run is whole whenever the run is killed."""

import json
import pathlib
import subprocess
import sys

import keras
import numpy as np
import pytest
from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader

from hsvit_keras.tasks import Measure
from hsvit_runtime.errors import FileError, InputError
from training.run_files import curves
from training.run_files.run_directory import RunDirectory

CONFIG = {"epochs": 3, "model_arguments": {"depth": 2}}
ACCURACY = Measure("accuracy", "Accuracy")
ERROR = Measure("error", "Error", higher_is_better=False, is_share=False)


@pytest.mark.parametrize("name", ["config.json", "run.json", "best.keras", "metrics.jsonl", "summary.json"])
def test_files_of_others_are_kept(tmp_path, name):
    (tmp_path / name).write_text('{"mine": 1}')
    with pytest.raises(FileError, match=rf"{name}.* would be lost; choose another"):
        RunDirectory(tmp_path).check_config(CONFIG)
    assert (tmp_path / name).read_text() == '{"mine": 1}'


class Killed(BaseException):
    """What no handler of errors catches, like a signal."""


def make_model():
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1, kernel_initializer="zeros")])
    model.compile(keras.optimizers.AdamW(0.1), "mse")
    model.optimizer.build(model.trainable_variables)
    return model


def make_row(epoch, val_accuracy=0.5):
    return {
        "epoch": epoch,
        "step": 10 * epoch,
        "loss": 1 / epoch,
        "accuracy": 0.25,
        "val_loss": 2 / epoch,
        "val_accuracy": val_accuracy,
        "learning_rate": 1e-3,
        "images_per_second": 100.0,
        "seconds": 1.5,
    }


def start(path, model=None):
    run = RunDirectory(path)
    run.start(CONFIG, model or make_model(), ACCURACY)
    return run


def finish_epoch(run, model, epoch, val_accuracy=0.5):
    """An epoch whose number is the model's weight."""
    model.set_weights([np.full((2, 1), epoch), np.zeros(1)])
    run.finish_epoch(model, make_row(epoch, val_accuracy), lambda: model)


def epoch_in(path):
    return keras.models.load_model(path).get_weights()[0][0, 0]


def metrics(path):
    return [json.loads(line) for line in (path / "metrics.jsonl").read_text().splitlines()]


def event_points(folder):
    """{tag: [(step, value), ...]} of all event files."""
    points = {}
    for file in sorted(folder.iterdir()):
        for event in LegacyEventFileLoader(str(file)).Load():
            for value in event.summary.value:
                points.setdefault(value.tag, []).append((event.step, value.simple_value))
    return points


def test_a_new_run_has_its_config(tmp_path):
    run = start(tmp_path / "deep" / "run")
    assert json.loads((run.path / "config.json").read_text()) == CONFIG
    assert run.rows == [] and metrics(run.path) == []
    assert run.summary() is None


def test_epochs_are_on_record(tmp_path):
    model = make_model()
    run = start(tmp_path, model)
    for epoch in (1, 2):
        finish_epoch(run, model, epoch)
    assert metrics(tmp_path) == [make_row(1), make_row(2)]
    assert epoch_in(tmp_path / "last.keras") == 2
    points = event_points(tmp_path / "tensorboard")
    assert points["loss/train"] == [(1, 1.0), (2, 0.5)]
    assert points["loss/validation"] == [(1, 2.0), (2, 1.0)]
    assert points["accuracy/validation"] == [(1, 0.5), (2, 0.5)]
    assert set(points) == {
        "loss/train", "loss/validation", "accuracy/train", "accuracy/validation", "learning_rate",
        "images_per_second",
    }  # fmt: skip


def test_the_best_model_has_the_highest_accuracy_then_the_lowest_loss(tmp_path):
    model = make_model()
    run = start(tmp_path, model)
    best = []
    for epoch, accuracy in enumerate((0.5, 0.7, 0.6, 0.7, 0.1), start=1):
        finish_epoch(run, model, epoch, accuracy)
        best.append(epoch_in(tmp_path / "best.keras"))
    assert best == [1, 2, 2, 4, 4]
    assert run.best_row() == make_row(4, 0.7)


def test_the_best_model_has_the_lowest_value_of_a_metric_that_is_better_when_lower(tmp_path):
    run, model = RunDirectory(tmp_path), make_model()
    run.start(CONFIG, model, ERROR)
    for epoch, error in enumerate((5.0, 3.0, 4.0), start=1):
        row = {**make_row(epoch), "error": error, "val_error": error}
        run.finish_epoch(model, row, None)
    assert run.best_row()["epoch"] == 2


@pytest.mark.parametrize("validation", ["validation", "test"])
def test_curves_name_the_metric_and_the_part(tmp_path, monkeypatch, validation):
    drawn = []
    monkeypatch.setattr(curves.plots, "save", lambda figure, path: drawn.append(figure))
    curves.draw([make_row(1), make_row(2)], ACCURACY, tmp_path / "curves.png", validation)
    loss, accuracy = drawn[0].axes
    assert (loss.get_title(loc="left"), accuracy.get_title(loc="left")) == ("Loss", "Accuracy")
    assert [line.get_label() for line in accuracy.lines] == ["train", validation]
    assert accuracy.lines[1].get_ydata().tolist() == [0.5, 0.5]
    assert loss.lines[0].get_ydata().tolist() == [1.0, 0.5]


def test_a_run_that_goes_on_has_the_state_of_the_last_epoch(tmp_path):
    model = make_model()
    run = start(tmp_path, model)
    model.fit(np.ones((4, 2)), np.ones((4, 1)), verbose=0)
    run.finish_epoch(model, make_row(1), lambda: model)
    fresh = make_model()
    again = start(tmp_path, fresh)
    assert again.rows == [make_row(1)]
    for one, other in zip(model.variables, fresh.variables, strict=True):
        np.testing.assert_array_equal(one, other)
    pairs = list(zip(model.optimizer.variables, fresh.optimizer.variables, strict=True))
    assert len(pairs) >= 6
    for one, other in pairs:
        np.testing.assert_array_equal(one, other)
    assert int(fresh.optimizer.iterations) == 1


def _writes_of_an_epoch(monkeypatch, path):
    """How many files are put in place for an epoch."""
    with monkeypatch.context() as patch:
        count = _interrupt_rename(patch, at=None)
        model = make_model()
        run = start(path, model)
        before = count()
        finish_epoch(run, model, 1)
        return count() - before


def _interrupt_rename(patch, at, after=False):
    """Makes the rename number `at` the process's last deed, or the last but this one."""
    rename, calls = pathlib.Path.replace, [0]

    def replace(self, target):
        calls[0] += 1
        if calls[0] == at and not after:
            raise Killed
        rename(self, target)
        if calls[0] == at:
            raise Killed

    patch.setattr(pathlib.Path, "replace", replace)
    return lambda: calls[0]


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", [1, 2, 3])
def test_a_run_killed_at_any_file_of_an_epoch_ends_as_an_unbroken_one(tmp_path, monkeypatch, at, after):
    assert _writes_of_an_epoch(monkeypatch, tmp_path / "count") == 3  # best, last, metrics
    path = tmp_path / "run"
    model = make_model()
    run = start(path, model)
    finish_epoch(run, model, 1, 0.5)
    with monkeypatch.context() as patch, pytest.raises(Killed):
        _interrupt_rename(patch, at, after)
        finish_epoch(run, model, 2, 0.6)
    for name in ("best.keras", "last.keras"):
        assert epoch_in(path / name) in (1, 2)

    model = make_model()
    run = start(path, model)
    done = len(run.rows)
    assert done in (1, 2)
    assert model.get_weights()[0][0, 0] == done
    for epoch in range(done + 1, 4):
        finish_epoch(run, model, epoch, {2: 0.6, 3: 0.1}[epoch])
    assert metrics(path) == [make_row(1, 0.5), make_row(2, 0.6), make_row(3, 0.1)]
    assert epoch_in(path / "best.keras") == 2
    assert epoch_in(path / "last.keras") == 3
    steps = [step for step, _ in event_points(path / "tensorboard")["loss/train"]]
    assert steps == [1, 2, 3]


def test_what_a_kill_left_half_written_is_removed(tmp_path):
    (tmp_path / ".last.abc123.keras").write_bytes(b"half")
    (tmp_path / ".metrics.abc123.jsonl").write_bytes(b"half")
    (tmp_path / ".notes").write_bytes(b"not ours")
    start(tmp_path)
    assert sorted(path.name for path in tmp_path.glob(".*")) == [".notes"]


def test_two_processes_do_not_train_in_one_folder(tmp_path):
    code = "import pathlib, sys, time\nfrom training.run_files.claiming import claim_for_process\n"
    code += "print(claim_for_process(pathlib.Path(sys.argv[1])), flush=True); time.sleep(100)"
    command = [sys.executable, "-c", code, tmp_path / "training.lock"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "True\n"
        with pytest.raises(FileError, match=r"another process trains in --workdir=.*: wait for its end"):
            start(tmp_path)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["training.lock"]
        other.kill()
    run = start(tmp_path)  # what a killed process has left is taken over
    start(tmp_path)  # by the same process
    run.finish({})
    assert not (tmp_path / "training.lock").exists()


def test_another_config_is_refused_with_the_keys_that_differ(tmp_path):
    model = make_model()
    run = start(tmp_path, model)
    finish_epoch(run, model, 1)
    run.check_config(CONFIG)
    with pytest.raises(
        ValueError, match=r"another config: epochs was 3 and is 5; model_arguments\.depth was 2 and is 4"
    ):
        run.check_config({"epochs": 5, "model_arguments": {"depth": 4}})


def test_before_the_first_epoch_another_config_is_welcome(tmp_path):
    start(tmp_path)
    RunDirectory(tmp_path).check_config({"epochs": 5})


@pytest.mark.parametrize("damage", [b"", b"no archive"])
def test_a_damaged_state_is_named(tmp_path, damage):
    (tmp_path / "last.keras").write_bytes(damage)
    with pytest.raises(ValueError, match=r"cannot go on from .*last.keras.*Remove this file"):
        start(tmp_path)


def test_a_model_without_the_record_of_its_epochs_is_no_state(tmp_path):
    make_model().save(tmp_path / "last.keras")
    with pytest.raises(ValueError, match=r"cannot go on from .*last.keras"):
        start(tmp_path)


def test_a_workdir_that_is_a_file_is_an_error(tmp_path):
    (tmp_path / "run").write_text("")
    with pytest.raises(OSError, match="run"):
        start(tmp_path / "run")


def test_a_finished_run_has_a_summary(tmp_path):
    model = make_model()
    run = start(tmp_path, model)
    finish_epoch(run, model, 1)
    run.finish({"epochs": 1})
    assert RunDirectory(tmp_path).summary() == {"epochs": 1}
    (tmp_path / "last.keras").unlink()
    assert RunDirectory(tmp_path).summary() is None


def test_a_run_that_fails_before_an_epoch_is_done_leaves_nothing(tmp_path):
    with pytest.raises(KeyError), RunDirectory(tmp_path / "new" / "run") as run:
        run.start(CONFIG, make_model(), ACCURACY)
        raise KeyError("in the first epoch")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "notes").touch()
    with pytest.raises(KeyError), RunDirectory(tmp_path) as run:
        run.start(CONFIG, make_model(), ACCURACY)
        raise KeyError("in the first epoch")
    assert [path.name for path in tmp_path.iterdir()] == ["notes"]


def test_a_run_that_is_stopped_later_says_that_it_goes_on(tmp_path, capsys):
    with pytest.raises(Killed), RunDirectory(tmp_path) as run:
        model = make_model()
        run.start(CONFIG, model, ACCURACY)
        finish_epoch(run, model, 1)
        raise Killed
    assert capsys.readouterr().out == f"{tmp_path} holds 1 finished epochs: the same command goes on\n"
    assert not (tmp_path / "training.lock").exists() and (tmp_path / "last.keras").exists()
    assert len(start(tmp_path).rows) == 1


@pytest.mark.parametrize(
    "name, content, fault",
    [
        ("run.json", "{}", "'backend' is a required property"),
        ("run.json", '{"backend": "jax", "schedules": [-1]}', r"schedules\[0\] is wrong"),
        ("config.json", "[]", "is not of type 'object'"),
    ],
)
def test_a_damaged_file_of_a_run_is_named(name, content, fault, tmp_path):
    model = make_model()
    finish_epoch(start(tmp_path, model), model, 1)
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=rf"{name}.*{fault}"):
        start(tmp_path)

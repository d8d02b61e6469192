"""Trials in real workers of Ray: each configuration once, whoever is killed; nothing is left behind."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

from hsvit_runtime.errors import InputError, MissingFileError
from tests.training.scaling import trainers
from training.scaling.trials import Trials, train_trial

pytestmark = pytest.mark.once

ROOT = pathlib.Path(__file__).parents[3]


def config(depth, seed=0):
    return {"model": "deit_tiny", "image_shape": [8, 8, 1], "model_arguments": {"depth": depth}, "seed": seed}


def calls(workdir):
    """How often each trial was begun."""
    return sorted(len(path.read_text().splitlines()) for path in workdir.glob("trials/*/calls"))


@pytest.mark.slow
def test_a_killed_worker_is_replaced_and_nothing_is_trained_twice(tmp_path, capfd):
    with Trials(tmp_path, train=trainers.killed_once) as trials:
        found = trials([config(1), config(2), config(1)], [{"about": name} for name in "abc"])
        assert [row["val_accuracy"] for row in found] == [0.01, 0.02, 0.01]
        assert [row["about"] for row in found] == ["a", "b", "a"]
        assert calls(tmp_path) == [2, 2]  # each was killed once
        again = trials([config(2), config(1), config(1, seed=1)])
        assert [row["val_accuracy"] for row in again] == [0.02, 0.01, 0.01]
        assert calls(tmp_path) == [2, 2, 2]
    said = capfd.readouterr()
    assert said.out.count("a worker died; trial") == 3
    assert "3 of 3" not in said.out and "2 of 2 after 0:" in said.out and "val_accuracy 0.0200" in said.out
    assert said.err == ""
    rows = [json.loads(line) for line in (tmp_path / "trials.jsonl").read_text().splitlines()]
    assert sorted((row["model_arguments"]["depth"], row["seed"]) for row in rows) == [(1, 0), (1, 1), (2, 0)]


def test_what_was_trained_is_known_without_workers(tmp_path, monkeypatch):
    (tmp_path / "trials.jsonl").write_text("")
    with Trials(tmp_path) as trials:
        monkeypatch.setattr(trials, "_train_all", None)
        assert trials([]) == []
        key = "the key of depth 3"
        monkeypatch.setattr("training.scaling.trials._key", lambda values: key)
        trials._known[key] = {"val_accuracy": 0.5}
        assert trials([config(3)] * 2) == [{"val_accuracy": 0.5}] * 2


@pytest.mark.slow
def test_what_ends_a_search_is_named(tmp_path):
    with Trials(tmp_path, data_dir="/nowhere", train=trainers.failing) as trials:
        with pytest.raises(FileNotFoundError, match=r"^there is no folder /nowhere$"):
            trials([config(1)])
        with pytest.raises(
            InputError, match=r"3 workers died in trial .*, in .*for --workers=2 trainings at a"
        ):
            trials([config(2)])
        assert not (tmp_path / "trials.jsonl").is_file()


def test_two_searches_do_not_share_a_folder(tmp_path):
    with Trials(tmp_path), pytest.raises(ValueError, match="another search works in"):
        Trials(tmp_path)
    Trials(tmp_path).__exit__()


def test_a_configuration_that_cannot_be_trained_has_an_error(tmp_path):
    """Its heads do not divide its width."""
    from training.configs import digits
    from training.recipes import recipe

    arguments = {"hidden_dim": 7, "num_heads": 2, "patch_size": 8}
    values = {**recipe.plain(digits.get_config()), "model": "deit_tiny", "model_arguments": arguments}
    result = train_trial(values, str(tmp_path / "run"), None)
    assert "num_heads has to divide hidden_dim" in result["error"] and "val_accuracy" not in result


@pytest.mark.parametrize("error", [MissingFileError("no images"), ValueError("a bug"), KeyError("a bug")])
def test_missing_images_and_bugs_are_no_failed_trials(tmp_path, monkeypatch, error):
    def fail(*_):
        raise error

    monkeypatch.setattr("training.fitting.run.train", fail)
    with pytest.raises(type(error)):
        train_trial({}, str(tmp_path / "run"), None)


SCRIPT = """
import pathlib, sys
from tests.training.scaling import trainers
from command_line import commands
from training.scaling.trials import Trials

def main(_):
    with Trials(sys.argv[1], train=trainers.sleeping) as trials:
        trials([{"seed": 0}])

if __name__ == "__main__":
    sys.argv, folder = sys.argv[:1], sys.argv[1]
    sys.argv.append(folder)
    commands.run(main, uses_keras=False, argument="folder")
"""


def children(pid):
    """The processes of a session of Ray that this process started."""
    found = subprocess.run(["ps", "-e", "-o", "pid=,ppid="], capture_output=True, text=True).stdout
    parents = dict(map(int, line.split()) for line in found.splitlines())
    below = {one for one, parent in parents.items() if parent == pid}
    return below.union(*map(children, below))


@pytest.mark.slow
def test_ctrl_c_ends_all_processes(tmp_path):
    command = [sys.executable, "-c", SCRIPT, str(tmp_path)]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, env=os.environ)
    started = tmp_path / "trials"
    deadline = time.monotonic() + 120
    while not list(started.glob("*/calls")):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.2)
    workers = children(process.pid)
    assert workers
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.strip() == "interrupted; nothing half-written was left"
    deadline = time.monotonic() + 30
    while any(pathlib.Path(f"/proc/{worker}").exists() for worker in workers):
        assert time.monotonic() < deadline
        time.sleep(0.2)

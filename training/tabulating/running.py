"""Trains the runs of a table, each in one process of all that work in its folder."""

import contextlib
import dataclasses
import io
import pathlib

from hsvit_runtime import json_files
from hsvit_runtime.errors import FileError, InputError
from hsvit_runtime.files import making_folder, write_json
from hsvit_runtime.json_schemas import TEXT, record
from training.run_files.claiming import claim
from training.run_files.run_directory import RunDirectory
from training.spreading.workers import absolute, clock

_FAILURE = "failure.json"
_FAILED = record(error=TEXT, config=record())


def check(runs):
    """Raises `InputError` if the folder of a run holds another one, before any is trained."""
    for run in runs:
        directory = RunDirectory(run.path)
        directory.check_config(run.values, may_extend=False)
        if not directory.summary():
            directory.check_backend()


def work(runs):
    """Trains what is not trained and not claimed, until nothing of this is left.

    Args:
        runs: list of `Run`.

    Raises:
        OSError: the images cannot be read, or the folder cannot be written.
    """
    trained = True
    while trained:  # a process that was killed has let go of its run, which is behind us in the list
        trained = [run.name for place, run in enumerate(runs) if _train(run, f"{place + 1} of {len(runs)}")]


def work_spread(runs, workers):
    """Trains what is not trained in workers of Ray.

    Args:
        runs: list of `Run`.
        workers: `training.spreading.workers.Workers` of `train_run`.

    Raises:
        InputError: workers died again and again.
        OSError: the images cannot be read, or the folder cannot be written.
    """
    left = {
        run.name: (dataclasses.replace(run, path=run.path.resolve(), folder=absolute(run.folder)),)
        for run in runs
        if not (is_finished(run) or failure(run))
    }
    for number, (name, result, seconds) in enumerate(workers.do(left), 1):
        print(f"  {number} of {len(left)} after {clock(seconds)}  {name}: {result}", flush=True)


def train_run(run):
    """Trains one run, in a worker on any machine; gives what came of it, as text of one line."""
    from command_line import commands

    commands.import_keras()
    with contextlib.redirect_stdout(io.StringIO()):
        _train(run, "1 of 1")
    if reason := failure(run):
        return f"failed: {reason}"
    summary = RunDirectory(run.path).summary()
    if summary is None:
        return "left to another command, which has begun it"
    name = summary["task"]["metric"]["name"]
    return f"best epoch {summary['best']['epoch']}, {name} {summary['test'][name]:.4f} on the test part"


def is_finished(run):
    """Whether a run has its summary."""
    return RunDirectory(run.path).summary() is not None


def failure(run):
    """Why a run of this config came to no end, a text of one line; None where nothing failed."""
    path = run.path / _FAILURE
    if not path.is_file():
        return None
    found = json_files.read(path, _FAILED)
    return found["error"] if found["config"] == run.values else None


def epochs_done(run):
    """Epochs that the folder of a run holds."""
    path = run.path / "metrics.jsonl"
    return len(path.read_text().splitlines()) if path.is_file() else 0


def _train(run, place):
    """Trains one run; whether it did."""
    if is_finished(run) or failure(run):
        return False
    with making_folder(run.path):
        claimed = claim(_lock(run))
        if claimed is None:
            return False
        with claimed:
            if is_finished(run) or failure(run):  # by the process that has just let go of it
                return False
            print(f"run {place}: {run.name}", flush=True)
            _fit(run)
    return True


def _fit(run):
    import keras
    from ml_collections import ConfigDict

    from training.fitting.run import train

    keras.utils.clear_session()  # of the run before
    try:
        train(ConfigDict(run.values), run.path, run.folder)
    except FileError:  # what is wrong with the images is wrong for every run
        raise
    except InputError as error:  # its loss became NaN, or the model does not fit
        print(f"{run.name} failed: {error}", flush=True)
        write_json(run.path / _FAILURE, {"error": str(error), "config": run.values})


def _lock(run) -> pathlib.Path:
    return run.path / "lock"

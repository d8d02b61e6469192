"""Trainings in workers of Ray: each configuration once, whatever happens.

A trial is a run of `training.train` in a folder of its own. A worker that is lost is replaced and its trial
goes on from the last finished epoch, as does a search that was killed and is started again. `trials.jsonl`
has a line for each trial that ended.
"""

import hashlib
import pathlib

from hsvit_runtime.errors import FileError, InputError
from hsvit_runtime.json_schemas import NUMBER, TEXT, record
from training.run_files.claiming import claim
from training.scaling.records import Records, canonical
from training.spreading.workers import LOCAL, Workers, absolute, clock

_TRIAL = {**record(trial=TEXT), "patternProperties": {"^val_": NUMBER}}  # a line of trials.jsonl


def train_trial(values, folder, data_dir):
    """Trains one configuration; in a process of a worker.

    Args:
        values: plain config of `training.train`.
        folder: path of its run.
        data_dir: folder of the image set, or None.

    Returns:
        dict of the loss and the metrics in validation after the last epoch, such as `val_loss`, `parameters`
        and `seconds`; or of `error`, why it cannot be trained.
    """
    from command_line import commands

    commands.import_keras()
    import keras
    from ml_collections import ConfigDict

    from training.fitting.run import train

    keras.utils.clear_session()  # of the trial before
    try:
        summary = train(ConfigDict(values), folder, data_dir)
    except FileError:  # what is wrong with the images is wrong for every trial
        raise
    except InputError as error:  # its loss became NaN, or the model does not fit
        return {"error": str(error)}
    return {
        **{name: value for name, value in summary["last"].items() if name.startswith("val_")},
        "parameters": summary["parameters"],
        "seconds": summary["seconds"],
    }


class Trials:
    """Trains configurations, and knows those that were trained; a context.

    Args:
        workdir: path of a folder, made where it is not there.
        data_dir: folder of the image set, or None.
        workers: int, trainings at a time.
        ray: str, where they run, see `training.spreading.workers`.
        train: function as `train_trial`, from a module that workers can import.

    Raises:
        ValueError: another process works in this folder, or its `trials.jsonl` is damaged.
    """

    def __init__(self, workdir, *, data_dir=None, workers=2, ray=LOCAL, train=train_trial):
        self._workdir, self._data_dir = pathlib.Path(workdir), absolute(data_dir)
        self._workers = Workers(train, workdir, workers, ray)
        self._workdir.mkdir(parents=True, exist_ok=True)
        self._lock = _locked(self._workdir / "lock")
        self._records = Records(self._workdir / "trials.jsonl", _TRIAL)
        self._known = {row["trial"]: row for row in self._records.rows}

    def __enter__(self):
        return self

    def __exit__(self, *details):
        self._workers.__exit__(*details)
        self._lock.close()

    def __call__(self, configs, facts=None):
        """Trains what was not trained yet.

        Args:
            configs: list of plain configs.
            facts: list of dicts, what the line of each in `trials.jsonl` holds with its results.

        Returns:
            list of dicts as of `train_trial`, in the same order, with the facts of the first time.

        Raises:
            InputError: workers died again and again.
            OSError: the images are not there or one cannot be read.
        """
        keys = [_key(values) for values in configs]
        facts = facts or [{}] * len(configs)
        new = {}
        for key, values, about in zip(keys, configs, facts, strict=True):
            if key not in self._known:
                new.setdefault(key, (values, about))
        if new:
            self._train_all(new)
        return [self._known[key] for key in keys]

    def _train_all(self, new):
        jobs = {
            f"trial {key}": (values, str(self._folder(key)), self._data_dir)
            for key, (values, _) in new.items()
        }
        for number, (name, result, seconds) in enumerate(self._workers.do(jobs), 1):
            key = name.removeprefix("trial ")
            values, about = new[key]
            self._known[key] = {"trial": key, **about, **_named(values), **result}
            self._records.append(self._known[key])
            print(_progress(self._known[key], number, len(new), seconds), flush=True)

    def _folder(self, key):
        return self._workdir.resolve() / "trials" / key


def _key(values):
    """The name of a trial: of the whole config, so that another budget is another trial."""
    return hashlib.sha256(canonical(values).encode()).hexdigest()[:12]


def _named(values):
    return {
        name: values[name] for name in ("model", "image_shape", "model_arguments", "seed") if name in values
    }


def _progress(row, done, total, seconds):
    measured = (f"{name} {value:.4f}" for name, value in row.items() if name.startswith("val_"))
    result = f"failed: {row['error']}" if "error" in row else ", ".join(measured)
    about = f"{row['about']}: " if "about" in row else ""
    return f"  {done} of {total} after {clock(seconds)}  {about}{result}"


def _locked(path):
    """An open file that only one process holds at a time."""
    file = claim(path)
    if file is None:
        raise InputError(f"another search works in {path.parent}: wait for it, or use another folder")
    return file

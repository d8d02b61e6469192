"""The folder of a training run, whole at any moment: a run can be killed and started again.

`last.keras` alone says how far a run is: with the model and its optimizer it holds the rows of all finished
epochs, so one rename finishes an epoch. `metrics.jsonl` and the TensorBoard events are copies of the rows,
written anew by a run that goes on.
"""

import contextlib
import json
import pathlib
import shutil
import zipfile

from hsvit_runtime import json_files, outputs
from hsvit_runtime.errors import FileError, InputError
from hsvit_runtime.files import make_folder, remove_empty, replacing, write_json
from hsvit_runtime.json_schemas import array
from hsvit_runtime.native_output import quietly
from measuring import run_schemas
from training.recipes.recipe import differences
from training.run_files import claiming
from training.run_files.event_file import EventFile

# A member of the archive last.keras; Keras looks for its own members only.
_ROWS = "epochs.json"
_LOCK = "training.lock"  # held by the process that trains
_EVENTS = "tensorboard"
_FILES = (
    "config.json",
    "run.json",
    "metrics.jsonl",
    "best.keras",
)  # of a run, beside what says how far it is


class RunDirectory:
    """The files of one run.

    Args:
        path: folder of the run; made by `start`.

    Attributes:
        last: path of the file to go on from, which is there once an epoch is finished.
        rows: list of dicts of numbers, one for each finished epoch.
        schedules: list of int, the number of epochs of the run, and of those that it was extended to.

    Raises:
        NotADirectoryError: `path` is a file.
    """

    def __init__(self, path):
        self.path = pathlib.Path(path)
        if self.path.exists() and not self.path.is_dir():
            raise FileError(f"--workdir={path} is a file; the folder of a run is needed")
        self.last = self.path / "last.keras"
        self.rows = []
        self._is_held, self._made = False, []

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        """Lets go of the folder; where no epoch was finished, what was made of it is removed."""
        if kind is not None and self._is_held:
            self._leave_unfinished(was_stopped=not issubclass(kind, Exception))
        self.release()

    def summary(self):
        """The summary of a finished run, else None; one that is being extended is not finished."""
        path = self.path / "summary.json"
        if not path.is_file() or not self.last.is_file():
            return None
        summary = json_files.read(path, run_schemas.SUMMARY)
        ended_by = summary.get("ended_by", {})
        return summary if not ended_by or ended_by.items() <= self._config().items() else None

    def check_config(self, config, may_extend=True):
        """Raises `ValueError` if the folder holds epochs of a run with another config, or files of others.

        A finished run may be extended where the caller allows it: to more epochs, or to more patience.
        """
        if not self.last.is_file():
            self._check_is_of_runs()
            return
        found = differences(self._config(), config)
        extends = may_extend and self.summary() and all(_extends(*difference) for difference in found)
        if found and not extends:
            listed = "; ".join(f"{key} was {was!r} and is {now!r}" for key, was, now in found)
            raise InputError(
                f"workdir {self.path} holds a run with another config: {listed}. "
                "Use another workdir, or go on with the same config"
            )

    def _check_is_of_runs(self):
        """Raises `FileError` if a file there has the name of one that a run writes, and no run wrote it."""
        run = self.path / "run.json"
        if run.exists():  # the first file that a run writes
            outputs.check(run, outputs.json_with("backend"))
            return
        for name in (*_FILES, "summary.json"):
            if (self.path / name).exists():
                raise FileError(
                    f"--workdir={self.path} holds {name} and no run.json, so it is of no run and would be "
                    "lost; choose another folder"
                )

    def extends(self, config):
        """Whether a config that fits has a finished run go on."""
        return bool(self.summary() and differences(self._config(), config))

    def check_backend(self):
        """Raises `ValueError` if the folder holds epochs of a run with Keras on another backend."""
        import keras

        if not self.last.is_file():
            return
        was, now = self._run()["backend"], keras.backend.backend()
        if was != now:
            raise InputError(
                f"workdir {self.path} holds a run with Keras on {was}, and Keras runs on {now}: the numbers "
                f"would not be of one run. Set the environment variable KERAS_BACKEND={was}, or use another "
                "workdir"
            )

    def start(self, config, model, metric):
        """Makes the folder, or continues the run in it and gives `model` the state of its last epoch.

        Args:
            config: plain config of the run.
            model: compiled `keras.Model` whose optimizer is built.
            metric: `hsvit_keras.tasks.Measure` that tells the best epoch.

        Raises:
            OSError: the folder cannot be written, or another process trains in it.
            ValueError: `last.keras` is damaged or of another model.
        """
        import keras

        self._made = make_folder(self.path)
        if not claiming.claim_for_process(self.path / _LOCK):
            raise FileError(
                f"another process trains in --workdir={self.path}: wait for its end, or use another"
            )
        self._is_held = True
        self._remove_leftovers()
        self.schedules = self._schedules(config["epochs"])
        write_json(self.path / "run.json", {"backend": keras.backend.backend(), "schedules": self.schedules})
        write_json(self.path / "config.json", config)
        (self.path / "summary.json").unlink(missing_ok=True)  # of a run that is extended
        self._metric = metric
        self._restore(model)
        self._write_metrics()
        shutil.rmtree(self.path / _EVENTS, ignore_errors=True)
        (self.path / _EVENTS).mkdir()
        self._events = EventFile(self.path / _EVENTS)
        for row in self.rows:
            self._write_events(row)

    def finish_epoch(self, model, row, best_model):
        """Records an epoch.

        Args:
            model: the `keras.Model` in training.
            row: dict of numbers, among them `epoch`, `val_loss` and the metric as `val_` and its name.
            best_model: function that gives the model to save if this epoch is the best so far, or None.
        """
        self.rows.append(row)
        if best_model and self.best_row() is row:
            with quietly(), replacing(self.path / "best.keras") as temporary:
                best_model().save(temporary)
        with quietly(), replacing(self.last) as temporary:  # on JAX, too, it loads TensorFlow
            model.save(temporary)
            with zipfile.ZipFile(temporary, "a") as archive:
                archive.writestr(_ROWS, json.dumps(self.rows))
        self._write_metrics()
        self._write_events(row)

    def best_row(self):
        """The row of the best value of the metric in validation; of equals, the one of the lowest loss."""
        ordered = sorted(self.rows, key=lambda row: row["val_loss"])
        return ordered[self._metric.best([row[f"val_{self._metric.name}"] for row in ordered])]

    def finish(self, summary):
        """Marks the run as finished."""
        write_json(self.path / "summary.json", summary)
        self.release()

    def release(self):
        """Lets other processes train in the folder."""
        if self._is_held:
            self._is_held = False
            claiming.release(self.path / _LOCK)

    def _leave_unfinished(self, was_stopped):
        """Says how far a run has come that does not end now, or removes what there is without an epoch."""
        if self.last.is_file():
            if was_stopped:
                print(
                    f"{self.path} holds {len(self.rows)} finished epochs: the same command goes on",
                    flush=True,
                )
            return
        shutil.rmtree(self.path / _EVENTS, ignore_errors=True)
        for name in (*_FILES, _LOCK):
            (self.path / name).unlink(missing_ok=True)
        remove_empty(self._made)

    def _remove_leftovers(self):
        """Temporary files of `replacing` that a killed run left."""
        for name in ("config", "last", "best", "metrics", "curves", "samples", "summary", "run"):
            for path in self.path.glob(f".{name}.*"):
                path.unlink()

    def _config(self):
        return json_files.read(self.path / "config.json", run_schemas.CONFIG)

    def _run(self):
        return json_files.read(self.path / "run.json", run_schemas.RUN)

    def _schedules(self, epochs):
        """`schedules` with that of a run's last part behind it."""
        if not self.last.is_file() or not (self.path / "run.json").is_file():
            return [epochs]
        before = self._run().get("schedules", [self._config()["epochs"]])
        return before if before[-1] == epochs else [*before, epochs]

    def finished_epochs(self):
        """How many epochs the files are of.

        Raises:
            InputError: `last.keras` is damaged.
        """
        return len(self._read_rows()) if self.last.is_file() else 0

    def _read_rows(self):
        with self._naming_damage():
            return rows_in(self.last)

    def _restore(self, model):
        if self.last.is_file():
            self.rows = self._read_rows()
            with self._naming_damage():
                model.load_weights(self.last)

    @contextlib.contextmanager
    def _naming_damage(self):
        try:
            yield
        except (zipfile.BadZipFile, KeyError, OSError, ValueError) as error:
            raise InputError(
                f"cannot go on from {self.last}: {error}. Remove this file to start from scratch"
            ) from error

    def _write_metrics(self):
        with replacing(self.path / "metrics.jsonl") as temporary:
            temporary.write_text("".join(json.dumps(row) + "\n" for row in self.rows))

    def _write_events(self, row):
        points = {}
        for name in row:
            if name.startswith("val_"):  # both in one chart
                measured = name.removeprefix("val_")
                points[f"{measured}/validation"] = row[name]
                if measured in row:
                    points[f"{measured}/train"] = row[measured]
        points |= {name: row[name] for name in ("learning_rate", "images_per_second")}
        self._events.add(row["epoch"], points)


def rows_in(last):
    """The rows of all finished epochs that a `last.keras`, a path or an open file, holds."""
    with zipfile.ZipFile(last) as archive:
        rows = json_files.parse(archive.read(_ROWS), f"its {_ROWS}")
    json_files.check(rows, array(run_schemas.FINISHED_ROW, 1), f"its {_ROWS}")
    return rows


def _extends(key, was, now):
    """Whether a change of a config lets a finished run go on as it is: more of what ended it."""
    return key in ("epochs", "patience") and (now is None or (was is not None and now > was))

"""The folder of a training run, whole at any moment: a run can be killed and started again.

`last.keras` alone says how far a run is: with the model and its optimizer it holds the rows of all finished
epochs, so one rename finishes an epoch. `metrics.jsonl` and the TensorBoard events are copies of the rows,
written anew by a run that goes on.
"""

import json
import pathlib
import shutil
import zipfile

from hsvit_runtime.errors import FileError, InputError
from hsvit_runtime.files import replacing, write_json
from hsvit_runtime.native_output import quietly
from training.recipes.recipe import differences
from training.run_files.event_file import EventFile

# A member of the archive last.keras; Keras looks for its own members only.
_ROWS = "epochs.json"


class RunDirectory:
    """The files of one run.

    Args:
        path: folder of the run; made by `start`.

    Attributes:
        rows: list of dicts of numbers, one for each finished epoch.

    Raises:
        NotADirectoryError: `path` is a file.
    """

    def __init__(self, path):
        self.path = pathlib.Path(path)
        if self.path.exists() and not self.path.is_dir():
            raise FileError(f"--workdir={path} is a file; the folder of a run is needed")
        self.rows = []

    def summary(self):
        """The summary if the run is finished, else None."""
        path = self.path / "summary.json"
        if path.is_file() and (self.path / "last.keras").is_file():
            return json.loads(path.read_text())

    def check_config(self, config):
        """Raises `ValueError` if the folder holds epochs of a run with another config."""
        if not (self.path / "last.keras").is_file():
            return
        found = differences(json.loads((self.path / "config.json").read_text()), config)
        if found:
            listed = "; ".join(f"{key} was {was!r} and is {now!r}" for key, was, now in found)
            raise InputError(
                f"workdir {self.path} holds a run with another config: {listed}. "
                "Use another workdir, or go on with the same config"
            )

    def check_backend(self):
        """Raises `ValueError` if the folder holds epochs of a run with Keras on another backend."""
        import keras

        if not (self.path / "last.keras").is_file():
            return
        was, now = json.loads((self.path / "run.json").read_text())["backend"], keras.backend.backend()
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
            OSError: the folder cannot be written.
            ValueError: `last.keras` is damaged or of another model.
        """
        import keras

        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(f"--workdir={self.path} cannot be made: {error.strerror}") from error
        self._remove_leftovers()
        write_json(self.path / "config.json", config)
        write_json(self.path / "run.json", {"backend": keras.backend.backend()})
        self._metric = metric
        self._restore(model)
        self._write_metrics()
        shutil.rmtree(self.path / "tensorboard", ignore_errors=True)
        (self.path / "tensorboard").mkdir()
        self._events = EventFile(self.path / "tensorboard")
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
        with quietly(), replacing(self.path / "last.keras") as temporary:  # on JAX, too, it loads TensorFlow
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

    def _remove_leftovers(self):
        """Temporary files of `replacing` that a killed run left."""
        for name in ("config", "last", "best", "metrics", "curves", "samples", "summary", "run"):
            for path in self.path.glob(f".{name}.*"):
                path.unlink()

    def _restore(self, model):
        last = self.path / "last.keras"
        if not last.is_file():
            return
        try:
            with zipfile.ZipFile(last) as archive:
                self.rows = json.loads(archive.read(_ROWS))
            model.load_weights(last)
        except (zipfile.BadZipFile, KeyError, OSError, ValueError) as error:
            raise InputError(
                f"cannot go on from {last}: {error}. Remove this file to start from scratch"
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

"""Makes the artifacts of the models to choose from; those that are there already are kept."""

import dataclasses
import hashlib
import pathlib

import keras

from hsvit_keras.artifacts import to_tflite
from hsvit_keras.artifacts.writing import report_of
from hsvit_keras.model_files import load_model
from hsvit_keras.tasks import task_named
from hsvit_runtime import files, json_files, report_schema
from hsvit_runtime.errors import InputError
from hsvit_runtime.presets import preset_named


@dataclasses.dataclass(frozen=True)
class Artifact:
    """An artifact of one of the models.

    Attributes:
        model: `models.Model`.
        preset: str.
        path: path of the `.tflite` file.
        report: dict of the converter; None where it refused, and there is no file.
        refusal: str, why; None where it did not.
        kept: bool, whether it was there already.
    """

    model: object
    preset: str
    path: pathlib.Path
    report: dict | None = None
    refusal: str | None = None
    kept: bool = False


@dataclasses.dataclass(frozen=True)
class Conversion:
    """How artifacts are made.

    Attributes:
        presets: list of str.
        settings: function from a preset to a dict of all that the artifact depends on beside the model.
        samples: function from a `keras.Model` to the `Samples` that its artifacts are compared on.
        calibration: function from a `keras.Model` to a `Calibration`, or None for its own ranges.
        runtime: str, the oldest runtime that has to load them; None for the current one.
        allow_loss: bool, see `hsvit_keras.to_tflite`.
    """

    presets: list
    settings: object
    samples: object
    calibration: object
    runtime: str | None = None
    allow_loss: bool = False


def make(models, folder, conversion):
    """Makes an artifact of each model in each preset, and prints a line for each.

    One that was made from the same file with the same settings is kept, so that this goes on where it was
    killed.

    Args:
        models: list of `models.Model`.
        folder: path of the folder, which is made; files are named `MODEL_PRESET.tflite`.
        conversion: `Conversion`.

    Returns:
        list of `Artifact`, in the order of models and presets.
    """
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    made, total = [], len(models) * len(conversion.presets)
    for model in models:
        data = _Data(model, conversion)
        for preset in conversion.presets:
            artifact = Artifact(model, preset, folder / f"{model.name}_{preset}.tflite")
            made.append(_made(artifact, conversion, data))
            print(f"[{len(made)} of {total}] {artifact.path.name}: {_told(made[-1])}", flush=True)
    return made


class _Data:
    """A model and what its artifacts are made with, loaded when the first of them is made."""

    def __init__(self, model, conversion):
        self._path, self._conversion = model.path, conversion
        self._model = self._samples = self._calibration = None

    def arguments(self, preset):
        """The model, and arguments of `to_tflite`."""
        if self._model is None:
            keras.utils.clear_session()  # frees the last model
            self._model = load_model(self._path)
            self._samples = self._conversion.samples(self._model)
        needs_ranges = preset_named(preset).needs_ranges
        if needs_ranges and self._calibration is None:
            self._calibration = self._conversion.calibration(self._model)
        return self._model, {
            "samples": self._samples,
            "calibration": self._calibration if needs_ranges else None,
        }


def _made(artifact, conversion, data):
    made_from = {
        "sha256": artifact.model.sha256,
        "runtime": conversion.runtime,
        **conversion.settings(artifact.preset),
    }
    report = _kept(artifact.path, made_from)
    if report is not None:
        return dataclasses.replace(artifact, report=report, kept=True)
    model, arguments = data.arguments(artifact.preset)
    try:
        report = to_tflite(
            model,
            artifact.path,
            preset=artifact.preset,
            runtime=conversion.runtime,
            allow_loss=conversion.allow_loss,
            **arguments,
        )
    except InputError as refusal:
        return dataclasses.replace(artifact, refusal=str(refusal))
    report = {**report, "made_from": made_from}
    files.write_json(report_of(artifact.path), report)
    return dataclasses.replace(artifact, report=report)


def _kept(path, made_from):
    """The report of an artifact that is there, whole and made from just this; else None."""
    report = json_files.read_if_sound(report_of(path), report_schema.MADE)
    if report is None or report.get("made_from") != made_from or not path.is_file():
        return None
    return report if report["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest() else None


def _told(artifact):
    if artifact.report is None:
        return f"refused: {artifact.refusal}"
    report = artifact.report
    agreement = task_named(report["task"]["name"]).agreement
    kept = ", kept" if artifact.kept else ""
    said = agreement.format(report["parity_with_original"][agreement.name])
    return f"{report['bytes'] / 1e3:,.1f} kB, {agreement.title.lower()} as the original {said}{kept}"

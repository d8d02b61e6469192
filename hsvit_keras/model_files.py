"""Saved Keras models, and what a training run left beside them."""

import json
import pathlib
import re
import zipfile

import numpy as np

from hsvit_runtime.errors import InputError, MissingFileError


def load_model(path):
    """Loads a `.keras` file for inference.

    Args:
        path: str or path.

    Returns:
        A `keras.Model`.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is no `.keras` file, is damaged or needs classes that are not registered.
    """
    import keras

    import hsvit_keras  # noqa: F401 -- registers the classes that saved models name

    path = pathlib.Path(path)
    if not path.is_file():
        raise MissingFileError(f"there is no model file {path}")
    if path.suffix != ".keras":
        raise InputError(f"cannot load {path}: a model saved by Keras ends in .keras")
    if not zipfile.is_zipfile(path):
        raise InputError(f"{path} is damaged or no Keras model: it is no zip archive, or was cut short")
    try:
        return keras.models.load_model(path, compile=False)
    except Exception as error:  # a damaged file ends in a dozen kinds of exception
        raise InputError(f"{path} is damaged or no Keras model: {_reason(error)}") from error


def _reason(error):
    """Keras' message in one line, what it says of a class first."""
    words = " ".join(str(error).split()) or type(error).__name__
    if unknown := re.search(r"Could not locate class '(\w+)'", words):
        return f"it needs the class {unknown[1]!r}, which is not registered with Keras"
    return words if len(words) <= 300 else f"...{words[-300:]}"


def run_config_beside(path):
    """The config of the run that saved `path`, as its config.json holds it.

    Args:
        path: path of a model in the folder of a run of `training.train`.

    Returns:
        dict; empty where no run tells.
    """
    config = pathlib.Path(path).with_name("config.json")
    try:
        content = json.loads(config.read_text())
    except (OSError, ValueError):
        return {}
    known = isinstance(content, dict) and {"mean", "std"} <= set(content)  # not some other program's
    return content if known else {}


def normalization_beside(path):
    """The mean and std, in units of 0..1, that the run which saved `path` normalized its images with.

    Args:
        path: path of a model in the folder of a run of `training.train`.

    Returns:
        (mean, std), each a float or a list with one float a channel; (0.0, 1.0) where no run tells.
    """
    config = run_config_beside(path)
    return config.get("mean", 0.0), config.get("std", 1.0)


def labels_beside(path):
    """The file of class names that a run of `training.train` left beside `path`, or None."""
    labels = pathlib.Path(path).with_name("labels.txt")
    return labels if labels.is_file() else None


def check_normalization(mean, std, channels):
    """Raises `ValueError` unless mean and std are one number, or one for each channel, and std above 0."""
    try:
        both = [np.asarray(values, "float64") for values in (mean, std)]
        fits = all(values.size in (1, channels) and np.isfinite(values).all() for values in both)
        fits = fits and (both[1] > 0).all()
    except (TypeError, ValueError):
        fits = False
    if not fits:
        raise InputError(
            f"mean and std have to be one number or one for each of the {channels} channels, std above 0; "
            f"received mean={mean}, std={std}"
        )

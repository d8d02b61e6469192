"""Saved Keras models."""

import importlib.util
import json
import pathlib
import re
import sys
import sysconfig
import zipfile

import keras

from hsvit_runtime.errors import InputError, MissingFileError

# Packages beside itself that Keras imports when the config of a model names them.
_IMPORTED = ("keras_cv", "keras_hub", "keras_nlp")


def load_model(path):
    """Loads a `.keras` file, or an older `.h5` file of a whole model, for inference.

    Args:
        path: str or path.

    Returns:
        A `keras.Model`.

    Raises:
        MissingFileError: there is no such file.
        InputError: the file is no model file, is damaged, needs classes that are not registered, or has a
            `Lambda` layer, whose code Keras runs only where that is allowed; or its classes are of a package
            that is not among the installed ones, such as a folder of that name beside the script.
    """
    path = pathlib.Path(path)
    if not path.is_file():
        raise MissingFileError(f"there is no model file {path}")
    if path.suffix not in (".keras", ".h5"):
        raise InputError(f"cannot load {path}: a model saved by Keras ends in .keras or .h5")
    if path.suffix == ".keras" and not zipfile.is_zipfile(path):
        raise InputError(f"{path} is damaged or no Keras model: it is no zip archive, or was cut short")
    if path.suffix == ".keras":
        _check_imports(path)
    try:
        model = keras.models.load_model(path, compile=False)
    except Exception as error:  # a damaged file ends in a dozen kinds of exception
        raise InputError(f"{path} is damaged or no Keras model: {_reason(error)}") from error
    if path.suffix == ".keras" and (loss := _loss(path)):
        model.loss = loss  # which says what outputs without an activation are
    return model


def _check_imports(path):
    """Raises `InputError` if loading would import a package that is not among the installed ones."""
    packages = set()

    def collect(entry):
        packages.add(str(entry.get("module")).partition(".")[0])
        return entry

    try:
        with zipfile.ZipFile(path) as archive:
            json.loads(archive.read("config.json"), object_hook=collect)
    except Exception:  # Keras says what is wrong with the file
        return
    installed = [pathlib.Path(sysconfig.get_path(name)).resolve() for name in ("purelib", "platlib")]
    for package in packages.intersection(_IMPORTED):
        if package in sys.modules:  # somebody has asked for it
            continue
        found = importlib.util.find_spec(package)
        if found is None or found.origin is None:
            continue
        place = pathlib.Path(found.origin).resolve()
        if not any(place.is_relative_to(folder) for folder in installed):
            raise InputError(
                f"{path} needs the package {package!r}, which lies in {place.parent} and is not installed: "
                f"if you trust it, import it first, in commands by --import={package}"
            )


def _loss(path):
    """The name of the loss that a `.keras` file was compiled with; None where it is not one of Keras'."""
    with zipfile.ZipFile(path) as archive:
        loss = (json.loads(archive.read("config.json")).get("compile_config") or {}).get("loss")
    if isinstance(loss, dict) and loss.get("module") == "keras.losses":
        loss = (loss.get("config") or {}).get("name")
    return loss if isinstance(loss, str) else None


def _reason(error):
    """Keras' message in one line, an unknown class first."""
    words = " ".join(str(error).split()) or type(error).__name__
    if unknown := re.search(r"Could not locate class '(\w+)'", words):
        return (
            f"it needs the class {unknown[1]!r}, which is not registered with Keras: import the module that "
            "defines it first, in commands by --import=MODULE"
        )
    if "unsafe" in words and "lambda" in words.lower():
        return (
            "it has a Lambda layer, whose code runs with it: if you trust the file, allow it by "
            "keras.config.enable_unsafe_deserialization(), in commands by --unsafe"
        )
    return words if len(words) <= 300 else f"...{words[-300:]}"

"""Saved Keras models."""

import pathlib
import re

import keras
import numpy as np

from hsvit_keras import model_archive
from hsvit_runtime import input_files
from hsvit_runtime.errors import InputError, listed

_LONGEST = 300  # characters of Keras' messages


def load_model(path):
    """Loads a `.keras` file, or an older `.h5` file of a whole model, for inference.

    Args:
        path: str or path.

    Returns:
        A `keras.Model`.

    Raises:
        MissingFileError: there is no such file.
        FileError: it is no ordinary file that can be read.
        InputError: the file is no model file, is damaged, needs classes that are not registered, or has a
            `Lambda` layer, whose code Keras runs only where that is allowed; its classes are of a package
            that is not among the installed ones, such as a folder of that name beside the script; it was
            saved before it was built; or its weights are not finite.
    """
    path = pathlib.Path(path)
    if path.suffix not in (".keras", ".h5"):
        input_files.check(path, "model file", may_be_empty=True)
        raise InputError(f"cannot load {path}: a model saved by Keras ends in .keras or .h5")
    input_files.check(path, "model file", may_be_empty=True)
    config = model_archive.read_config(path) if path.suffix == ".keras" else {}
    try:
        model = keras.models.load_model(path, compile=False)
    except Exception as error:  # a damaged file ends in a dozen kinds of exception
        raise InputError(f"{path} is damaged or no Keras model: {_reason(error)}") from error
    if isinstance(model, keras.Sequential) and not model.built:
        raise InputError(
            f"{path} was saved before it was built, and has no weights: give the Sequential a keras.Input, "
            "or call it once, and save it then"
        )
    check_finite(model, path)
    if loss := _loss(config):
        model.loss = loss  # which says what outputs without an activation are
    return model


def check_finite(model, name):
    """Raises `InputError` if weights of a model hold NaN or infinity, which names them.

    Args:
        model: `keras.Model`.
        name: str or path, the model, for the error.
    """
    found = []
    for variable in model.variables:
        values = keras.ops.convert_to_numpy(variable.value)
        if values.dtype.kind in "biuUS":
            continue
        wrong = values.size - np.count_nonzero(np.isfinite(np.asarray(values, "float32")))
        if wrong:
            found.append(f"{variable.path} ({wrong:,} of {values.size:,} values)")
    if found:
        raise InputError(f"{name} holds NaN or infinity in its weights: {listed(found)}")


def _loss(config):
    """The name of the loss that a `.keras` file was compiled with; None where it is not one of Keras'."""
    compiled = config.get("compile_config")
    loss = compiled.get("loss") if isinstance(compiled, dict) else None
    if isinstance(loss, dict) and loss.get("module") == "keras.losses":
        loss = (loss.get("config") or {}).get("name")
    return loss if isinstance(loss, str) else None


def _reason(error):
    """Keras' message in one line and in our words where we know it, an unknown class first."""
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
    if isinstance(error, MemoryError) or "OOM when" in words or "RESOURCE_EXHAUSTED" in words:
        shape = re.search(r"shape ?(\[[\d,]+\])", words)
        return f"its config asks for more memory than there is{f', a tensor of {shape[1]}' if shape else ''}"
    if re.search(r"[Uu]nable to (a?synchronously )?open|truncated file|file signature", words):
        return "its weights are damaged or cut short"
    if isinstance(error, KeyError):
        return f"its config lacks {words}"
    if isinstance(error, TypeError | AttributeError) and "Exception encountered" not in words:
        return f"its config is not one of Keras ({words[:_LONGEST]})"
    layer = re.search(r"<class '(?:\w+\.)*(\w+)'> could not be deserialized", words)
    reason = words.rpartition("Exception encountered: ")[2]
    if layer:
        reason = f"its {layer[1]} cannot be made: {reason}"
    return reason if len(reason) <= _LONGEST else f"{reason[:_LONGEST]}..."

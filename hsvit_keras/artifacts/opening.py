"""Opens whatever runs: `.keras`, `.tflite` and `.onnx` files behind one interface."""

import pathlib

from hsvit_keras.artifacts.keras_model import KerasModel
from hsvit_runtime import SUFFIXES, open_artifact
from hsvit_runtime.errors import InputError


def open_model(path, *, threads=1):
    """Opens a model to run it, one sample at a time where its batch is free.

    Args:
        path: str or path of a `.keras`, `.tflite` or `.onnx` file.
        threads: int, CPU threads to ask for.

    Returns:
        A `hsvit_runtime.runnable.Runnable`.

    Raises:
        MissingFileError: there is no such file.
        InputError: it is of another kind, or damaged.
    """
    suffix = pathlib.Path(path).suffix
    if suffix == ".keras":
        return KerasModel(path, threads=threads)
    if suffix not in SUFFIXES:
        raise InputError(f"cannot run {path}: its name has to end in .keras, {' or '.join(SUFFIXES)}")
    return open_artifact(path, threads=threads)

"""Reads, describes and runs `.tflite` and `.onnx` files without Keras."""

import pathlib

from hsvit_runtime.errors import InputError, MissingFileError

SUFFIXES = (".tflite", ".onnx")


def open_artifact(path, *, threads=1):
    """Opens an artifact to run it.

    Args:
        path: str or path of a `.tflite` or `.onnx` file.
        threads: int, number of CPU threads.

    Returns:
        A `hsvit_runtime.runnable.Runnable`.

    Raises:
        MissingFileError: there is no such file.
        InputError: the file name has another suffix, or the file cannot be loaded.
    """
    path = pathlib.Path(path)
    if path.suffix not in SUFFIXES:
        raise InputError(f"cannot run {path}: its name has to end in {' or '.join(SUFFIXES)}")
    if not path.is_file():
        raise MissingFileError(f"there is no model file {path}")
    if path.suffix == ".tflite":
        from hsvit_runtime.tflite_model import TFLiteModel

        return TFLiteModel(path, threads=threads)
    from hsvit_runtime.onnx_model import OnnxModel

    return OnnxModel(path, threads=threads)

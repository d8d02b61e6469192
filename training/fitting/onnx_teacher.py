"""A teacher from an `.onnx` file of anybody: ONNX Runtime answers, and what it answers is constant."""

import os
import pathlib

import keras
import numpy as np

from command_line.model_data import input_range_of_file
from hsvit_runtime.errors import InputError, MissingFileError
from hsvit_runtime.onnx_model import OnnxModel


class OnnxTeacher(keras.layers.Layer):
    """Asks a file for the logits of each batch; no gradient passes.

    Its images may be `(batch, height, width, channels)` or, as PyTorch exports them, `(batch, channels,
    height, width)`. It computes on the CPU.

    Args:
        path: path of the file.
        image_shape: (height, width, channels) of the images that it will get.
        input_range: (low, high), the values of their black and white pixels.
        own_range: the same of the file's images, where the file does not say it; or None.
        option: str, how the user says it, for the error.

    Call arguments:
        images: Tensor `(batch, height, width, channels)`.

    Returns:
        float32 Tensor `(batch, classes)`, logits; those of probabilities are their logarithms where the file
        says that it gives probabilities.

    Raises:
        MissingFileError: there is no such file.
        InputError: it is no model from such images to one row an image, or does not say its pixels' values.
    """

    def __init__(self, path, image_shape, input_range, own_range=None, option="own_range"):
        path = pathlib.Path(path)
        super().__init__(name=path.stem, dtype="float32", trainable=False)
        if not path.is_file():
            raise MissingFileError(f"there is no model file {path}")
        self._file = OnnxModel(path, threads=len(os.sched_getaffinity(0)))
        self._channels_first = _takes_channels_first(self._file, tuple(image_shape))
        self._classes = _classes(self._file)
        self._from, self._to = input_range, input_range_of_file(self._file, own_range, option)

    def compute_output_shape(self, input_shape):
        return input_shape[0], self._classes

    def call(self, images):
        if keras.backend.backend() == "jax":
            import jax

            shape = jax.ShapeDtypeStruct((images.shape[0], self._classes), "float32")
            return jax.pure_callback(self._answer, shape, images)
        import tensorflow as tf

        logits = tf.numpy_function(self._answer, [images], "float32", stateful=False)
        return tf.ensure_shape(logits, (images.shape[0], self._classes))

    def _answer(self, images):
        (low, high), (own_low, own_high) = self._from, self._to
        images = (np.asarray(images, "float32") - low) * ((own_high - own_low) / (high - low)) + own_low
        answer = self._file.predict_only(images.transpose(0, 3, 1, 2) if self._channels_first else images)
        if self._file.description.probabilities:
            answer = np.log(np.maximum(answer, keras.config.epsilon()))
        return answer.astype("float32")


def _takes_channels_first(file, image_shape):
    """Whether the file has the channels in front; raises `InputError` if it takes images of another shape."""
    *sides, channels = image_shape
    shapes = [tensor.shape for tensor in file.inputs]
    for first, wanted in ((False, (*sides, channels)), (True, (channels, *sides))):
        if len(shapes) == 1 and len(shapes[0]) == 4 and _fits(shapes[0][1:], wanted):
            return first
    raise InputError(f"it has to take images of {image_shape}; it takes {_listed(shapes)}")


def _classes(file):
    shapes = [tensor.shape for tensor in file.outputs]
    if len(shapes) != 1 or len(shapes[0]) != 2 or shapes[0][1] is None:
        raise InputError(f"it has to give one output (batch, classes); it gives {_listed(shapes)}")
    return shapes[0][1]


def _fits(shape, wanted):
    return all(size in (None, right) for size, right in zip(shape, wanted, strict=True))


def _listed(shapes):
    return ", ".join(str(shape) for shape in shapes)

"""The common interface of models that can be run: Keras models, `.tflite` files and `.onnx` files.

model = open_artifact("model.tflite")
outputs = model.run({"image": pixels})      # tensors of the model's own types, such as int8
outputs = model.predict({"image": pixels})  # float32 values, quantized and dequantized as needed
"""

import abc
import dataclasses

import numpy as np

from hsvit_runtime.description import Description
from hsvit_runtime.errors import InputError


@dataclasses.dataclass(frozen=True)
class Tensor:
    """An input or an output of a model.

    An integer `q` of a quantized tensor represents the value `(q - zero_point) * scale`.

    Attributes:
        name: str.
        shape: tuple of int, with None for an axis of any size.
        dtype: `numpy.dtype`.
        scale: float; None if the tensor is not quantized.
        zero_point: int, the integer that represents 0; None if the tensor is not quantized.
    """

    name: str
    shape: tuple
    dtype: np.dtype
    scale: float | None = None
    zero_point: int | None = None

    def quantize(self, values):
        """Converts values to this tensor's type; for integer types they are quantized and clipped."""
        values = np.asarray(values)
        if self.dtype.kind not in "iu":
            return values.astype(self.dtype)
        limits = np.iinfo(self.dtype)
        integers = np.rint(values / (self.scale or 1.0)) + (self.zero_point or 0)
        return np.clip(integers, limits.min, limits.max).astype(self.dtype)

    def dequantize(self, content):
        """The float32 values that the content of this tensor represents."""
        values = np.asarray(content, "float32")
        return values if self.scale is None else (values - self.zero_point) * np.float32(self.scale)

    @property
    def limits(self):
        """(low, high), the values of the least and the greatest 8-bit integer; None for any other type."""
        if self.dtype not in (np.uint8, np.int8):
            return None
        low, high = np.iinfo(self.dtype).min, np.iinfo(self.dtype).max
        scale, zero_point = self.scale or 1.0, self.zero_point or 0
        return (low - zero_point) * scale, (high - zero_point) * scale

    def to_json(self):
        """A dict of plain values, as used in reports."""
        return {
            "name": self.name,
            "shape": list(self.shape),
            "dtype": self.dtype.name,
            "scale": self.scale,
            "zero_point": self.zero_point,
        }


class Runnable(abc.ABC):
    """A model that can be run.

    Attributes:
        inputs, outputs: tuples of `Tensor`.
        description: `Description` stored in the file.
        activation: str, such as "softmax", the last activation of the only output; None if it is not known.
        loss: str, Keras' name of the loss that it was trained by; None if it is not known.
        runtime: dict `{name, version}`.
        threads_used: int; None if the runtime does not report it.
        delegation: dict `{delegate, partitions, nodes_delegated, nodes_total}`; values are None if unknown.
        init_ms: float, milliseconds for reading the file, allocating memory and building the graph.
    """

    inputs: tuple
    outputs: tuple
    description: Description
    activation: str | None = None
    loss: str | None = None
    runtime: dict
    threads_used: int | None = None
    delegation: dict = dict.fromkeys(("delegate", "partitions", "nodes_delegated", "nodes_total"))
    init_ms: float | None = None

    @abc.abstractmethod
    def run(self, inputs):
        """Runs the model once.

        Args:
            inputs: dict from an input's name to an array of its dtype and shape.

        Returns:
            dict from an output's name to an array of its dtype.
        """

    def quantize(self, inputs):
        """Converts a dict of values to the dict of tensors that `run` takes."""
        return {tensor.name: tensor.quantize(inputs[tensor.name]) for tensor in self.inputs}

    def dequantize(self, outputs):
        """Converts the dict of tensors that `run` returns to a dict of float32 values."""
        return {tensor.name: tensor.dequantize(outputs[tensor.name]) for tensor in self.outputs}

    def predict(self, inputs):
        """Runs the model on float values, in batches of the size that the model takes.

        Args:
            inputs: dict from an input's name to an array whose first axis is the batch, of any size.

        Returns:
            dict from an output's name to a float32 array.
        """
        tensors, size = self.quantize(inputs), self.inputs[0].shape[0]
        count = len(next(iter(tensors.values())))
        batches = []
        for start in range(0, count, size or count):
            batch = {name: array[start : start + (size or count)] for name, array in tensors.items()}
            batches.append(self.dequantize(self.run(_padded(batch, size))))
        return {name: joined(name, [batch[name] for batch in batches])[:count] for name in batches[0]}

    def predict_only(self, inputs):
        """`predict` of a model with one input and one output: takes an array, returns a float32 array."""
        (output,) = self.predict({self.inputs[0].name: inputs}).values()
        return output


def joined(name, parts):
    """What an output is for all samples, from what it is for each batch.

    Raises:
        InputError: it has no axis of the batch.
    """
    if not parts[0].ndim:
        raise InputError(
            f"the output {name!r} is one number for a whole batch; one for each sample is needed"
        )
    return np.concatenate(parts)


def _padded(tensors, size):
    """Appends zeros to a batch, up to the batch size of the model."""
    missing = max(0, (size or 0) - len(next(iter(tensors.values()))))
    if not missing:
        return tensors
    return {
        name: np.pad(array, [(0, missing)] + [(0, 0)] * (array.ndim - 1)) for name, array in tensors.items()
    }

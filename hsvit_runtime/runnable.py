"""The one interface of whatever runs: a Keras model, a `.tflite` file, an `.onnx` file.

model = open_artifact("model.tflite")
outputs = model.run({"image": pixels})      # tensors as the file has them, such as int8
outputs = model.predict({"image": pixels})  # numbers: put on the input's grid, and read off the output's
"""

import abc
import dataclasses

import numpy as np

from hsvit_runtime.description import Description


@dataclasses.dataclass(frozen=True)
class Tensor:
    """An input or an output.

    Attributes:
        name: str.
        shape: tuple of int, None for an axis of any size.
        dtype: `numpy.dtype`.
        scale: float, what an integer step stands for; None where numbers stand for themselves.
        zero_point: int, the integer that stands for 0.
    """

    name: str
    shape: tuple
    dtype: np.dtype
    scale: float | None = None
    zero_point: int | None = None

    def quantize(self, values):
        """Numbers as this tensor holds them: integers are rounded to its grid and clipped to its range."""
        values = np.asarray(values)
        if self.dtype.kind not in "iu":
            return values.astype(self.dtype)
        limits = np.iinfo(self.dtype)
        levels = np.rint(values / (self.scale or 1.0)) + (self.zero_point or 0)
        return np.clip(levels, limits.min, limits.max).astype(self.dtype)

    def dequantize(self, levels):
        """The float32 numbers that this tensor's content stands for."""
        numbers = np.asarray(levels, "float32")
        return numbers if self.scale is None else (numbers - self.zero_point) * np.float32(self.scale)

    def to_json(self):
        """dict of plain values, as reports hold it."""
        return {
            "name": self.name,
            "shape": list(self.shape),
            "dtype": self.dtype.name,
            "scale": self.scale,
            "zero_point": self.zero_point,
        }


class Runnable(abc.ABC):
    """A model that runs.

    Attributes:
        inputs, outputs: tuples of `Tensor`.
        description: `Description`, what the file says of itself.
        runtime: dict `{name, version}`.
        threads_used: int, None where the runtime does not tell.
        delegation: dict `{delegate, partitions, nodes_delegated, nodes_total}`, None for what is not known.
        init_ms: float, how long it took to read the file, allocate memory and build the graph.
    """

    inputs: tuple
    outputs: tuple
    description: Description
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
        """dict of numbers as the dict of tensors that `run` takes."""
        return {tensor.name: tensor.quantize(inputs[tensor.name]) for tensor in self.inputs}

    def dequantize(self, outputs):
        """dict of the tensors that `run` gives, as float32 numbers."""
        return {tensor.name: tensor.dequantize(outputs[tensor.name]) for tensor in self.outputs}

    def predict(self, inputs):
        """`run` on numbers: dict of arrays to dict of float32 arrays; a batch is cut to what the model takes.

        Args:
            inputs: dict from an input's name to an array whose first axis is the batch.

        Returns:
            dict from an output's name to a float32 array.
        """
        tensors, size = self.quantize(inputs), self.inputs[0].shape[0]
        count = len(next(iter(tensors.values())))
        parts = []
        for start in range(0, count, size or count):
            part = {name: array[start : start + (size or count)] for name, array in tensors.items()}
            parts.append(self.dequantize(self.run(_filled_up(part, size))))
        return {name: np.concatenate([part[name] for part in parts])[:count] for name in parts[0]}

    def predict_only(self, inputs):
        """`predict` of a model with one input and one output: array to float32 array."""
        (output,) = self.predict({self.inputs[0].name: inputs}).values()
        return output


def _filled_up(tensors, size):
    """A batch with zeros behind it, up to the size that the model takes."""
    missing = max(0, (size or 0) - len(next(iter(tensors.values()))))
    if not missing:
        return tensors
    return {
        name: np.pad(array, [(0, missing)] + [(0, 0)] * (array.ndim - 1)) for name, array in tensors.items()
    }

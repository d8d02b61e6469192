"""What the commands that cut an HSViT have in common."""

import dataclasses

import numpy as np

from hsvit_keras.artifacts import comparison, tflite_conversion
from hsvit_keras.artifacts.keras_model import predict
from hsvit_keras.artifacts.writing import with_ranges
from hsvit_keras.compression.model_inputs import input_name
from hsvit_keras.tasks import TASKS
from hsvit_runtime.errors import InputError
from hsvit_runtime.presets import PRESETS


@dataclasses.dataclass(frozen=True)
class Request:
    """How an HSViT is converted in parts.

    Attributes:
        model: `keras.Model` in float32.
        samples: `hsvit_keras.Samples` to compare the outputs on.
        preset: str, a name of `hsvit_keras.artifacts.PRESETS`.
        runtime: str such as "2.16", the oldest runtime that has to load the files; the current by default.
        calibration: `Calibration` that sets the ranges of each part, for int8; None otherwise.
        input_range: (low, high), the values of a black and a white pixel.
    """

    model: object
    samples: object
    preset: str = "float32"
    runtime: str | None = None
    calibration: object = None
    input_range: tuple = (0, 255)

    def __post_init__(self):
        tflite_conversion.parse_version(self.runtime)
        if self.calibration is not None and self.preset != "int8":
            raise InputError(f"calibration is for preset='int8'; received preset={self.preset!r}")

    def with_ranges(self, parts):
        """The parts, each with ranges of its own where the preset needs them."""
        if self.preset != "int8":
            return parts
        return [with_ranges(part, self.calibration) for part in parts]


def check_with_original(request, original, run):
    """Raises `InputError` if calibration has made a model in parts say something else than it did.

    Args:
        request: `Request`.
        original: `keras.Model`, as it was handed in.
        run: see `parity_of`.
    """
    if request.calibration is None:
        return
    expected = predict(original, {input_name(original.inputs[0]): request.samples.inputs})
    limits = PRESETS[request.preset].original_limits
    comparison.check_with_original(parity_of(request, expected, run), limits)


def parity_of(request, expected, run):
    """How near the logits of a model in parts are to Keras'.

    Args:
        request: `Request`.
        expected: dict from name to logits (count, classes).
        run: function from one input (1, height, width, channels) to logits (1, classes).

    Returns:
        dict as of `hsvit_keras.artifacts.comparison.compare`, with `data`.
    """
    task, samples = TASKS["classification"], request.samples
    logits = np.concatenate([run(samples.inputs[i : i + 1]) for i in range(len(samples.inputs))])
    outputs = dict.fromkeys(expected, logits)
    metrics = {} if samples.labels is None else task.evaluate(outputs, samples.labels)
    compared = comparison.compare_outputs(task, expected, outputs)
    return {"data": samples.data, **compared, "metrics": metrics}

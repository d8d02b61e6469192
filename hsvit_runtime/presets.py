"""Presets of artifacts: types of weights and activations, and limits for differences from Keras."""

import dataclasses

from hsvit_runtime.errors import InputError

# Measured on small trained classifiers of digits: calibrated by a few digits they keep a cosine of 0.999 and
# all that is not nearly tied; by black images, a cosine of -0.1 to 0.89 and 10 to 88 % of the classes. One in
# twenty leaves room for models that are harder to round.
_ORIGINAL_LIMITS = {"cosine": 0.9, "alike": 0.95}
# Random pixels leave the ranges of real images, and are of no class: calibrated well, the same models keep a
# cosine of 0.97 and 89 % of the classes; by black images, a cosine of 0.03 to 0.75 and 2 to 59 %.
_ORIGINAL_LIMITS_ON_NOISE = {"cosine": 0.9, "alike": 0.8}
_ALIKE = 0.95  # what the converter itself may change is less


@dataclasses.dataclass(frozen=True)
class Preset:
    """How an artifact stores weights and computes, and how much its outputs may differ from Keras.

    Attributes:
        meaning: str, a description for users.
        weights: str, "float32", "float16" or "int8".
        activations: str, "float32"; "dynamic", quantized at run time; or "int8", by the ranges of the model.
        limits: dict with `max_abs_diff`, the largest allowed difference of an output value, relative to the
            largest output value if that is above 1; or `cosine`, the lowest allowed cosine similarity of all
            outputs; and `alike`, the lowest allowed share of what both say alike, see
            `hsvit_keras.tasks.Task.compare`. They hold against the Keras model that the artifact was made
            from, with its ranges.
        original_limits: dict likewise, against the model that was handed in: before its calibration.
        original_limits_on_noise: dict likewise, where the samples are made up.
    """

    meaning: str
    weights: str
    activations: str
    limits: dict
    original_limits: dict = dataclasses.field(default_factory=_ORIGINAL_LIMITS.copy)
    original_limits_on_noise: dict = dataclasses.field(default_factory=_ORIGINAL_LIMITS_ON_NOISE.copy)

    @property
    def needs_ranges(self):
        """Whether the activations need ranges, from quantization-aware training or calibration."""
        return self.activations == "int8"


# How calibration finds ranges, see `hsvit_keras.calibrate`.
RANGE_METHODS = ("extremes", "mean", "least_error", "entropy")

# Types of an artifact's inputs and outputs; the integer types need quantized activations.
TENSOR_TYPES = ("float32", "uint8", "int8")
ONNX_TENSOR_TYPES = ("float32", "uint8")

PRESETS = {
    "float32": Preset("as trained", "float32", "float32", {"max_abs_diff": 2e-5, "alike": _ALIKE}),
    "float16": Preset(
        "half the size, computed in float32", "float16", "float32", {"cosine": 0.9999, "alike": _ALIKE}
    ),
    "dynamic": Preset(
        "8-bit weights, activations quantized at run time",
        "int8",
        "dynamic",
        {"cosine": 0.999, "alike": _ALIKE},
    ),
    "int8": Preset(
        "8-bit weights and activations, by the ranges of the model",
        "int8",
        "int8",
        {"cosine": 0.999, "alike": _ALIKE},
    ),
}
# Versions of the operators: what kernels of 8 bits need at least, and the newest that tf2onnx writes.
ONNX_OPSETS = (17, 18)
# ONNX Runtime sums in another order than Keras, so float32 differs more. It has no "dynamic" preset, since it
# has no kernels for convolutions that quantize activations at run time.
ONNX_PRESETS = {
    "float32": dataclasses.replace(PRESETS["float32"], limits={"max_abs_diff": 1e-4, "alike": _ALIKE}),
    "float16": PRESETS["float16"],
    "int8": PRESETS["int8"],
}


def preset_named(name, presets=PRESETS):
    """The preset of a name.

    Raises:
        InputError: there is no preset of that name.
    """
    if name not in presets:
        raise InputError(f"preset has to be one of {', '.join(presets)}; received preset={name!r}")
    return presets[name]

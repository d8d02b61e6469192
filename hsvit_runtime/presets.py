"""How an artifact stores weights and computes, and how far its outputs may be from Keras'."""

import dataclasses

from hsvit_runtime.errors import InputError


@dataclasses.dataclass(frozen=True)
class Preset:
    """A form of artifacts.

    Attributes:
        meaning: str, one line for people.
        weights: str, "float32", "float16" or "int8".
        activations: str, "float32"; "dynamic", quantized while running; or "int8", by the model's ranges.
        limits: dict with `max_abs_diff`, the largest difference of one output, relative to the largest output
            where that is above 1; or `cosine`, the lowest similarity of all outputs as one vector.
    """

    meaning: str
    weights: str
    activations: str
    limits: dict

    @property
    def needs_ranges(self):
        """Whether the model's activations need ranges, by training or by calibration."""
        return self.activations == "int8"


# Types of an artifact's inputs and outputs; integers are for quantized activations.
TENSOR_TYPES = ("float32", "uint8", "int8")

PRESETS = {
    "float32": Preset("as trained", "float32", "float32", {"max_abs_diff": 2e-5}),
    "float16": Preset("half the size, computed in float32", "float16", "float32", {"cosine": 0.9999}),
    "dynamic": Preset(
        "8-bit weights, activations quantized while running", "int8", "dynamic", {"cosine": 0.999}
    ),
    "int8": Preset(
        "8-bit weights and activations, by the ranges of the model", "int8", "int8", {"cosine": 0.999}
    ),
}
# ONNX Runtime adds in other orders than Keras, and has no kernels that quantize activations while running.
ONNX_PRESETS = {
    "float32": dataclasses.replace(PRESETS["float32"], limits={"max_abs_diff": 1e-4}),
    "float16": PRESETS["float16"],
    "int8": PRESETS["int8"],
}


def preset_named(name, presets=PRESETS):
    """The preset of a name.

    Raises:
        InputError: there is none of that name.
    """
    if name not in presets:
        raise InputError(f"preset has to be one of {', '.join(presets)}; received preset={name!r}")
    return presets[name]

"""`from_timm`: weights of the library timm become one of our models."""

import math

from hsvit_keras.checkpoints.indexed_files import read_weights
from hsvit_keras.checkpoints.tensors import Tensors
from hsvit_keras.checkpoints.timm.variants import VARIANTS
from hsvit_keras.checkpoints.trunk_weights import with_weights_of
from hsvit_keras.models.registry import registered
from hsvit_runtime.errors import InputError

_CHANNELS = 3


def from_timm(architecture, weights, *, num_classes=None, input_shape=None, interpolation="bicubic"):
    """Makes a Keras model from an image classifier of the library timm.

    Neither that library nor PyTorch is needed.

    Args:
        architecture: str, timm's name without a tag, such as `"resnet50"` or `"vit_base_patch16_224"`; the
            error about an unknown one lists all.
        weights: dict of str to array, or path to a `.safetensors`, `.bin`, `.pt`, `.pth` or `.npz` file, or
            to the `.index.json` of several. Only tensors are read from a file; a pickle that wants anything
            else is refused.
        num_classes: int, for a fresh head with that many logits; by default the head of the weights is kept.
        input_shape: (height, width, channels) in pixels; by default that of the name. For another one the
            positions of ViT, DeiT and PiT and EfficientFormer's biases of attention are interpolated.
        interpolation: str, `"bicubic"` or `"bilinear"`. Nothing is smoothed where there are fewer positions;
            timm does.

    Returns:
        A `keras.Model` from pixels `(batch, height, width, channels)` of 0 to 255 to logits. It normalizes
        them, and has in its description how pictures are resized and cut, as timm does for the weights that
        the name stands for; where an odd number of pixels is cut off, timm's centre may lie one pixel beside.
        Weights with another tag may want other pixels.

    Raises:
        ValueError: the architecture is unknown, a file is damaged, a tensor is missing, surplus or has the
            wrong shape, or an argument has a value that does not fit.
        OSError: a file is missing or not readable.

    Example:

    ```python
    model = hsvit_keras.from_timm("mobilevit_xs", "mobilevit_xs.safetensors", num_classes=10)
    ```
    """
    if architecture not in VARIANTS:
        raise InputError(
            f"architecture has to be one of {', '.join(VARIANTS)}; received architecture={architecture!r}"
        )
    variant, state_dict = VARIANTS[architecture], read_weights(weights)
    shape = tuple(input_shape or (variant.side, variant.side, _CHANNELS))
    known_classes = len(state_dict.get(f"{variant.head}.bias", range(1000)))
    model = build(architecture, shape, known_classes)
    tensors = Tensors(state_dict, variant.grid, interpolation)
    variant.load(model, tensors)
    tensors.finish()
    if num_classes in (None, known_classes):
        return model
    return with_weights_of(model, build(architecture, shape, num_classes))


def build(architecture, input_shape, num_classes):
    """One of timm's models with fresh weights.

    Args:
        architecture: str, one of `VARIANTS`.
        input_shape: (height, width, channels) in pixels.
        num_classes: int.
    """
    variant = VARIANTS[architecture]
    nearest, (mean, std) = registered(variant.model), variant.pixels
    return nearest.model_class(
        **{**nearest.arguments(input_shape), **variant.arguments},
        input_shape=input_shape,
        num_classes=num_classes,
        name=architecture,
        mean=mean,
        std=std,
        resizing={"filter": "bicubic", "size": math.floor(max(input_shape[:2]) / variant.crop)},
    )

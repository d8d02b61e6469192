"""`from_torch`: the authors' constructor arguments and weights become one of our models."""

from collections.abc import Mapping

from hsvit_keras.checkpoints import (
    cct,
    cvt,
    cvt_microsoft,
    deformable_detr,
    deit,
    dhvt,
    efficientformer,
    efficientnet,
    fnet2d,
    hsvit,
    hvt,
    levit,
    mlp_mixer,
    mobilenet_v2,
    mobilevit,
    ms_deform_attn,
    pit,
    pooling_xformer,
    resnet,
    swiftformer,
    timesformer,
    vision_xformer,
)
from hsvit_keras.checkpoints.indexed_files import read_weights
from hsvit_keras.checkpoints.tensors import Tensors
from hsvit_runtime.errors import InputError

_MODULES = (
    cct,
    cvt,
    cvt_microsoft,
    deformable_detr,
    deit,
    dhvt,
    efficientformer,
    efficientnet,
    fnet2d,
    hsvit,
    hvt,
    levit,
    mlp_mixer,
    mobilenet_v2,
    mobilevit,
    ms_deform_attn,
    pit,
    pooling_xformer,
    resnet,
    swiftformer,
    timesformer,
    vision_xformer,
)
_FAMILIES = {name: family for family in _MODULES for name in family.ARCHITECTURES}


def from_torch(architecture, config, state_dict, *, input_shape=None, interpolation="bicubic"):
    """Makes a Keras model from the authors' PyTorch checkpoint: same arguments, same weights, same logits.

    PyTorch itself is not needed.

    Args:
        architecture: str, such as `"hsvit"`, `"deit"`, `"vip"` or `"hybrid_vit_rope"`; the error about an
            unknown one lists all.
        config: dict, the authors' constructor arguments (an entry `class` is allowed).
        state_dict: dict of str to array, or path to a `.pt`, `.pth`, `.safetensors` or `.npz` file, or to the
            `.index.json` of several. Only tensors are read from a file; a pickle that wants anything else is
            refused.
        input_shape: (height, width, channels) in pixels, of TimeSformer (frames, height, width, channels),
            where `config` does not tell; or another one than it tells, for which positions of DeiT, ViT of
            timm and PiT and EfficientFormer's biases of attention are interpolated.
        interpolation: str, `"bicubic"` or `"bilinear"`, both as PyTorch's `interpolate` without `antialias`.

    Returns:
        A `keras.Model` from images `(batch, height, width, channels)` to logits.

    Raises:
        ValueError: the architecture is unknown, an argument or a tensor is missing, surplus or has the
            wrong shape.

    Example:

    ```python
    model = hsvit_keras.from_torch("hsvit", config, "hsvit.pth")
    ```
    """
    if architecture not in _FAMILIES:
        raise InputError(
            f"architecture has to be one of {sorted(_FAMILIES)}; received architecture={architecture!r}"
        )
    family = _FAMILIES[architecture]
    _check_config(architecture, config, family)
    weights = read_weights(state_dict)
    model = family.build(architecture, config, input_shape)
    tensors = Tensors(weights, grid_of(family, config) if input_shape else None, interpolation)
    family.load(model, tensors)
    tensors.finish()
    return model


def grid_of(family, config):
    """The map of tokens (height, width) that the positions of a checkpoint are for.

    Args:
        family: module of the family.
        config: dict, the authors' arguments.

    Returns:
        (height, width), or None where a family's positions fit one size of images alone, or it has none.
    """
    return family.grid(config) if hasattr(family, "grid") else None


def _check_config(architecture, config, family):
    if not isinstance(config, Mapping):
        raise InputError(f"config has to be a dict of the authors' arguments; received config={config!r}")
    missing = [name for name in family.REQUIRED if name not in config]
    surplus = [name for name in config if name not in (*family.REQUIRED, *family.OPTIONAL, "class")]
    if missing or surplus:
        raise InputError(
            f"config of {architecture!r} needs {', '.join(family.REQUIRED)}; "
            f"missing: {', '.join(missing) or 'none'}; unknown: {', '.join(surplus) or 'none'}"
        )

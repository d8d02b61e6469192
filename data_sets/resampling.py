"""How pixels between pixels are found, by name."""

from PIL import Image

from hsvit_runtime.errors import InputError

INTERPOLATIONS = {
    "nearest": Image.Resampling.NEAREST,
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
}


def interpolation_named(name):
    """Pillow's filter of a name.

    Raises:
        ValueError: there is none of this name.
    """
    if name not in INTERPOLATIONS:
        raise InputError(f"interpolation has to be one of {', '.join(INTERPOLATIONS)}; received {name!r}")
    return INTERPOLATIONS[name]

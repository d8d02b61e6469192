"""Whatever a picture file holds, upright and in 8 bits of grey or RGB."""

import numpy as np
from PIL import Image, ImageOps

from hsvit_runtime.errors import InputError

# What Pillow may take a file for; it would run a program for some others.
FORMATS = ("BMP", "GIF", "JPEG", "PNG", "PPM", "TIFF", "WEBP")

_BITS_PER_SAMPLE, _PHOTOMETRIC = 258, 262
_WHITE_IS_ZERO = 0


def plain(image):
    """Turns an image upright and converts it to 8 bits, grey or RGB; what is transparent becomes white.

    Of deeper pixels the high bits count. Of several pictures in a file, as an animation has them, the one
    that is shown counts, the first.

    Args:
        image: a Pillow image as `PIL.Image.open` gives it; it is changed.

    Returns:
        A Pillow image in mode L or RGB.

    Raises:
        ValueError: nothing says which of its values are black and white.
    """
    ImageOps.exif_transpose(image, in_place=True)
    if image.mode == "F":
        raise InputError("floating-point pixels have no known range, expected 8 or 16 bits")
    if image.mode.startswith("I"):
        return _from_deep_grey(image)
    mode = "L" if channels_of(image) == 1 else "RGB"
    if image.has_transparency_data:
        image = _on_white(image)
    return image if image.mode == mode else image.convert(mode)


def channels_of(image):
    """How many channels `plain` gives a Pillow image: 1 or 3."""
    is_grey = image.mode.startswith("I") or image.mode == "F"
    return 1 if is_grey or (image.mode in ("1", "L") and not image.has_transparency_data) else 3


def _from_deep_grey(image):
    """Grey of 9 to 16 bits, which `convert` would clip."""
    tags = getattr(image, "tag_v2", {})
    bits = tags.get(_BITS_PER_SAMPLE, (16,))[0]
    values = np.asarray(image)
    if bits > 16 or values.min() < 0 or values.max() >= 2**bits:
        raise InputError("pixels of 32 bits, or with a sign, have no known range, expected 8 or 16 bits")
    levels = (values >> (bits - 8)).astype(np.uint8)
    if tags.get(_PHOTOMETRIC) == _WHITE_IS_ZERO:
        levels = 255 - levels
    if (hidden := image.info.get("transparency")) is not None:
        levels[values == hidden] = 255
    return Image.fromarray(levels)


def _on_white(image):
    hidden = image.info.get("transparency")
    if image.mode == "RGB" and max(hidden) > 255:  # a colour of 16 bits, of which the high ones were read
        image.info["transparency"] = tuple(value >> 8 for value in hidden)
    image = image.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)

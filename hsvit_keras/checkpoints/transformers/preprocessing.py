"""What preprocessor_config.json says of pixels, as arguments of our models, which normalize by themselves."""

import dataclasses

from hsvit_runtime.errors import InputError


@dataclasses.dataclass(frozen=True)
class Preprocessing:
    """What stands between an image and the model of a checkpoint.

    Attributes:
        mean: tuple of float, one a channel, or float: `mean` of `ImageModel`; None without a file.
        std: tuple of float, one a channel, or float: `std` of `ImageModel`; None without a file.
        sides: (height, width) of the images, or None where the file does not tell.
        flips_channels: bool, whether the model reads blue, green, red.
    """

    mean: tuple | float | None = None
    std: tuple | float | None = None
    sides: tuple | None = None
    flips_channels: bool = False


def preprocessing_of(settings):
    """What the dict of a preprocessor_config.json says.

    The library rescales pixels, subtracts a mean and divides by a deviation, each only if it is told to; its
    EfficientNet divides twice, and may have zero in the middle of the pixels' range.

    Raises:
        InputError: images are to be normalized by numbers that are missing.
    """
    settings = {name: value for name, value in settings.items() if value is not None}
    scale = settings.get("rescale_factor", 1 / 255) if settings.get("do_rescale", True) else 1.0
    offset = 127.5 * scale if settings.get("rescale_offset") else 0.0
    mean, std = 0.0, 1.0
    if settings.get("do_normalize", "image_mean" in settings):
        missing = [name for name in ("image_mean", "image_std") if name not in settings]
        if missing:
            raise InputError(f"preprocessor_config.json: do_normalize needs {' and '.join(missing)}")
        mean, std = settings["image_mean"], settings["image_std"]
        if settings.get("include_top"):
            std = _each(std, lambda deviation: deviation**2)
    pixel = 255 * scale  # what a white pixel becomes
    return Preprocessing(
        mean=_each(mean, lambda value: (value + offset) / pixel),
        std=_each(std, lambda value: value / pixel),
        sides=_sides(settings),
        flips_channels=settings.get("do_flip_channel_order", False),
    )


def _each(values, function):
    """The function of a number, or of each in a sequence."""
    return function(values) if isinstance(values, int | float) else tuple(map(function, values))


def _sides(settings):
    """(height, width) of the images, as they are cropped or else resized; None where it is not told."""
    crops = settings.get("do_center_crop", "crop_size" in settings)
    size = settings.get("crop_size" if crops else "size")
    if isinstance(size, dict):
        short = size.get("shortest_edge")
        sides = size.get("height", short), size.get("width", short)
    else:
        sides = tuple(size) if isinstance(size, list) else (size, size)
    return sides if None not in sides else None

"""What preprocessor_config.json says of pixels, as arguments of our models, which normalize by themselves."""

import dataclasses

from hsvit_runtime.errors import InputError
from hsvit_runtime.json_schemas import FLAG, NUMBER, TEXT, array, count, or_null
from hsvit_runtime.resizing import FILTERS, Resizing

_EACH = {"anyOf": [NUMBER, array(NUMBER, 1)]}  # one number for all channels, or one for each
_SIDE = count(1, 10**5)
_SIZE = or_null({"anyOf": [_SIDE, array(_SIDE, 1), {"type": "object", "additionalProperties": _SIDE}]})
_SCALE = or_null({"type": "number", "exclusiveMinimum": 0, "maximum": 1e6})
# What a preprocessor_config.json may say.
SETTINGS = {
    "type": "object",
    "patternProperties": {"^do_": or_null(FLAG), "^image_(mean|std)$": or_null(_EACH)},
    "properties": {
        "image_processor_type": or_null(TEXT),
        "feature_extractor_type": or_null(TEXT),
        "size": _SIZE,
        "crop_size": _SIZE,
        "crop_pct": _SCALE,
        "rescale_factor": _SCALE,
        "rescale_offset": or_null(FLAG),
        "include_top": or_null(FLAG),
    },
}

_HALF = {"do_normalize": True, "image_mean": [0.5] * 3, "image_std": [0.5] * 3}
# What a class of the library does where a file does not say it: those of version 5.24, and of 4.46 that of
# EfficientFormer, which later ones have not.
PROCESSORS = {
    "ViTImageProcessor": {"size": 224, "resample": 2, **_HALF},
    "DeiTImageProcessor": {"size": 256, "resample": 3, "crop_size": 224, "do_center_crop": True, **_HALF},
    "ConvNextImageProcessor": {
        "size": 384, "resample": 3, "crop_pct": 224 / 256, "do_center_crop": False, **_HALF,
    },
    "BitImageProcessor": {
        "size": 224, "resample": 3, "crop_size": 224, "do_center_crop": True, "do_normalize": True,
        "image_mean": [0.48145466, 0.4578275, 0.40821073],
        "image_std": [0.26862954, 0.26130258, 0.27577711],
    },
    "MobileNetV2ImageProcessor": {
        "size": 256, "resample": 2, "crop_size": 224, "do_center_crop": True, **_HALF,
    },
    "EfficientNetImageProcessor": {
        "size": 346, "resample": 3, "crop_size": 289, "do_center_crop": False, "include_top": True, **_HALF,
    },
    "MobileViTImageProcessor": {
        "size": 224, "resample": 3, "crop_size": 256, "do_center_crop": True, "do_normalize": False,
        "do_flip_channel_order": True,
    },
    "EfficientFormerImageProcessor": {
        "size": 224, "resample": 3, "crop_size": 224, "do_center_crop": True, "do_normalize": True,
        "image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225],
    },
}  # fmt: skip
# Those for which a number is the shorter side, not both.
_KEEP_ASPECT = (
    "ConvNextImageProcessor", "BitImageProcessor", "MobileNetV2ImageProcessor", "MobileViTImageProcessor",
)  # fmt: skip
# Steps that are done here, or that change nothing in a picture of three channels and its class.
_STEPS = (
    "do_resize", "do_center_crop", "do_rescale", "do_normalize", "do_flip_channel_order", "do_convert_rgb",
    "do_reduce_labels",
)  # fmt: skip
_WHOLE_FROM = 384  # the class of ConvNeXt cuts nothing off from this size on


@dataclasses.dataclass(frozen=True)
class Preprocessing:
    """What stands between an image and the model of a checkpoint.

    Attributes:
        mean: tuple of float, one a channel, or float: `mean` of `ImageModel`; None without a file.
        std: tuple of float, one a channel, or float: `std` of `ImageModel`; None without a file.
        sides: (height, width) of the images, or None where the file does not tell.
        resizing: `Resizing` of pictures to these sides, or None where the file does not tell.
        flips_channels: bool, whether the model reads blue, green, red.
    """

    mean: tuple | float | None = None
    std: tuple | float | None = None
    sides: tuple | None = None
    resizing: Resizing | None = None
    flips_channels: bool = False

    def resizing_for(self, input_shape):
        """`resizing` of `ImageModel` for images of a shape (height, width, channels)."""
        if self.resizing is None:
            return None
        return self.resizing.to_input(self.sides, input_shape[:2]).to_json()


def preprocessing_of(settings, processor=None):
    """What the dict of a preprocessor_config.json says.

    The library resizes, cuts out the centre, rescales pixels, subtracts a mean and divides by a deviation,
    each only if it is told to; its EfficientNet divides twice, and may subtract 1 in between. A picture
    whose shorter side alone is told is cut to a square here, since our models take one size.

    Args:
        settings: dict.
        processor: str, the class of the library where `settings` does not say it; None to fill in nothing.

    Raises:
        InputError: the class or a step is unknown, or numbers that it needs are missing or out of range.
    """
    settings = {name: value for name, value in settings.items() if value is not None}
    processor = _processor_of(settings, processor)
    settings = {**PROCESSORS.get(processor, {}), **settings}
    _check_steps(settings, processor)
    sides, resizing = _sides_and_resizing(settings, processor in _KEEP_ASPECT)
    mean, std = _mean_and_std(settings)
    return Preprocessing(
        mean=mean,
        std=std,
        sides=sides,
        resizing=resizing,
        flips_channels=settings.get("do_flip_channel_order", False),
    )


def _processor_of(settings, default):
    """The name of the class that a file is for; there are faster forms and older names of each."""
    name = settings.get("image_processor_type", settings.get("feature_extractor_type", default))
    if name is None:
        return None
    known = name.removesuffix("Fast").removesuffix("Pil").replace("FeatureExtractor", "ImageProcessor")
    if known not in PROCESSORS:
        raise InputError(
            f"preprocessor_config.json: image_processor_type has to be one of {', '.join(PROCESSORS)}; "
            f"received {name!r}"
        )
    return known


def _check_steps(settings, processor):
    if "crop_pct" in settings and "crop_pct" not in PROCESSORS.get(processor, ("crop_pct",)):
        raise InputError(f"preprocessor_config.json: {processor} has no crop_pct")
    for name, value in settings.items():
        if name.startswith("do_") and name not in _STEPS and value:
            raise InputError(f"preprocessor_config.json: {name} is a step that our models have not")


# ---- pixels ----------------------------------------------------------------------------------------
def _mean_and_std(settings):
    """`mean` and `std` of `ImageModel`, which are those of pixels of 0 to 1."""
    scale = settings.get("rescale_factor", 1 / 255) if settings.get("do_rescale", True) else 1.0
    offset = 1.0 if settings.get("rescale_offset") and settings.get("do_rescale", True) else 0.0
    mean, std = 0.0, 1.0
    normalizes = settings.get("do_normalize", "image_mean" in settings)
    again = settings.get("include_top", False)
    needed = ("image_mean", "image_std") if normalizes else ("image_std",) if again else ()
    missing = [name for name in needed if name not in settings]
    if missing:
        step = "do_normalize" if normalizes else "include_top"
        raise InputError(f"preprocessor_config.json: {step} needs {' and '.join(missing)}")
    if normalizes:
        mean, std = settings["image_mean"], settings["image_std"]
    if again:
        power = 2 if normalizes else 1
        std = _each(settings["image_std"], lambda deviation: deviation**power)
    pixel = 255 * scale  # what a white pixel becomes
    return _each(mean, lambda value: (value + offset) / pixel), _each(std, lambda value: value / pixel)


def _each(values, function):
    """The function of a number, or of each in a sequence."""
    return function(values) if isinstance(values, int | float) else tuple(map(function, values))


# ---- sizes -----------------------------------------------------------------------------------------
def _sides_and_resizing(settings, keeps_aspect):
    """(height, width) of the images as they are cropped or else resized, and `Resizing` to them."""
    size = _target(settings, keeps_aspect) if settings.get("do_resize", True) else None
    sides = (size, size) if isinstance(size, int) else size
    if "crop_pct" in settings and isinstance(size, int):
        size = int(size / settings["crop_pct"]) if size < _WHOLE_FROM else (size, size)
    if settings.get("do_center_crop", "crop_size" in settings):
        if "crop_size" not in settings:
            raise InputError("preprocessor_config.json: do_center_crop needs crop_size")
        sides = _both(settings["crop_size"], "crop_size")
    if sides is None or "resample" not in settings:
        return sides, None
    return sides, Resizing(_filter(settings["resample"]), size)


def _target(settings, keeps_aspect):
    """What pictures are resized to: the shorter side, or (height, width); None where it is not told."""
    size = settings.get("size")
    if isinstance(size, dict) and set(size) == {"shortest_edge"}:
        size, keeps_aspect = size["shortest_edge"], True
    if isinstance(size, int) and keeps_aspect:
        return size
    return None if size is None else _both(size, "size")


def _both(size, name):
    """(height, width) of a number or a dict."""
    sides = (size, size)
    if isinstance(size, dict):
        short = size.get("shortest_edge") if len(size) == 1 else None
        sides = size.get("height", short), size.get("width", short)
    elif isinstance(size, list):
        sides = tuple(size)
    if len(sides) != 2 or not all(type(side) is int and side > 0 for side in sides):
        raise InputError(
            f"preprocessor_config.json: {name} has to be a side, height and width, or shortest_edge, in "
            f"pixels; received {name}={size!r}"
        )
    return sides


def _filter(number):
    """The name of one of Pillow's filters."""
    if type(number) is not int or not 0 <= number < len(FILTERS):
        raise InputError(
            f"preprocessor_config.json: resample has to be one of 0 to {len(FILTERS) - 1}, Pillow's numbers; "
            f"received resample={number!r}"
        )
    return FILTERS[number]

"""Which operations an image gets, and how strong: RandAugment of torchvision and of timm, TrivialAugmentWide.

Each image of a batch draws for itself.

References:
- RandAugment (https://arxiv.org/abs/1909.13719)
- TrivialAugment (https://arxiv.org/abs/2103.10158)
"""

import dataclasses
from collections.abc import Callable

import numpy as np
from PIL import Image

from data_sets.checks import check_between
from data_sets.resampling import interpolation_named
from hsvit_runtime.errors import InputError
from training.augmenting import operations

# The magnitudes of torchvision are bins 0 to 30, those of timm numbers from 0 to 10.
_LAST_BIN = 30
_LAST_LEVEL = 10
_MOST_OPERATIONS = 100


@dataclasses.dataclass(frozen=True)
class Strength:
    """How strong an operation is.

    Args:
        of: function (share, side) of the magnitude, from 0 to 1, and of the image's width or height.
        signed: bool, whether it has either sign with equal chance.
    """

    of: Callable = lambda share, side: 0
    signed: bool = False


class Policy:
    """Draws `num_ops` operations an image, with replacement, and applies them one after another.

    Args:
        strengths: dict from an operation's name to its `Strength`.
        num_ops: int.
        chance: float, the chance that a drawn operation is applied.
        interpolation: name of `data_sets.resampling`, of pixels that move.
        fill: value of pixels that come from outside, an integer from 0 to 255, or one for each channel.

    Call arguments:
        data: dict of `Task.augmentable`; pixels are rounded to whole numbers first.
        rng: `numpy.random.Generator`.
        rows: int array, the places of the images to change; all by default. Draws are the same.

    Returns:
        A dict of the same keys and shapes, of images in uint8.
    """

    def __init__(self, strengths, num_ops, chance, interpolation, fill):
        if type(num_ops) is not int or not 1 <= num_ops <= _MOST_OPERATIONS:
            raise InputError(
                f"num_ops has to be an integer from 1 to {_MOST_OPERATIONS}; received {num_ops!r}"
            )
        check_between(0, 1, chance=chance)
        self._strengths, self._names = strengths, tuple(strengths)
        self._num_ops, self._chance = num_ops, chance
        self._resample = interpolation_named(interpolation)
        self._fill = np.atleast_1d(fill)
        for value in self._fill.tolist():
            if type(value) is not int or not 0 <= value <= 255:
                raise InputError(
                    f"fill has to be an integer from 0 to 255, or one for each channel; received {fill!r}"
                )

    def __call__(self, data, rng, rows=None):
        pixels = _as_bytes(data["images"])
        fill = self._fill_of(pixels.shape[-1])
        masks = data.get("segmentation_masks")
        masks = None if masks is None else np.array(masks, np.float32)
        drawn = self.draw(len(pixels), pixels.shape[1:3], rng)
        for index in range(len(pixels)) if rows is None else rows:
            image = _image(pixels[index])
            for name, strength in drawn[index]:
                if name in operations.MOVING:
                    move = operations.MOVING[name]
                    image = move(image, strength, self._resample, fill)
                    if masks is not None:
                        mask = move(_image(masks[index]), strength, Image.Resampling.NEAREST, 0)
                        masks[index] = np.asarray(mask)[..., np.newaxis]
                else:
                    image = operations.VALUES[name](image, strength)
            pixels[index] = np.asarray(image).reshape(pixels[index].shape)
        changed = {**data, "images": pixels}
        return changed if masks is None else {**changed, "segmentation_masks": masks}

    def draw(self, count, size, rng):
        """The operations of some images.

        Args:
            count: int, how many images.
            size: (height, width) of the images.
            rng: `numpy.random.Generator`.

        Returns:
            For each image a list of (name of an operation, its strength).
        """
        shape = count, self._num_ops
        chosen = rng.integers(len(self._names), size=shape)
        shares = self._shares(shape, rng)
        signs = rng.choice((-1, 1), size=shape)
        is_applied = rng.random(shape) < self._chance
        return [
            [self._change(*drawn, size) for *drawn, applies in zip(*rows, strict=True) if applies]
            for rows in zip(chosen, shares, signs, is_applied, strict=True)
        ]

    def _fill_of(self, channels):
        """`fill` as Pillow takes it: a number for one channel, else a tuple."""
        if self._fill.size not in (1, channels):
            raise InputError(
                f"{type(self).__name__}: fill has {self._fill.size} numbers, "
                f"and the images have {channels} channels"
            )
        values = np.broadcast_to(self._fill, channels).tolist()
        return tuple(values) if channels > 1 else values[0]

    def _shares(self, shape, rng):
        """Shares of the full magnitude, an array of floats from 0 to 1."""
        raise NotImplementedError

    def _change(self, chosen, share, sign, size):
        name = self._names[chosen]
        strength = self._strengths[name]
        value = strength.of(float(share), size[0] if name.endswith("Y") else size[1])
        return name, int(sign) * value if strength.signed else value


class RandAugment(Policy):
    """RandAugment with the operations of torchvision: of one magnitude, given by a bin of 0 to 30.

    Args:
        num_ops: int, operations an image gets.
        magnitude: int from 0 to 30.
        interpolation: "nearest", "bilinear" or "bicubic".
        fill: value of pixels that come from outside, an integer from 0 to 255, or one for each channel.
    """

    def __init__(self, num_ops=2, magnitude=9, interpolation="nearest", fill=0):
        check_between(0, _LAST_BIN, magnitude=magnitude)
        self._share = magnitude / _LAST_BIN
        strengths = _torchvision(
            shear=0.3, shift=lambda share, side: int(150 / 331 * side * share), turn=30, enhance=0.9, bits=4
        )
        super().__init__(strengths, num_ops, 1.0, interpolation, fill)

    def _shares(self, shape, rng):
        return np.full(shape, self._share)


class TrivialAugmentWide(Policy):
    """One operation of torchvision's an image, of any magnitude, in wider ranges than RandAugment's.

    Args:
        interpolation: "nearest", "bilinear" or "bicubic".
        fill: value of pixels that come from outside, an integer from 0 to 255, or one for each channel.
    """

    def __init__(self, interpolation="nearest", fill=0):
        strengths = _torchvision(
            shear=0.99, shift=lambda share, side: int(32 * share), turn=135, enhance=0.99, bits=6
        )
        super().__init__(strengths, 1, 1.0, interpolation, fill)

    def _shares(self, shape, rng):
        return rng.integers(_LAST_BIN, endpoint=True, size=shape) / _LAST_BIN


class RandAugmentIncreasing(Policy):
    """RandAugment with the increasing operations of timm, `rand-m9-mstd0.5-inc1` by default.

    Args:
        num_ops: int, operations that an image draws.
        magnitude: float from 0 to 10, their mean magnitude.
        magnitude_std: float, its standard deviation.
        chance: float, the chance that a drawn operation is applied.
        interpolation: "nearest", "bilinear" or "bicubic".
        fill: value of pixels that come from outside, an integer from 0 to 255, or one for each channel.
    """

    def __init__(
        self, num_ops=2, magnitude=9, magnitude_std=0.5, chance=0.5, interpolation="bicubic", fill=128
    ):
        check_between(0, _LAST_LEVEL, magnitude=magnitude, magnitude_std=magnitude_std)
        self._mean, self._std = magnitude, magnitude_std
        super().__init__(_timm(), num_ops, chance, interpolation, fill)

    def _shares(self, shape, rng):
        return np.clip(rng.normal(self._mean, self._std, shape), 0, _LAST_LEVEL) / _LAST_LEVEL


def _torchvision(shear, shift, turn, enhance, bits):
    """The 14 operations; posterizing keeps 8 bits less up to `bits`."""
    return {
        "Identity": Strength(),
        **dict.fromkeys(("ShearX", "ShearY"), _up_to(shear)),
        **dict.fromkeys(("TranslateX", "TranslateY"), Strength(shift, signed=True)),
        "Rotate": _up_to(turn),
        **dict.fromkeys(("Brightness", "Color", "Contrast", "Sharpness"), _up_to(enhance)),
        "Posterize": Strength(lambda share, _: 8 - round(bits * share)),
        "Solarize": Strength(lambda share, _: 255 - 255 * share),
        "AutoContrast": Strength(),
        "Equalize": Strength(),
    }


def _timm():
    """The 15 operations, each of which is stronger with the magnitude."""
    return {
        "AutoContrast": Strength(),
        "Equalize": Strength(),
        "Invert": Strength(),
        "Rotate": _up_to(30),
        "Posterize": Strength(lambda share, _: 4 - int(4 * share)),
        "Solarize": Strength(lambda share, _: 256 - int(256 * share)),
        "SolarizeAdd": Strength(lambda share, _: int(110 * share)),
        **dict.fromkeys(("Color", "Contrast", "Brightness", "Sharpness"), _up_to(0.9)),
        **dict.fromkeys(("ShearX", "ShearY"), _up_to(0.3)),
        **dict.fromkeys(
            ("TranslateX", "TranslateY"), Strength(lambda share, side: 0.45 * side * share, signed=True)
        ),
    }


def _up_to(largest):
    """A strength in proportion to the magnitude, of either sign."""
    return Strength(lambda share, _: largest * share, signed=True)


def _as_bytes(images):
    """Pixels of 0 to 255 as a new uint8 array."""
    images = np.array(images)
    if images.dtype == np.uint8:
        return images
    return np.clip(np.rint(images, out=images), 0, 255, out=images).astype(np.uint8)


def _image(array):
    """Pillow's image of an array (height, width, channels)."""
    return Image.fromarray(array[..., 0] if array.shape[-1] == 1 else array)

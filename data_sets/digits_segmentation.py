"""Handwritten digits on a plain background, with the class of each pixel: a small set for segmentation.

Each image shows one digit of scikit-learn, enlarged to a random size at a random place, in a grey that is
clearly lighter than its background. A digit of the test part is in the test part here, too.
"""

import numpy as np
from PIL import Image

from data_sets import digits
from data_sets.dataset import ImageDataset

_SIZE = 32
_DIGIT_SIZES = (20, 29)  # pixels a side, the second not among them
_LEAST_CONTRAST = 80
_SEED = {"train": 0, "test": 1}
CLASS_NAMES = ("background", *"0123456789")


def load(split, data_dir=None):
    """Makes the images, the same each time: 32x32 pixels, grey, masks of 11 classes.

    Args:
        split: "train" (1,442 images) or "test" (355 images).
        data_dir: not needed.

    Returns:
        An `ImageDataset` for segmentation; class 0 is the background, class 1 + d the digit d.
    """
    source = digits.load(split)
    rng = np.random.default_rng(_SEED[split])
    pairs = [
        _place(pixels[..., 0], label, rng) for pixels, label in zip(source.images, source.labels, strict=True)
    ]
    images, masks = map(np.stack, zip(*pairs, strict=True))
    shape = (_SIZE, _SIZE, 1)
    return ImageDataset(
        "digits_segmentation", split, CLASS_NAMES, shape, images[..., np.newaxis], masks, "segmentation"
    )


def _place(digit, label, rng):
    """An image (H, W) with a digit on a plain background, and its mask."""
    size = rng.integers(*_DIGIT_SIZES)
    top, left = rng.integers(_SIZE - size + 1, size=2)
    ink = np.zeros((_SIZE, _SIZE), np.float32)
    ink[top : top + size, left : left + size] = (
        np.asarray(Image.fromarray(digit).resize((size, size), Image.Resampling.BILINEAR), np.float32) / 255
    )
    background, foreground = _greys(rng)
    image = background + ink * (foreground - background)
    return np.round(image).astype(np.uint8), np.where(ink > 0.5, label + 1, 0).astype(np.int32)


def _greys(rng):
    """A dark background and a clearly lighter digit."""
    background = rng.integers(256 - _LEAST_CONTRAST)
    return background, rng.integers(background + _LEAST_CONTRAST, 256)

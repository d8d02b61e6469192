"""Scenes of handwritten digits for detection: one to eight on a textured background, made from a seed.

The digits are scikit-learn's, of random sizes and greys, lighter or darker than the background; they may
overlap a little. A digit of the test part is in scenes of the test part alone.
"""

import functools

import numpy as np
from PIL import Image

from data_sets import digits
from data_sets.dataset import ImageDataset
from hsvit_runtime import box_labels

SIDE = 64
_SCENES = {"train": 5000, "test": 500}
_SEED = {"train": 0, "test": 1}
_MOST = 8
_DIGIT_SIDES = (12, 29)  # pixels, the second not among them
# How much of the smaller of two boxes may be common to both, and how often a place is tried.
_COMMON = 0.25
_ATTEMPTS = 20
_LEAST_CONTRAST = 80
# A background is a sum of clouds, patches of so many pixels, and of noise; each has up to so many greys.
_CLOUDS = ((32, 30), (8, 20), (1, 8))
_INK = 0.25  # from how much ink on a pixel belongs to a digit, for its box


@functools.lru_cache
def load(split, data_dir=None):
    """Makes the scenes, the same each time: 64x64 pixels, grey, boxes of 10 classes.

    Args:
        split: "train" (5,000 images) or "test" (500 images).
        data_dir: not needed.

    Returns:
        An `ImageDataset` for detection; its boxes hold all of a digit, also what another one covers.
    """
    source = digits.load(split)
    rng = np.random.default_rng(_SEED[split])
    images, rows = zip(*(_scene(source, rng) for _ in range(_SCENES[split])), strict=True)
    images = np.stack(images)[..., np.newaxis]
    labels = box_labels.padded(rows)
    return ImageDataset(
        "digits_detection", split, source.class_names, (SIDE, SIDE, 1), images, labels, "detection"
    )


def _scene(source, rng):
    """A uint8 image (H, W) and the labels of its boxes (boxes, 6)."""
    base = rng.uniform(60, 195)
    scene = base + _texture(rng)
    boxes, rows = [], []
    for _ in range(rng.integers(1, _MOST, endpoint=True)):
        index, side = rng.integers(len(source)), int(rng.integers(*_DIGIT_SIDES))
        ink = _ink(source.images[index, ..., 0], side)
        bounds = _bounds(ink)
        place = _free_place(bounds, side, boxes, rng)
        if place is None:
            continue
        left, top = place
        window = scene[top : top + side, left : left + side]
        window += ink * (_grey(base, rng) - window)
        boxes.append(_moved(bounds, place))
        x0, y0, x1, y1 = boxes[-1]
        center_and_sides = (x0 + x1) / 2, (y0 + y1) / 2, x1 - x0, y1 - y0
        rows.append([source.labels[index], *(number / SIDE for number in center_and_sides), 0])
    return np.clip(np.rint(scene), 0, 255).astype(np.uint8), np.array(rows, np.float32)


def _texture(rng):
    """Random greys around 0 (H, W)."""
    texture = np.zeros((SIDE, SIDE), np.float32)
    for size, strength in _CLOUDS:
        cells = rng.uniform(-1, 1, (SIDE // size,) * 2).astype(np.float32) * rng.uniform(0, strength)
        texture += np.asarray(Image.fromarray(cells).resize((SIDE, SIDE), Image.Resampling.BICUBIC))
    return texture


def _ink(digit, side):
    """How much of each pixel a digit covers, from 0 to 1 (side, side)."""
    enlarged = Image.fromarray(digit).resize((side, side), Image.Resampling.BILINEAR)
    return np.asarray(enlarged, np.float32) / 255


def _bounds(ink):
    """The corners (left, top, right, bottom) of the pixels with ink."""
    is_ink = ink > _INK
    (x0, x1), (y0, y1) = (np.flatnonzero(is_ink.any(axis))[[0, -1]].tolist() for axis in (0, 1))
    return x0, y0, x1 + 1, y1 + 1


def _free_place(bounds, side, others, rng):
    """(left, top) where a digit covers little of others; None where none is found."""
    for place in rng.integers(SIDE - side + 1, size=(_ATTEMPTS, 2)).tolist():
        box = _moved(bounds, place)
        if all(_common(box, other) <= _COMMON for other in others):
            return place
    return None


def _moved(box, place):
    (x0, y0, x1, y1), (left, top) = box, place
    return x0 + left, y0 + top, x1 + left, y1 + top


def _common(one, other):
    """The share of the smaller of two boxes that is in both."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    smaller = min((box[2] - box[0]) * (box[3] - box[1]) for box in (one, other))
    return max(width, 0) * max(height, 0) / smaller


def _grey(base, rng):
    """A grey that is clearly lighter or darker than the background."""
    darker, lighter = base - _LEAST_CONTRAST, base + _LEAST_CONTRAST
    chooses_lighter = lighter < 255 and (darker < 0 or rng.random() < 0.5)
    return rng.uniform(lighter, 255) if chooses_lighter else rng.uniform(0, darker)

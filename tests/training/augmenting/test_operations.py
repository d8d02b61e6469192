"""Each operation gives within one grey level what its definition gives, computed with NumPy alone."""

import numpy as np
import pytest
from PIL import Image

from tests.training.augmenting.making import digits, photos
from training.augmenting.operations import MOVING, VALUES

pytestmark = pytest.mark.once

FILL = {1: 70, 3: (10, 100, 200)}


def changed(operation, pixels, *arguments):
    image = Image.fromarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels)
    return np.asarray(operation(image, *arguments)).reshape(pixels.shape)


def sources(shape, matrix):
    """Where the pixels of an affine transform come from: two arrays (height, width), in pixels."""
    rows, columns = np.mgrid[: shape[0], : shape[1]] + 0.5
    a, b, c, d, e, f = matrix
    return d * columns + e * rows + f, a * columns + b * rows + c


def nearest(pixels, matrix, fill):
    rows, columns = sources(pixels.shape, matrix)
    inside = (rows >= 0) & (rows < pixels.shape[0]) & (columns >= 0) & (columns < pixels.shape[1])
    found = np.broadcast_to(np.uint8(fill), pixels.shape).copy()
    found[inside] = pixels[rows[inside].astype(int), columns[inside].astype(int)]
    return found


def bilinear(pixels, matrix, fill):
    """The border's pixels are repeated by half a pixel."""
    rows, columns = sources(pixels.shape, matrix)
    height, width = pixels.shape[:2]
    inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
    tops, lefts = np.floor(rows - 0.5).astype(int), np.floor(columns - 0.5).astype(int)
    down, right = (rows - 0.5 - tops)[..., np.newaxis], (columns - 0.5 - lefts)[..., np.newaxis]

    def at(rows, columns):
        return pixels[rows.clip(0, height - 1), columns.clip(0, width - 1)].astype(float)

    above = at(tops, lefts) * (1 - right) + at(tops, lefts + 1) * right
    below = at(tops + 1, lefts) * (1 - right) + at(tops + 1, lefts + 1) * right
    return np.where(inside[..., np.newaxis], above * (1 - down) + below * down, fill)


def rotation(shape, degrees):
    """The matrix that turns an image counter-clockwise around its centre."""
    cos, sin = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    x, y = shape[1] / 2, shape[0] / 2
    return cos, -sin, x - cos * x + sin * y, sin, cos, y - sin * x - cos * y


MATRICES = {
    "ShearX": lambda _, slope: (1, slope, 0, 0, 1, 0),
    "ShearY": lambda _, slope: (1, 0, 0, slope, 1, 0),
    "TranslateX": lambda _, pixels: (1, 0, pixels, 0, 1, 0),
    "TranslateY": lambda _, pixels: (1, 0, 0, 0, 1, pixels),
    "Rotate": rotation,
}
STRENGTHS = {"ShearX": 0.27, "ShearY": 0.09, "TranslateX": 4, "TranslateY": 7.3, "Rotate": 17.3}


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("name", MOVING)
@pytest.mark.parametrize("images", [photos, digits])
def test_moving_by_the_nearest_pixel(images, name, sign):
    for pixels in images():
        fill, strength = FILL[pixels.shape[-1]], sign * STRENGTHS[name]
        moved = changed(MOVING[name], pixels, strength, Image.Resampling.NEAREST, fill)
        expected = nearest(pixels, MATRICES[name](pixels.shape, strength), fill)
        # A source on the seam of two pixels may be rounded to either.
        seams = (moved != expected).any(-1).mean()
        assert seams < 0.01


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("name", MOVING)
def test_moving_between_pixels(name, sign):
    for pixels in photos():
        strength = sign * STRENGTHS[name]
        moved = changed(MOVING[name], pixels, strength, Image.Resampling.BILINEAR, FILL[3])
        expected = bilinear(pixels, MATRICES[name](pixels.shape, strength), FILL[3])
        assert abs(moved - expected).max() <= 1


def luma(pixels):
    """Grey values by ITU-R 601, of one channel."""
    if pixels.shape[-1] == 1:
        return pixels.astype(float)
    return np.rint(pixels @ np.array([0.299, 0.587, 0.114]))[..., np.newaxis]


def away_from(pixels, other, change):
    """1 + change times the difference to another image."""
    return np.clip(other + (1 + change) * (pixels - other), 0, 255)


def smooth(pixels):
    """The average of 3 x 3 pixels, of which that in the middle counts five times; not of the border."""
    found = pixels.astype(float)
    height, width = pixels.shape[:2]
    near = [pixels[i : height - 2 + i, j : width - 2 + j].astype(float) for i in range(3) for j in range(3)]
    found[1:-1, 1:-1] = np.rint((sum(near) + 4 * near[4]) / 13)
    return found


def stretch(channel):
    low, high = int(channel.min()), int(channel.max())
    return (channel - float(low)) * 255 / (high - low)


def equalize(channel):
    """The cumulative histogram as a table of values, over all but the pixels of the highest value."""
    counts = np.bincount(channel.ravel(), minlength=256)
    step = (channel.size - counts[counts.nonzero()[0][-1]]) // 255
    before = np.concatenate([[0], counts.cumsum()[:-1]])
    return np.minimum((before + step // 2) // step, 255)[channel] if step else channel


def by_channel(function, pixels):
    return np.stack([function(pixels[..., channel]) for channel in range(pixels.shape[-1])], axis=-1)


EXPECTED = {
    "Identity": lambda pixels, _: pixels,
    "Brightness": lambda pixels, change: away_from(pixels, 0, change),
    "Color": lambda pixels, change: away_from(pixels, luma(pixels), change),
    "Contrast": lambda pixels, change: away_from(pixels, np.floor(luma(pixels).mean() + 0.5), change),
    "Sharpness": lambda pixels, change: away_from(pixels, smooth(pixels), change),
    "Posterize": lambda pixels, bits: pixels // 2 ** (8 - bits) * 2 ** (8 - bits),
    "Solarize": lambda pixels, threshold: np.where(pixels < threshold, pixels, 255 - pixels),
    "SolarizeAdd": lambda pixels, add: np.where(pixels < 128, np.minimum(pixels + add, 255), pixels),
    "AutoContrast": lambda pixels, _: by_channel(stretch, pixels),
    "Equalize": lambda pixels, _: by_channel(equalize, pixels),
    "Invert": lambda pixels, _: 255 - pixels,
}
ENHANCED = (-0.9, -0.27, 0, 0.27, 0.9)
VALUE_CASES = [
    *((name, change) for name in ("Brightness", "Color", "Contrast", "Sharpness") for change in ENHANCED),
    *(("Posterize", bits) for bits in (0, 1, 4, 7, 8)),
    *(("Solarize", threshold) for threshold in (0, 26, 178.5, 187.0, 256)),
    *(("SolarizeAdd", addend) for addend in (0, 99, 110)),
    *((name, 0) for name in ("Identity", "AutoContrast", "Equalize", "Invert")),
]


@pytest.mark.parametrize("name, strength", VALUE_CASES)
def test_changing_values(name, strength):
    for pixels in (*photos(), *digits()):
        expected = EXPECTED[name](pixels.astype(int), strength)
        assert abs(changed(VALUES[name], pixels, strength) - expected).max() <= 1


def test_all_operations_are_tested():
    assert {*MATRICES} == {*MOVING} and {*EXPECTED} == {*VALUES} == {name for name, _ in VALUE_CASES}

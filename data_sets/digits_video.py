"""Handwritten digits that move: a small set for video classification, whose class is the movement alone.

A digit of scikit-learn goes to one of four sides, or turns to the left or to the right. What leaves the
picture on one side comes back on the other, and a clip begins at any place and angle with the same
probability. So a single frame has the same distribution in all classes: only the order of the frames tells
the class. A digit of the test part is in the test part here, too.
"""

import numpy as np
from PIL import Image

from data_sets import digits
from data_sets.dataset import ImageDataset

FRAMES, SIDE = 8, 24
_DIGIT_SIDE = 13
_CANVAS = 19  # holds the digit at any angle
_LEAST_SPEED, _MOST_SPEED = 1.5, 3.0  # pixels a frame
_LEAST_TURN, _MOST_TURN = 12.0, 24.0  # degrees a frame
_SEED = {"train": 0, "test": 1}
# Each movement as pixels a frame across and down, and degrees a frame to the left, of least speed.
MOVEMENTS = {
    "right": (1, 0, 0),
    "left": (-1, 0, 0),
    "down": (0, 1, 0),
    "up": (0, -1, 0),
    "turning left": (0, 0, 1),
    "turning right": (0, 0, -1),
}
CLASS_NAMES = tuple(MOVEMENTS)


def load(split, data_dir=None):
    """Makes the clips, the same each time: 8 frames of 24x24 pixels, grey.

    Args:
        split: "train" (1,442 clips) or "test" (355 clips).
        data_dir: not needed.

    Returns:
        An `ImageDataset` for video classification.
    """
    source = digits.load(split)
    rng = np.random.default_rng(_SEED[split])
    labels = rng.permutation(np.arange(len(source)) % len(MOVEMENTS)).astype(np.int32)
    clips = np.stack(
        [
            moving(pixels[..., 0], CLASS_NAMES[label], rng)
            for pixels, label in zip(source.images, labels, strict=True)
        ]
    )
    shape = (FRAMES, SIDE, SIDE, 1)
    return ImageDataset("digits_video", split, CLASS_NAMES, shape, clips, labels, "video_classification")


def moving(digit, movement, rng):
    """A clip of a digit that moves.

    Args:
        digit: uint8 array (8, 8).
        movement: str, one of `MOVEMENTS`.
        rng: `numpy.random.Generator` that draws place, angle, speed and grey.

    Returns:
        uint8 array (frames, height, width, 1).
    """
    place, angle = rng.uniform(0, SIDE, 2), rng.uniform(0, 360)
    speed, turn = rng.uniform(_LEAST_SPEED, _MOST_SPEED), rng.uniform(_LEAST_TURN, _MOST_TURN)
    grey = rng.uniform(0.5, 1.0)
    across, down, left = MOVEMENTS[movement]
    large = Image.fromarray(digit).resize((_DIGIT_SIDE, _DIGIT_SIDE), Image.Resampling.BICUBIC)
    frames = [
        _frame(large, place + speed * i * np.array([down, across]), angle + turn * i * left)
        for i in range(FRAMES)
    ]
    return np.round(grey * np.stack(frames)).astype(np.uint8)[..., np.newaxis]


def _frame(digit, place, angle):
    """A picture (height, width) without edges, with a digit at a place (row, column) and an angle."""
    canvas = Image.new("L", (_CANVAS, _CANVAS))
    canvas.paste(digit, ((_CANVAS - _DIGIT_SIDE) // 2,) * 2)
    turned = np.asarray(canvas.rotate(angle, Image.Resampling.BILINEAR), np.float32)
    picture = np.zeros((SIDE, SIDE), np.float32)
    picture[:_CANVAS, :_CANVAS] = turned
    return np.roll(picture, np.round(place).astype(int), axis=(0, 1))

"""Pixels as a model takes them, and as they are drawn."""

import numpy as np


def in_range(pixels, input_range):
    """Maps pixels linearly to a model's input range.

    Args:
        pixels: array of any shape, from 0 for black to 255 for white.
        input_range: (low, high), the input values of a black and a white pixel.

    Returns:
        float32 array of the same shape, bit for bit the same as in the Android app.
    """
    low, high = input_range
    if (low, high) == (0, 255):
        return np.array(pixels, "float32")
    step = np.float32((high - low) / 255)
    return np.float32(low) + np.asarray(pixels, "float32") * step


def side_by_side(clip):
    """The frames of a clip as one picture `(height, frames * width, channels)`, with a light line between."""
    lines = np.pad(clip[:, :, :-1], [(0, 0), (0, 0), (0, 1), (0, 0)], constant_values=160)
    return np.concatenate(lines, axis=1)

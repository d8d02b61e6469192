"""Pixels as numbers in the range that a model takes."""

import numpy as np


def in_range(pixels, input_range):
    """Maps pixels linearly to a model's input range.

    Args:
        pixels: array of any shape, from 0 for black to 255 for white.
        input_range: (low, high), the input's numbers for a black and a white pixel.

    Returns:
        float32 array of the same shape. The Android app computes the same to the last bit.
    """
    low, high = input_range
    step = np.float32((high - low) / 255)
    return np.float32(low) + np.asarray(pixels, "float32") * step

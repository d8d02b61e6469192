"""The equation of an `EinsumDense` layer, taken apart."""

import re


def letters(layer):
    """The letters of the axes of inputs, kernel and outputs.

    Args:
        layer: `keras.layers.EinsumDense`.

    Returns:
        Three str, such as `("bngi", "gio", "bngo")`.
    """
    return re.split(",|->", layer.equation.replace(" ", ""))

"""The equation of an `EinsumDense` layer, split into its parts."""

import re


def letters(layer):
    """The letters that name the axes of the inputs, the kernel and the outputs.

    Args:
        layer: `keras.layers.EinsumDense`.

    Returns:
        list of three str, such as `["bngi", "gio", "bngo"]`.
    """
    return re.split(",|->", layer.equation.replace(" ", ""))

"""The equation of an `EinsumDense` layer, split into its parts."""

import re

import numpy as np


def letters(layer):
    """The letters that name the axes of the inputs, the kernel and the outputs.

    Args:
        layer: `keras.layers.EinsumDense`.

    Returns:
        list of three str, such as `["bngi", "gio", "bngo"]`.
    """
    return re.split(",|->", layer.equation.replace(" ", ""))


def units_letters(layer):
    """The letters of the output axes that the kernel has, such as "de" of "abc,cde->abde"."""
    _, kernel, outputs = letters(layer)
    return "".join(letter for letter in outputs if letter in kernel)


def has_bias_of_positions(layer):
    """Whether the bias differs along an axis that the kernel does not have, such as that of tokens."""
    return bool(layer.bias_axes) and not set(layer.bias_axes) <= set(units_letters(layer))


def with_bias_of_all_units(layer):
    """The axes of the bias and the weights of a layer, whose bias may be the same along some of its units.

    Args:
        layer: built `EinsumDense` with a bias, not `has_bias_of_positions`.

    Returns:
        (str, list of arrays): the `bias_axes` of all units, and the weights with a bias for each of them.
    """
    _, axes, outputs = letters(layer)
    units, (kernel, bias) = units_letters(layer), layer.get_weights()
    first = min(map(outputs.index, units))
    shape = [kernel.shape[axes.index(x)] if x in units else 1 for x in outputs[first:]]
    return units, [kernel, np.broadcast_to(bias, shape)]

"""Parts along an axis of a tensor, and what a layer loses when parts are removed."""

from typing import Any, NamedTuple

import numpy as np

NO_PART = -1  # the number of entries that belong to no part, which are always kept


class AxisParts(NamedTuple):
    """For each entry along an axis of a tensor, the number of the part it belongs to.

    Attributes:
        axis: int.
        parts: tuple of int, one for each entry, `NO_PART` for those of none.
    """

    axis: int
    parts: tuple


class Cut(NamedTuple):
    """How a layer changes when parts are removed.

    Attributes:
        layer: `keras.Layer`.
        weights: dict from an index in `layer.weights` to the `AxisParts` of that weight.
        sizes: dict from an argument of the layer, or (argument, index of an element of it), to a tuple with
            the part of each entry that the argument counts.
        output: `AxisParts` of the layer's output; None if the layer sums over the features.
    """

    layer: Any
    weights: dict
    sizes: dict
    output: AxisParts | None


def cut(layer, weights=None, sizes=None, output=None):
    """A `Cut`, by default of a layer that stays as it is."""
    return Cut(layer, weights or {}, sizes or {}, output)


def are_kept(parts, kept):
    """Which entries are kept, an array of bool.

    Args:
        parts: sequence with the number of the part of each entry.
        kept: sequence of the numbers of the parts that are kept.
    """
    return np.isin(parts, (NO_PART, *kept))


class InseparableError(ValueError):
    """A layer needs all of its features, so none of them can be removed."""

    def __init__(self, layer):
        super().__init__(f"{layer.name!r} of class {type(layer).__name__} needs all of its features")


class MissingSourceError(InseparableError):
    """A layer multiplies features by others, which would have to be removed with them.

    Attributes:
        layer: the layer or operation.
        index: int, which input of the layer has the others.
        parts: tuple, the part of each of them.
    """

    def __init__(self, layer, index, parts):
        super().__init__(layer)
        self.layer, self.index, self.parts = layer, index, parts

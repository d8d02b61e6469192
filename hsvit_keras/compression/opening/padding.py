"""Padding with minus infinity in front of max pooling, as padding with the pixels at the edges.

Minus infinity has no place in a range of activations.
"""

import numpy as np
from keras import layers
from keras.src.ops.numpy import Pad  # the classes behind `keras.ops` have no public names

from hsvit_keras.compression.opening.openings import Opening
from hsvit_keras.layers import EdgePadding2D


def openings_of_padding(graph):
    """How the padding with minus infinity of a graph is opened.

    Args:
        graph: `Graph`.

    Returns:
        list of `Opening`, one for each operation that can be opened.
    """
    return [
        Opening({}, {graph.path(pad): _edge_padding(pad)}, {})
        for pad in graph.operations
        if isinstance(pad, Pad) and _is_infinite(graph, pad) and _is_never_largest(graph, pad)
    ]


def _edge_padding(pad):
    padding = EdgePadding2D(pad.pad_width[1:3], name=pad.name, dtype=pad.output.dtype)
    return lambda maps, constant_values=None: padding(maps)


def _is_infinite(graph, pad):
    (call,) = graph.calls(pad)
    values = call.kwargs.get("constant_values", call.args[1] if len(call.args) > 1 else None)
    return pad.mode == "constant" and values is not None and np.all(np.isneginf(np.asarray(values)))


def _is_never_largest(graph, pad):
    """Whether only max pooling reads the padding, whose windows hold a pixel of the map for each of it."""
    readers = graph.consumers(pad)
    if len(pad.pad_width) != 4 or graph.is_output(pad) or not all(map(_is_max_pooling, readers)):
        return False
    batch, *sides, channels = pad.pad_width
    is_of_maps = not any((*batch, *channels))
    return is_of_maps and all(
        2 * width <= size
        for reader in readers
        for size, widths in zip(reader.pool_size, sides, strict=True)
        for width in widths
    )


def _is_max_pooling(layer):
    return (
        isinstance(layer, layers.MaxPooling2D)
        and layer.padding == "valid"
        and layer.data_format == "channels_last"
    )

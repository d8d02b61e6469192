"""Finds residuals, `x + f(x)`, whose branch f can be removed without changing the shapes of other layers."""

import collections
from typing import NamedTuple

import keras
from keras import layers


class Residual(NamedTuple):
    """The sum of a shortcut and a branch.

    Attributes:
        add: the `Add` layer.
        shortcut: int, the index of the shortcut among the inputs of `add`.
        branch: list of `keras.Layer`.
    """

    add: keras.Layer
    shortcut: int
    branch: list


def find_residuals(graph):
    """Finds the residuals of a graph, except those inside the branch of another residual.

    Args:
        graph: `Graph`.

    Returns:
        list of `Residual`, in the order of the graph.
    """
    ancestors, residuals = collections.defaultdict(set), []  # ancestors: all layers that a layer depends on
    for layer in graph.operations:
        sources = graph.producers(layer)
        ancestors[layer] = set().union(*({source} | ancestors[source] for source in sources))
        if type(layer) is layers.Add and len(sources) == 2 and graph.is_called_once(layer):
            for i, (shortcut, end) in enumerate((sources, sources[::-1])):
                branch = ({end} | ancestors[end]) - ancestors[shortcut] - {shortcut}
                if shortcut in ancestors[end] and _is_removable(branch, shortcut, layer, graph):
                    residuals.append((layer, i, branch))
    nested = set().union(*(branch for _, _, branch in residuals))
    return [
        Residual(add, i, [layer for layer in graph.layers if layer in branch])
        for add, i, branch in residuals
        if add not in nested
    ]


def _is_removable(branch, shortcut, add, graph):
    """Whether the shortcut has the shape of the sum, and no layer but `add` reads outputs of the branch."""
    shapes = shortcut.output.shape, add.output.shape
    if len(shapes[0]) != len(shapes[1]):
        return False
    same_shape = all(None in sizes or sizes[0] == sizes[1] for sizes in zip(*shapes, strict=True))
    return same_shape and all(
        not graph.is_output(layer) and set(graph.consumers(layer)) <= {add} | branch
        for layer in graph.operations
        if layer in branch
    )

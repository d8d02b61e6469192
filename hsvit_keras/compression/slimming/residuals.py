"""Residuals of a graph: places where `x + f(x)` is computed, so that without f the rest still fits."""

import collections
from typing import NamedTuple

import keras
from keras import layers


class Residual(NamedTuple):
    """`shortcut + branch`: the Add layer, the index of the shortcut among its inputs, the branch's layers."""

    add: keras.Layer
    shortcut: int
    branch: list


def find_residuals(graph):
    """The residuals of a graph in their order, without those within a branch of another.

    Args:
        graph: `Graph`.

    Returns:
        A list of `Residual`.
    """
    above, residuals = collections.defaultdict(set), []  # above: all that a layer depends on
    for layer in graph.model.operations:
        sources = graph.producers(layer)
        above[layer.name] = set().union(*({source.name} | above[source.name] for source in sources))
        if type(layer) is layers.Add and len(sources) == 2 and graph.is_called_once(layer):
            for i, (shortcut, end) in enumerate((sources, sources[::-1])):
                branch = ({end.name} | above[end.name]) - above[shortcut.name] - {shortcut.name}
                if shortcut.name in above[end.name] and _can_go(branch, shortcut, layer, graph):
                    residuals.append((layer, i, branch))
    nested = set().union(*(branch for _, _, branch in residuals))
    return [
        Residual(add, i, [layer for layer in graph.model.layers if layer.name in branch])
        for add, i, branch in residuals
        if add.name not in nested
    ]


def _can_go(branch, shortcut, add, graph):
    """Whether the shortcut has the shape of the sum, and only `add` reads what the branch computes."""
    shapes = shortcut.output.shape, add.output.shape
    if len(shapes[0]) != len(shapes[1]):
        return False
    same = all(None in sizes or sizes[0] == sizes[1] for sizes in zip(*shapes, strict=True))
    return same and all(
        not graph.is_output(layer) and {x.name for x in graph.consumers(layer)} <= {add.name} | branch
        for layer in graph.model.operations
        if layer.name in branch
    )

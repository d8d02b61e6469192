"""Which parts a graph has that can be removed, found by what its layers do.

- groups: tokens `(batch, tokens, groups, dim)` attend within their group; a group goes with the kernels of
  the convolution whose maps are its tokens, and with all of its column where convolutions are grouped;
- heads of an attention layer, in all groups alike;
- MLP units: features of a Dense layer that only Dense layers or convolutions sum up;
- kernels: features of a convolution that are summed up likewise, its own groups among them;
- blocks: residuals, `x + f(x)`; a transformer block is two of them, an attention and an MLP.
"""

from typing import NamedTuple

import numpy as np
from keras import layers

from hsvit_keras.compression.quantization import is_quantized
from hsvit_keras.compression.rewriting import Graph
from hsvit_keras.compression.slimming.features import (
    ATTENTION,
    CONVOLUTIONS,
    Cut,
    InseparableError,
    Numbered,
    follow,
)
from hsvit_keras.compression.slimming.residuals import find_residuals
from hsvit_runtime.errors import InputError

_PROJECTIONS = (layers.Dense, layers.EinsumDense)


class Place(NamedTuple):
    """Where a graph has parts: `count` of them, numbered from 0, and what is cut when some of them go."""

    count: int
    cuts: list


def slimmable_parts(model):
    """The parts of a model that `slim` can remove.

    Args:
        model: `keras.Model` as a Functional graph, or `keras.Sequential`.

    Returns:
        A dict of plain data: `groups`, an int, 0 where there are none; `heads`, `mlp_units` and `kernels`,
        each a dict from the name of a layer to the number of its parts; `blocks`, a list of names, each
        of the Add layer that ends a residual.

    Raises:
        ValueError: `model` is quantized, or has no graph that could be followed.
    """
    graph = Graph(model)
    counts = {
        kind: {name: place.count for name, place in places.items()}
        for kind, places in find_places(graph).items()
    }
    return {
        **counts,
        "groups": sum(counts["groups"].values()),
        "blocks": [residual.add.name for residual in find_residuals(graph)],
    }


def find_places(graph):
    """A dict from each kind of parts to a dict from a layer's name to its `Place`.

    All blocks are in one place, called "blocks", in the order of `find_residuals`.
    """
    if is_quantized(graph.model):
        raise InputError(
            f"{graph.model.name!r} is quantized: slim before, or what remove_quantization gives back"
        )
    finders = {"groups": _groups, "heads": _heads, "mlp_units": _units, "kernels": _kernels}
    places = {kind: dict(_separable(graph, find(graph))) for kind, find in finders.items()}
    for kind in ("mlp_units", "kernels"):
        places[kind] = {name: place for name, place in places[kind].items() if not _changes_a_mean(place)}
    residuals = find_residuals(graph)
    places["blocks"] = {"blocks": Place(len(residuals), _whole(residuals))} if residuals else {}
    return places


def _separable(graph, candidates):
    """Of (name, number of parts, sources of `follow`): the names and places where parts can go."""
    for name, count, sources in candidates:
        try:
            yield name, Place(count, follow(graph, sources))
        except InseparableError:
            continue


def _groups(graph):
    for attention in _layers_of(graph, ATTENTION):
        query = attention.input[0]
        convolution = _source_of(graph, attention, CONVOLUTIONS)
        while convolution and convolution.groups > 1:  # columns: a group's begins where all see one image
            convolution = _source_of(graph, graph.producers(convolution)[0], CONVOLUTIONS)
        if len(query.shape) == 4 and convolution and convolution.filters % query.shape[2] == 0:
            groups = query.shape[2]
            yield convolution.name, groups, {convolution.name: _consecutive(groups, convolution.filters)}
            return


def _heads(graph):
    for attention in _layers_of(graph, ATTENTION):
        dim = attention.input[0].shape[-1]
        sources = [_source_of(graph, layer, _PROJECTIONS) for layer in graph.producers(attention)]
        if all(sources):
            heads = _consecutive(attention.num_heads, dim)
            own = {layer.name: heads for layer in sources if layer.output.shape[-1] == dim}
            yield attention.name, attention.num_heads, own


def _units(graph):
    for dense in _layers_of(graph, (layers.Dense,)):
        yield dense.name, dense.units, {dense.name: range(dense.units)}


def _kernels(graph):
    for convolution in _layers_of(graph, CONVOLUTIONS):
        yield convolution.name, convolution.filters, {convolution.name: range(convolution.filters)}


def _layers_of(graph, classes):
    """Layers of exactly these classes: a subclass may do something else with its features."""
    return [layer for layer in graph.model.layers if type(layer) in classes and graph.is_called_once(layer)]


def _source_of(graph, layer, classes):
    """The next layer of one of `classes`, going from `layer` towards the input; None if there is none."""
    while layer is not None and type(layer) not in classes:
        layer = next(iter(graph.producers(layer)), None)
    return layer


def _consecutive(parts, features):
    """Neighbouring features belong to one part."""
    return np.repeat(np.arange(parts), features // parts).tolist()


def _changes_a_mean(place):
    """Whether a mean over the parts themselves is taken, which differs from that with some of them zero."""
    return any(isinstance(cut.layer, layers.GlobalAveragePooling1D) and not cut.output for cut in place.cuts)


def _whole(residuals):
    """Cuts that take all weights of each residual's branch."""
    return [
        Cut(layer, {j: Numbered(0, (i,) * w.shape[0]) for j, w in enumerate(layer.weights)}, {}, None)
        for i, residual in enumerate(residuals)
        for layer in residual.branch
    ]

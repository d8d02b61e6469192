"""Finds the parts of a graph that can be removed, from the classes and connections of its layers.

- groups: attention groups of tokens `(batch, tokens, groups, dim)`. A group is removed together with the
  kernels of the convolution whose feature maps are its tokens; where convolutions are grouped, with the
  kernels of its group in all of them;
- heads: heads of an attention layer, the same ones in all groups;
- mlp_units: output features of a Dense layer over which the next Dense layers or convolutions sum;
- kernels: output features of a convolution over which the next layers sum;
- blocks: residuals, `x + f(x)`. A transformer block consists of two, with attention and with an MLP.
"""

from typing import NamedTuple

import numpy as np
from keras import layers

from hsvit_keras.compression.graph import Graph, check_float
from hsvit_keras.compression.opening import open_layers
from hsvit_keras.compression.quantization import is_quantized
from hsvit_keras.compression.slimming.cuts import AxisParts, Cut, InseparableError
from hsvit_keras.compression.slimming.features import KERNELS, follow, nearest_source
from hsvit_keras.compression.slimming.layer_rules import ATTENTION, CONVOLUTIONS, has_shared_head
from hsvit_keras.compression.slimming.residuals import find_residuals
from hsvit_keras.layers import ImageParts
from hsvit_runtime.errors import InputError

_PROJECTIONS = (layers.Dense, layers.EinsumDense)


class Place(NamedTuple):
    """The parts of one layer, such as its heads.

    Attributes:
        count: int, the number of parts, which are numbered from 0.
        cuts: list of `Cut`, how layers change when parts are removed.
    """

    count: int
    cuts: list


def slimmable_parts(model):
    """The parts of a model that `slim` can remove, with Keras' attention layers opened.

    Args:
        model: `keras.Model` as a Functional graph, or `keras.Sequential`.

    Returns:
        dict with `groups`, an int, 0 if there are none; `heads`, `mlp_units` and `kernels`, dicts from the
        path of a layer to the number of its parts; and `blocks`, a list of str, the paths of the Add layers
        that end residuals.

    Raises:
        InputError: `model` is quantized, is neither Functional nor Sequential, or has no input shape.
    """
    graph = Graph(opened(model))
    counts = {
        kind: {name: place.count for name, place in places.items()}
        for kind, places in find_places(graph).items()
    }
    return {
        **counts,
        "groups": sum(counts["groups"].values()),
        "blocks": [graph.path(residual.add) for residual in find_residuals(graph)],
    }


def opened(model):
    """The model whose parts are found: Keras' attention layers do not show their heads otherwise.

    Raises:
        InputError: Keras quantized a layer of `model`.
    """
    check_float(Graph(model))
    return open_layers(model)


def find_places(graph):
    """Finds all parts of a graph.

    Args:
        graph: `Graph`.

    Returns:
        dict from each kind of parts to a dict from a layer's path to its `Place`. All blocks are in one
        place, called "blocks", in the order of `find_residuals`.

    Raises:
        InputError: the model is quantized.
    """
    check_float(graph)
    if is_quantized(graph.model):
        raise InputError(
            f"{graph.model.name!r} is quantized: slim it before quantize_aware, or after remove_quantization"
        )
    finders = {"groups": _groups, "heads": _heads, "mlp_units": _mlp_units, "kernels": _kernels}
    places = {kind: dict(_removable(graph, find(graph))) for kind, find in finders.items()}
    for kind in ("mlp_units", "kernels"):
        places[kind] = {name: place for name, place in places[kind].items() if not _are_averaged(place)}
    residuals = find_residuals(graph)
    places["blocks"] = {"blocks": Place(len(residuals), _cuts_of(residuals))} if residuals else {}
    return places


def _removable(graph, candidates):
    """Yields (name, `Place`) of the candidates whose parts can be removed.

    Args:
        graph: `Graph`.
        candidates: iterable of (name, number of parts, `sources` of `follow`).
    """
    for name, count, sources in candidates:
        try:
            yield name, Place(count, follow(graph, sources))
        except InseparableError:
            continue


def _groups(graph):
    for attention in _layers_of(graph, ATTENTION):
        query = attention.input[0]
        source = nearest_source(graph, attention, CONVOLUTIONS)
        # A group owns its channels in grouped convolutions; they start at a convolution without groups, or
        # where each group gets its part of the image.
        while getattr(source, "groups", 1) > 1:
            source = nearest_source(graph, graph.producers(source)[0], (*CONVOLUTIONS, ImageParts))
        if len(query.shape) == 4 and source and source.output.shape[-1] % query.shape[2] == 0:
            groups, path = query.shape[2], graph.path(source)
            yield path, groups, {path: _consecutive(groups, source.output.shape[-1])}
            return


def _heads(graph):
    for attention in _layers_of(graph, ATTENTION):
        sources = [nearest_source(graph, layer, _PROJECTIONS) for layer in graph.producers(attention)]
        if all(sources):
            per_head = {
                graph.path(layer): _consecutive(attention.num_heads, layer.output.shape[-1])
                for layer in sources
                if not has_shared_head(attention, layer.output)
            }
            yield graph.path(attention), attention.num_heads, per_head


def _mlp_units(graph):
    for dense in _layers_of(graph, (layers.Dense,)):
        yield graph.path(dense), dense.units, {graph.path(dense): range(dense.units)}


def _kernels(graph):
    for convolution in _layers_of(graph, KERNELS):
        path = graph.path(convolution)
        yield path, convolution.filters, {path: range(convolution.filters)}


def _layers_of(graph, classes):
    """Layers of exactly these classes; subclasses may use their features in another way."""
    return [layer for layer in graph.layers if type(layer) in classes and graph.is_called_once(layer)]


def _consecutive(parts, features):
    """The part of each feature, where the features of a part are next to each other."""
    return np.repeat(np.arange(parts), features // parts).tolist()


def _are_averaged(place):
    """Whether a layer averages over the parts: without some, the mean is not that with zeros for them."""
    return any(isinstance(cut.layer, layers.GlobalAveragePooling1D) and not cut.output for cut in place.cuts)


def _cuts_of(residuals):
    """Cuts in which all weights of a residual's branch belong to that residual."""
    return [
        Cut(layer, {j: AxisParts(0, (i,) * w.shape[0]) for j, w in enumerate(layer.weights)}, {}, None)
        for i, residual in enumerate(residuals)
        for layer in residual.branch
    ]

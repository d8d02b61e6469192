"""Blocks, layers whose code calls layers inside of them, as models of these layers; `Lambda` layers, too."""

import itertools

import keras
from keras import layers, tree

from hsvit_keras.compression.graph import Graph, is_named, layers_inside
from hsvit_keras.compression.opening.openings import Opening, copy_with
from hsvit_keras.compression.opening.traced_operations import openings_of_traced_operations
from hsvit_keras.compression.opening.tracing import NotPlainError, batch_of, traced
from hsvit_keras.compression.rewriting import fresh
from hsvit_runtime.errors import InputError

# Packages whose layers passes know, or leave whole.
_KNOWN = ("keras", "hsvit_keras")


def openings_of_blocks(graph, keep):
    """How the blocks of a graph are opened: as models with their names, and with those of layers in them.

    Args:
        graph: `Graph`.
        keep: sequence of str, paths of blocks that are not opened, or of what they are in.

    Returns:
        list of `Opening`, one for each block that is plain inside.
    """
    found = []
    for layer in filter(_is_block, graph.layers):
        if not is_named(graph.path(layer), keep) and _has_one_form(graph.calls(layer)):
            try:
                found.append(_opening(graph, layer, keep))
            except (NotPlainError, InputError):  # also where a layer inside of it cannot be copied
                continue
    return found


def _is_block(layer):
    has_parts = len(layer._flatten_layers()) > 1
    is_known = type(layer).call.__module__.partition(".")[0] in _KNOWN
    return isinstance(layer, layers.Lambda) or (has_parts and not is_known)


def _has_one_form(calls):
    """Whether all calls of a layer are about tensors of the same shapes, with the same other arguments."""

    def form(call):
        kwargs = {name: value for name, value in call.kwargs.items() if name != "training"}
        return str(tree.map_structure(described, (call.args, kwargs)))

    def described(value):
        return (value.shape, value.dtype) if isinstance(value, keras.KerasTensor) else value

    return len(set(map(form, calls))) == 1


def _opening(graph, layer, keep):
    path = graph.path(layer)
    prefix = f"{path}/"
    keep_inside = [name.removeprefix(prefix) for name in keep if name.startswith(prefix)]
    with traced(layer, graph.calls(layer)[0]) as (trace, packed):
        inside = Graph(trace)
        openings = [
            *openings_of_blocks(inside, keep_inside),
            *openings_of_traced_operations(inside),
            *_openings_of_shared_layers(inside),
        ]
        model = copy_with(inside, openings, batch_size=batch_of)

    def call(*args, **kwargs):
        tensors = [value for value in tree.flatten((args, kwargs)) if isinstance(value, keras.KerasTensor)]
        tensors = tensors if len(tensors) > 1 else tensors[0]
        return packed(model(tensors, training=kwargs.get("training")))

    trainable = {part: part.trainable for part in layers_inside(model)}
    return Opening({path: (model, model.get_weights())}, {path: call}, trainable)


def _openings_of_shared_layers(graph):
    """Layers without weights that are called several times, such as one Dropout for all, become as many."""
    return [
        Opening({}, {graph.path(layer): _one_for_each_call(layer)}, {})
        for layer in graph.layers
        if not graph.is_called_once(layer) and len(layer._flatten_layers()) == 1 and not layer.weights
    ]


def _one_for_each_call(layer):
    numbers = itertools.count()

    def call(*args, **kwargs):
        copy = fresh(layer, layer.name)
        copy.name = f"{layer.name}_call{next(numbers)}"
        return copy(*args, **kwargs)

    return call

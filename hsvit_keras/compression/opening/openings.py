"""What is known of a layer or an operation that can be opened, and copies with all of that opened."""

from typing import NamedTuple

from hsvit_keras.compression.rewriting import rewrite


class Opening(NamedTuple):
    """How a layer or an operation is opened.

    Attributes:
        replacements: dict from a path to (the new layer of that name, its weights).
        calls: dict from a path to a function that is called in place of the layer or operation there.
        trainable: dict from each inserted layer that has weights to a bool, whether it is trained.
    """

    replacements: dict
    calls: dict
    trainable: dict


def copy_with(graph, openings, batch_size=None):
    """Copies the model of a graph, with what `openings` say.

    Args:
        graph: `Graph`.
        openings: list of `Opening`.
        batch_size: see `rewrite`.

    Returns:
        A `keras.Model`.
    """
    replacements = {path: new for opening in openings for path, new in opening.replacements.items()}
    calls = {path: call for opening in openings for path, call in opening.calls.items()}

    def call(path, layer, *args, **kwargs):
        return calls.get(path, layer)(*args, **kwargs)

    copy = rewrite(graph, lambda path, layer: replacements.get(path), call, batch_size=batch_size)
    for opening in openings:
        for layer, trainable in opening.trainable.items():
            layer.trainable = trainable
    return copy


def has_masks(graph):
    """Whether a layer of a graph gives a mask."""
    outputs = (node.outputs for operation in graph.operations for node in operation._inbound_nodes)
    return any(getattr(tensor, "_keras_mask", None) is not None for tensors in outputs for tensor in tensors)

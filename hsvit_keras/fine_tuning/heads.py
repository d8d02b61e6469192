"""Which part of a model depends on its classes: its head, and what lies behind it."""

import keras
from keras import layers

from hsvit_keras.checkpoints.trunk_weights import HEADS
from hsvit_keras.compression.graph import Graph
from hsvit_keras.layers.model_description import ModelDescription
from hsvit_keras.models.image_model import ImageModel

# What may stand behind the layer that gives the logits.
_BEHIND = (
    layers.Activation, layers.Dropout, layers.Flatten, layers.GlobalAveragePooling2D, layers.Identity,
    layers.ReLU, layers.Reshape, layers.Softmax, ModelDescription,
)  # fmt: skip


def head_layers(model):
    """The paths of the layers whose weights depend on the classes.

    Args:
        model: `keras.Model` as a Functional graph, or `keras.Sequential`.

    Returns:
        list of str: the heads of a model of this package; of another model the last `Dense` layer, or
        convolution of one pixel, if nothing with weights lies behind it; empty if there is none.
    """
    graph = Graph(model)
    if isinstance(model, ImageModel):
        return [graph.path(layer) for layer in graph.layers if layer.name in HEADS]
    found = last_part(graph)
    return [graph.path(found[-1])] if found and found[-1].weights else []


def last_part(graph):
    """The operations of a model of another library that turn features into outputs, from the last one on.

    Args:
        graph: `hsvit_keras.compression.graph.Graph` of a model with one output.

    Returns:
        list of operations, of which the last is the head; empty where the outputs are features.
    """
    operation = next(op for op in reversed(graph.operations) if graph.is_output(op))
    found = []
    while True:
        found.append(operation)
        if _is_head(operation):
            return found
        producers = graph.producers(operation)
        if len(producers) != 1 or not _is_behind_a_head(operation):
            break
        operation = producers[0]
    return [op for op in found[:1] if isinstance(op, ModelDescription)]


def _is_head(operation):
    is_pixelwise = isinstance(operation, layers.Conv2D) and set(operation.kernel_size) == {1}
    return isinstance(operation, layers.Dense) or is_pixelwise


def _is_behind_a_head(operation):
    return not isinstance(operation, keras.Layer) or isinstance(operation, _BEHIND)

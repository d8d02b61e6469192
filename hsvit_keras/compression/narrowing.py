"""A pass that computes only the first tokens, such as the class token, where no layer reads the others."""

import functools
import math

import keras
from keras import layers

from hsvit_keras.compression import einsum
from hsvit_keras.compression.graph import Graph
from hsvit_keras.compression.ranges import ActivationRange
from hsvit_keras.compression.rewriting import rewrite
from hsvit_keras.layers import (
    ChannelNormalization,
    FirstToken,
    GridAttention,
    GroupLayerNormalization,
    JoinTokens,
    LinformerAttention,
    PerformerAttention,
    RotaryEmbedding,
    SoftmaxAttention,
    TokenRange,
)

# Layers whose output for a token depends only on that token and its position: selecting the first tokens
# before the layer gives the same as selecting them after it.
_TOKENWISE = (
    layers.Activation,
    layers.Dense,
    layers.Dropout,
    layers.ReLU,
    ActivationRange,
    ChannelNormalization,
    GroupLayerNormalization,
    RotaryEmbedding,
)
_MERGING = (layers.Add, layers.Average, layers.Multiply)
# Attention in which the output of a query depends on all keys and values, but on no other query.
_QUERYWISE = (LinformerAttention, PerformerAttention, SoftmaxAttention)


def compute_first_tokens_alone(model):
    """Selects the tokens that are read as early in the graph as possible, usually within the last block.

    Args:
        model: `keras.Model` as a Functional graph, or `keras.Sequential`. It is not modified.

    Returns:
        A `keras.Model` with the same outputs; the graph of `model` itself if nothing is selected.

    Raises:
        InputError: `model` is neither Functional nor Sequential, or has no input shape.
    """
    graph = Graph(model)
    token_counts = {}  # from a layer's path to the number of tokens it computes, if it does not compute all
    for layer in reversed(graph.layers):
        count = _tokens_read(layer, graph, token_counts)
        if 0 < count < math.inf and _can_compute_first_tokens(layer, count):
            token_counts[graph.path(layer)] = count

    if not any(isinstance(layer, FirstToken | TokenRange) for layer in graph.layers):
        return graph.model

    def call(path, layer, *args, **kwargs):
        if isinstance(layer, FirstToken | TokenRange) and _selects_all(layer, args[0]):
            return args[0]
        if path not in token_counts:
            return layer(*args, **kwargs)
        first = functools.partial(_first_tokens, count=token_counts[path], reader=layer)
        if isinstance(layer, JoinTokens):
            return first(args[0])
        if isinstance(layer, _QUERYWISE):
            return layer(first(args[0]), *args[1:], **kwargs)
        return layer(*keras.tree.map_structure(first, args), **kwargs)

    return rewrite(graph.model, call=call)


def _tokens_read(layer, graph, token_counts):
    """How many of the first tokens of the output of `layer` are read; infinity if all may be."""
    if graph.is_output(layer) or not graph.is_called_once(layer):
        return math.inf

    def read_by(consumer):
        if isinstance(consumer, FirstToken):
            return 1
        if isinstance(consumer, TokenRange):
            return consumer.stop or math.inf
        if isinstance(consumer, _QUERYWISE) and layer in graph.producers(consumer)[1:]:
            return math.inf
        return token_counts.get(graph.path(consumer), math.inf)

    return max(map(read_by, graph.consumers(layer)), default=math.inf)


def _can_compute_first_tokens(layer, count):
    """Whether the first `count` output tokens depend only on the first `count` input tokens.

    For attention: on the first `count` queries.
    """
    if isinstance(layer, JoinTokens):
        front = layer.input[0].shape
        return front[1] >= count and front[2:] == layer.output.shape[2:]
    if isinstance(layer, layers.EinsumDense):
        inputs, kernel, outputs = einsum.letters(layer)
        return inputs[1] == outputs[1] and inputs[1] not in kernel + (layer.bias_axes or "")
    if isinstance(layer, layers.LayerNormalization):
        return 1 not in (axis % len(layer.input.shape) for axis in layer.axis)
    if isinstance(layer, _MERGING):
        return len({len(tensor.shape) for tensor in layer.input}) == 1
    if isinstance(layer, _QUERYWISE):  # local heads attend within windows of neighbouring queries
        return not getattr(layer, "local_heads", 0) and not isinstance(layer, GridAttention)
    return isinstance(layer, _TOKENWISE)


def _selects_all(layer, tokens):
    return layer.compute_output_shape(tokens.shape) == tokens.shape


def _first_tokens(tensor, count, reader):
    """The first tokens of `tensor`; `tensor` itself if it has only these, or one that is broadcast."""
    if tensor.shape[1] in (1, count):
        return tensor
    source = tensor._keras_history.operation.name
    return TokenRange(0, count, name=f"{reader.name}_first_of_{source}")(tensor)

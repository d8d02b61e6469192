"""A pass that computes the first tokens alone where nothing reads the others, such as class tokens."""

import functools
import math

import keras
from keras import layers

from hsvit_keras.compression import einsum
from hsvit_keras.compression.ranges import ActivationRange
from hsvit_keras.compression.rewriting import Graph, rewrite
from hsvit_keras.layers import (
    ChannelNormalization,
    FirstToken,
    GroupLayerNormalization,
    JoinTokens,
    LinformerAttention,
    PerformerAttention,
    RotaryEmbedding,
    SoftmaxAttention,
    TokenRange,
)

# Layers that treat each token alone, by itself and its place: picking the first tokens in front of
# them or behind them is the same.
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
# Attention that answers each query from all keys, whatever the other queries are.
_QUERYWISE = (LinformerAttention, PerformerAttention, SoftmaxAttention)


def compute_first_tokens_alone(model):
    """Picks the tokens that are read as early as possible: usually within the last block.

    Args:
        model: `keras.Model` as a Functional graph, or `keras.Sequential`. It stays as it is.

    Returns:
        A `keras.Model` with the same answers.

    Raises:
        ValueError: `model` has no graph that could be followed.
    """
    graph = Graph(model)
    narrow = {}  # how many tokens of a layer are computed, where these are not all
    for layer in reversed(graph.model.layers):
        count = _tokens_read(layer, graph, narrow)
        if 0 < count < math.inf and _can_be_narrow(layer, count):
            narrow[layer.name] = count

    def call(layer, *args, **kwargs):
        if isinstance(layer, FirstToken | TokenRange) and _keeps_all(layer, args[0]):
            return args[0]
        if layer.name not in narrow:
            return layer(*args, **kwargs)
        first = functools.partial(_first, count=narrow[layer.name], reader=layer)
        if isinstance(layer, JoinTokens):
            return first(args[0])
        if isinstance(layer, _QUERYWISE):
            return layer(first(args[0]), *args[1:], **kwargs)
        return layer(*keras.tree.map_structure(first, args), **kwargs)

    return rewrite(graph.model, call=call)


def _tokens_read(layer, graph, narrow):
    """How many tokens of what `layer` computes are read, counted from the first; infinity for all."""
    if graph.is_output(layer) or not graph.is_called_once(layer):
        return math.inf

    def read_by(consumer):
        if isinstance(consumer, FirstToken):
            return 1
        if isinstance(consumer, TokenRange):
            return consumer.stop or math.inf
        if isinstance(consumer, _QUERYWISE) and layer in graph.producers(consumer)[1:]:
            return math.inf
        return narrow.get(consumer.name, math.inf)

    return max(map(read_by, graph.consumers(layer)), default=math.inf)


def _can_be_narrow(layer, count):
    """Whether the first `count` tokens of `layer` depend on nothing but the first `count` that it takes."""
    if isinstance(layer, JoinTokens):
        return layer.input[0].shape[1] >= count
    if isinstance(layer, layers.EinsumDense):
        tokens, kernel, answers = einsum.letters(layer)
        return tokens[1] == answers[1] and tokens[1] not in kernel + (layer.bias_axes or "")
    if isinstance(layer, layers.LayerNormalization):
        return 1 not in (axis % len(layer.input.shape) for axis in layer.axis)
    if isinstance(layer, _MERGING):
        return len({len(tensor.shape) for tensor in layer.input}) == 1
    if isinstance(layer, _QUERYWISE):  # but windows are made of neighbouring queries
        return not getattr(layer, "local_heads", 0)
    return isinstance(layer, _TOKENWISE)


def _keeps_all(layer, tokens):
    return layer.compute_output_shape(tokens.shape) == tokens.shape


def _first(tensor, count, reader):
    """The first tokens of `tensor`, unless it has no more, or one for all to share."""
    if tensor.shape[1] in (1, count):
        return tensor
    source = tensor._keras_history.operation.name
    return TokenRange(0, count, name=f"{reader.name}_first_of_{source}")(tensor)

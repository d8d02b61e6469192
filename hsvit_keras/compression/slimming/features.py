"""Finds the weights that have to be removed together with some features of a tensor.

A feature is an entry of a tensor's axis, such as the output of a unit of a Dense layer or of a kernel of a
convolution. Each feature is labelled with the number of the part it belongs to, such as an attention head.
`follow` propagates these labels through the graph, by a rule for each class of layers, and collects which
entries of which weights belong to which part. Propagation stops where a layer sums over the features: the
next Dense layer, convolution or mean. If a layer needs all of its features, such as a normalization over
them, the parts cannot be removed and `follow` raises `InseparableError`.
"""

from typing import Any, NamedTuple

import keras
import numpy as np
from keras import layers

from hsvit_keras.compression import einsum
from hsvit_keras.layers import (
    ClassToken,
    FirstToken,
    GroupDropout,
    GroupLayerNormalization,
    JoinTokens,
    LinformerAttention,
    NearestUpsampling,
    NystromAttention,
    PerformerAttention,
    PositionEmbedding,
    RotaryEmbedding,
    SoftmaxAttention,
    TokenRange,
)

ATTENTION = (LinformerAttention, NystromAttention, PerformerAttention, SoftmaxAttention)
CONVOLUTIONS = (layers.Conv1D, layers.Conv2D)


class AxisParts(NamedTuple):
    """For each entry along an axis of a tensor, the number of the part it belongs to.

    Attributes:
        axis: int.
        parts: tuple of int, one for each entry.
    """

    axis: int
    parts: tuple


class Cut(NamedTuple):
    """How a layer changes when parts are removed.

    Attributes:
        layer: `keras.Layer`.
        weights: dict from an index in `layer.weights` to the `AxisParts` of that weight.
        sizes: dict from an argument of the layer, or (argument, index of an element of it), to a tuple with
            the part of each entry that the argument counts.
        output: `AxisParts` of the layer's output; None if the layer sums over the features.
    """

    layer: Any
    weights: dict
    sizes: dict
    output: AxisParts | None


class InseparableError(ValueError):
    """A layer needs all of its features, so none of them can be removed."""

    def __init__(self, layer):
        super().__init__(f"{layer.name!r} of class {type(layer).__name__} needs all of its features")


def follow(graph, sources):
    """Finds all weights that belong to the features of some layers.

    Args:
        graph: `Graph`.
        sources: dict from the path of a Dense layer, an EinsumDense layer or a convolution to a sequence with
            the number of the part of each of its output features.

    Returns:
        list of `Cut`, in the order of the graph.

    Raises:
        InseparableError: a layer that reads the features needs all of them, or they are an output of the
            model.
    """
    cuts = {}
    for layer in graph.operations:
        incoming = [cuts[x].output if x in cuts else None for x in graph.producers(layer)]
        path = graph.path(layer)
        if not any(incoming) and path not in sources:
            continue
        if not graph.is_called_once(layer):
            raise InseparableError(layer)
        if path in sources:
            cut = _source(layer, incoming, tuple(sources[path]))
        elif type(layer) in RULES:
            cut = RULES[type(layer)](layer, incoming)
        else:
            raise InseparableError(layer)
        if cut.output and graph.is_output(layer):
            raise InseparableError(layer)
        cuts[layer] = cut
    return list(cuts.values())


def _cut(layer, weights=None, sizes=None, output=None):
    return Cut(layer, weights or {}, sizes or {}, output)


def _source(layer, incoming, parts):
    """The layer that computes the features."""
    last = len(layer.output.shape) - 1
    if any(incoming) or _mixes_features(layer):
        raise InseparableError(layer)
    if isinstance(layer, layers.EinsumDense):
        return _einsum_letter(layer, layer.equation[-1], parts)
    if isinstance(layer, CONVOLUTIONS) and not _is_plain_convolution(layer):
        raise InseparableError(layer)
    weights = {0: AxisParts(len(layer.kernel.shape) - 1, parts)}
    if layer.use_bias:
        weights[1] = AxisParts(0, parts)
    size = "units" if isinstance(layer, layers.Dense) else "filters"
    return _cut(layer, weights, {size: parts}, AxisParts(last, parts))


# A rule takes a layer and a list with the `AxisParts` of each of its inputs, None for inputs without any, and
# returns a `Cut`. At least one input has `AxisParts`.


def _elementwise(layer, incoming):
    """Features are passed on; all inputs have to have the same ones."""
    if any(features != incoming[0] for features in incoming) or _mixes_features(layer):
        raise InseparableError(layer)
    return _cut(layer, output=incoming[0])


def _elementwise_by_token(layer, incoming):
    """Tokens are selected by their position, so parts cannot be tokens; other features are passed on."""
    if incoming[0] and incoming[0].axis == 1:
        raise InseparableError(layer)
    return _elementwise(layer, incoming)


def _channelwise(layer, incoming):
    """Each channel of a feature map is computed from that channel alone."""
    (features,) = incoming
    if (
        features.axis != len(layer.input.shape) - 1
        or getattr(layer, "data_format", "channels_last") != "channels_last"
    ):
        raise InseparableError(layer)
    return _cut(layer, output=AxisParts(len(layer.output.shape) - 1, features.parts))


def _mean_of_tokens(layer, incoming):
    """If the parts are tokens, the mean is over those that are kept; other features are passed on."""
    (features,) = incoming
    if layer.data_format != "channels_last":
        raise InseparableError(layer)
    if features.axis == 1:
        return _cut(layer)
    return _cut(layer, output=AxisParts(len(layer.output.shape) - 1, features.parts))


def _dense(layer, incoming):
    (features,) = incoming
    if features.axis < len(layer.input.shape) - 1:
        return _cut(layer, output=features)
    return _cut(layer, {0: AxisParts(0, features.parts)})


def _convolution(layer, incoming):
    (features,) = incoming
    if features.axis != len(layer.input.shape) - 1 or layer.data_format != "channels_last":
        raise InseparableError(layer)
    if layer.groups > 1:
        return _grouped_convolution(layer, features)
    return _cut(layer, {0: AxisParts(len(layer.kernel.shape) - 2, features.parts)})


def _grouped_convolution(layer, features):
    """Parts are whole groups of the convolution, which are removed with their kernels."""
    groups = np.reshape(features.parts, (layer.groups, -1))
    if (groups != groups[:, :1]).any() or _mixes_features(layer):
        raise InseparableError(layer)
    groups = tuple(groups[:, 0].tolist())
    filters = tuple(np.repeat(groups, layer.filters // layer.groups).tolist())
    weights = {0: AxisParts(len(layer.kernel.shape) - 1, filters)}
    if layer.use_bias:
        weights[1] = AxisParts(0, filters)
    output = AxisParts(len(layer.output.shape) - 1, filters)
    return _cut(layer, weights, {"filters": filters, "groups": groups}, output)


def _is_plain_convolution(layer):
    return layer.groups == 1 and layer.data_format == "channels_last"


def _depthwise_convolution(layer, incoming):
    (features,) = incoming
    if features.axis != 3 or layer.data_format != "channels_last" or _mixes_features(layer):
        raise InseparableError(layer)
    channels = tuple(np.repeat(features.parts, layer.depth_multiplier).tolist())
    weights = {0: AxisParts(2, features.parts)}
    if layer.use_bias:
        weights[1] = AxisParts(0, channels)
    return _cut(layer, weights, output=AxisParts(3, channels))


def _einsum_dense(layer, incoming):
    (features,) = incoming
    inputs, _, _ = einsum.letters(layer)
    if "." in inputs:
        raise InseparableError(layer)
    return _einsum_letter(layer, inputs[features.axis], features.parts)


def _einsum_letter(layer, letter, parts):
    """An EinsumDense layer whose axis named `letter` in the equation has the parts."""
    _, kernel, outputs = einsum.letters(layer)
    weights, sizes, output = {}, {}, None
    if "." in outputs:
        raise InseparableError(layer)
    if letter in kernel:
        weights[0] = AxisParts(kernel.index(letter), parts)
    if letter in (layer.bias_axes or ""):
        first = min(map(outputs.index, layer.bias_axes))
        weights[1] = AxisParts(outputs.index(letter) - first, parts)
    if letter in outputs:
        output = AxisParts(outputs.index(letter), parts)
        sizes["output_shape", output.axis - 1] = parts
    return _cut(layer, weights, sizes, output)


def _batch_normalization(layer, incoming):
    (features,) = incoming
    if features.axis not in (layer.axis, layer.axis + len(layer.input.shape)):
        return _cut(layer, output=features)
    weights = {i: AxisParts(0, features.parts) for i in range(len(layer.weights))}
    return _cut(layer, weights, output=features)


def _layer_normalization(layer, incoming):
    (features,) = incoming
    rank = len(layer.input.shape)
    axes = [layer.axis] if isinstance(layer.axis, int) else layer.axis
    if features.axis in [axis % rank for axis in axes]:
        raise InseparableError(layer)
    return _cut(layer, output=features)


def _group_layer_normalization(layer, incoming):
    (features,) = incoming
    if features.axis == 3:
        raise InseparableError(layer)
    weights = {0: AxisParts(0, features.parts), 1: AxisParts(0, features.parts)} if features.axis == 2 else {}
    return _cut(layer, weights, output=features)


def _class_token(layer, incoming):
    """The weight has the shape `(tokens, ..., dim)`."""
    (features,) = incoming
    if features.axis == 1:
        raise InseparableError(layer)
    return _cut(layer, {0: AxisParts(features.axis - 1, features.parts)}, output=features)


def _position_embedding(layer, incoming):
    (features,) = incoming
    return _cut(layer, {0: AxisParts(features.axis - 1, features.parts)}, output=features)


def _rearrangement(layer, incoming):
    """Finds the output axis along which the parts vary after a Reshape, Permute or Flatten layer."""
    (features,) = incoming
    shape = layer.input.shape[1:]
    if None in shape:
        raise InseparableError(layer)
    others = [axis for axis in range(len(shape)) if axis != features.axis - 1]
    entries = np.broadcast_to(np.expand_dims(features.parts, others), shape)
    if isinstance(layer, layers.Permute):
        entries = entries.transpose([axis - 1 for axis in layer.dims])
    entries = entries.reshape(layer.output.shape[1:])
    for axis, size in enumerate(entries.shape):
        rows = np.moveaxis(entries, axis, 0).reshape(size, -1)
        if (rows == rows[:, :1]).all():
            parts = tuple(rows[:, 0].tolist())
            sizes = {("target_shape", axis): parts} if isinstance(layer, layers.Reshape) else {}
            return _cut(layer, sizes=sizes, output=AxisParts(axis + 1, parts))
    raise InseparableError(layer)


def _heads(layer, features, tensor):
    """The part of each head, where the last axis of `tensor` holds the heads and parts are whole heads."""
    heads = np.reshape(features.parts, (layer.num_heads, -1))
    if features.axis != len(tensor.shape) - 1 or (heads != heads[:, :1]).any():
        raise InseparableError(layer)
    return tuple(heads[:, 0].tolist())


def _rotary_embedding(layer, incoming):
    (features,) = incoming
    return _cut(layer, sizes={"num_heads": _heads(layer, features, layer.input)}, output=features)


def _attention(layer, incoming):
    """Parts are whole groups, or whole heads of query, key and value. A key that all heads share is kept."""
    query, _, value = layer.input
    parts = [_parts_of_heads(layer, *pair) for pair in zip(incoming, layer.input, strict=True)]
    for tensor, others in zip(layer.input[1:], parts[1:], strict=True):
        if others != (None if has_shared_head(layer, tensor) else parts[0]):
            raise InseparableError(layer)
    query_features = incoming[0]
    if query_features.axis == 1:
        raise InseparableError(layer)
    if query_features.axis < len(query.shape) - 1:
        return _cut(layer, output=query_features)
    heads = parts[0].parts
    weights, sizes = {}, {"num_heads": heads}
    if isinstance(layer, NystromAttention) and layer.residual_kernel:
        weights[0] = AxisParts(2, heads)
    if isinstance(layer, PerformerAttention):
        sizes["local_heads"] = heads[layer.num_heads - layer.local_heads :]
    output = query_features if has_shared_head(layer, value) else incoming[2]
    return _cut(layer, weights, sizes, output)


def _parts_of_heads(layer, features, tensor):
    """`features` of an input of attention, with the part of each head where they are those of heads."""
    if features is None or features.axis < len(tensor.shape) - 1:
        return features
    return AxisParts(features.axis, _heads(layer, features, tensor))


def has_shared_head(attention, tensor):
    """Whether a key or value of an attention layer is a single head, which all heads share."""
    return isinstance(attention, LinformerAttention) and tensor.shape[-1] < attention.input[0].shape[-1]


def _mixes_features(layer):
    """Whether the layer has an activation that combines several features, such as softmax."""
    activations = keras.activations
    mixing = (activations.softmax, activations.log_softmax, activations.sparsemax, activations.glu)
    return getattr(layer, "activation", None) in mixing


RULES = {
    **dict.fromkeys(
        (
            GroupDropout, layers.Activation, layers.Add, layers.Dropout, layers.ELU, layers.Identity,
            layers.LeakyReLU, layers.ReLU,
        ),
        _elementwise,
    ),
    **dict.fromkeys((FirstToken, JoinTokens, TokenRange), _elementwise_by_token),
    **dict.fromkeys(
        (
            layers.AveragePooling1D, layers.AveragePooling2D, layers.GlobalAveragePooling2D,
            layers.MaxPooling1D, layers.MaxPooling2D, layers.UpSampling2D, layers.ZeroPadding2D,
            NearestUpsampling,
        ),
        _channelwise,
    ),
    **dict.fromkeys((layers.Flatten, layers.Permute, layers.Reshape), _rearrangement),
    **dict.fromkeys(CONVOLUTIONS, _convolution),
    **dict.fromkeys(ATTENTION, _attention),
    ClassToken: _class_token,
    GroupLayerNormalization: _group_layer_normalization,
    PositionEmbedding: _position_embedding,
    RotaryEmbedding: _rotary_embedding,
    layers.BatchNormalization: _batch_normalization,
    layers.Dense: _dense,
    layers.DepthwiseConv2D: _depthwise_convolution,
    layers.EinsumDense: _einsum_dense,
    layers.GlobalAveragePooling1D: _mean_of_tokens,
    layers.LayerNormalization: _layer_normalization,
}  # fmt: skip

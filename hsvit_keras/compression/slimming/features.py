"""Which weights go with some features of a tensor, told by each class of layers.

Where a layer makes features (Dense its units, a convolution its kernels), each gets the number of the part
of the model that it belongs to. `follow` carries these numbers along the graph: a layer that hands features
on hands their numbers on, a weight that has an entry for each feature is cut with them, and the walk ends
where all features are summed up: in the next Dense layer, convolution or mean. A layer that can not do
without some of its features, such as a normalization over them, ends the walk with `InseparableError`.
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


class Numbered(NamedTuple):
    """The number of the part that each entry along an axis belongs to."""

    axis: int
    parts: tuple


class Cut(NamedTuple):
    """What becomes of a layer when parts go.

    weights: dict from an index in `layer.weights` to `Numbered` entries.
    sizes: dict from an argument of the layer, or (argument, index of its element), to the numbers of the
        entries that it counts.
    output: `Numbered` features of what the layer gives out; None where they are summed up.
    """

    layer: Any
    weights: dict
    sizes: dict
    output: Numbered | None


class InseparableError(ValueError):
    """A layer that can not do without some of its features."""

    def __init__(self, layer):
        super().__init__(f"{layer.name!r} of class {type(layer).__name__} needs all of its features")


def follow(graph, sources):
    """All that is cut when some of the features that `sources` make are removed.

    Args:
        graph: `Graph`.
        sources: dict from the name of a Dense layer, an EinsumDense layer or a convolution to the number of
            the part of each of its features.

    Returns:
        A list of `Cut`, from the input on.

    Raises:
        InseparableError: a layer behind needs all features, or they are given out.
    """
    cuts = {}
    for layer in graph.model.operations:
        incoming = [cuts[x.name].output if x.name in cuts else None for x in graph.producers(layer)]
        if not any(incoming) and layer.name not in sources:
            continue
        if not graph.is_called_once(layer):
            raise InseparableError(layer)
        if layer.name in sources:
            cut = _source(layer, incoming, tuple(sources[layer.name]))
        elif type(layer) in _RULES:
            cut = _RULES[type(layer)](layer, incoming)
        else:
            raise InseparableError(layer)
        if cut.output and graph.is_output(layer):
            raise InseparableError(layer)
        cuts[layer.name] = cut
    return list(cuts.values())


def _cut(layer, weights=None, sizes=None, output=None):
    return Cut(layer, weights or {}, sizes or {}, output)


def _source(layer, incoming, parts):
    """The layer that makes the features."""
    last = len(layer.output.shape) - 1
    if any(incoming) or _mixes_features(layer):
        raise InseparableError(layer)
    if isinstance(layer, layers.EinsumDense):
        return _einsum_letter(layer, layer.equation[-1], parts)
    if isinstance(layer, CONVOLUTIONS) and not _is_plain_convolution(layer):
        raise InseparableError(layer)
    weights = {0: Numbered(len(layer.kernel.shape) - 1, parts)}
    if layer.use_bias:
        weights[1] = Numbered(0, parts)
    size = "units" if isinstance(layer, layers.Dense) else "filters"
    return _cut(layer, weights, {size: parts}, Numbered(last, parts))


# A rule takes a layer and the numbers of the features of each of its inputs, None where there are none.


def _all_alike(layer, incoming):
    """Features are handed on; if there are several inputs, all of them have to bring the same."""
    if any(numbered != incoming[0] for numbered in incoming) or _mixes_features(layer):
        raise InseparableError(layer)
    return _cut(layer, output=incoming[0])


def _tokens_stay(layer, incoming):
    """Tokens are counted from the first: only what is behind their axis may go."""
    if incoming[0] and incoming[0].axis == 1:
        raise InseparableError(layer)
    return _all_alike(layer, incoming)


def _channels(layer, incoming):
    """Each channel of a map is handled alone."""
    (numbered,) = incoming
    if (
        numbered.axis != len(layer.input.shape) - 1
        or getattr(layer, "data_format", "channels_last") != "channels_last"
    ):
        raise InseparableError(layer)
    return _cut(layer, output=Numbered(len(layer.output.shape) - 1, numbered.parts))


def _mean_of_tokens(layer, incoming):
    """What is left has a mean, too; features are handed on."""
    (numbered,) = incoming
    if layer.data_format != "channels_last":
        raise InseparableError(layer)
    if numbered.axis == 1:
        return _cut(layer)
    return _cut(layer, output=Numbered(len(layer.output.shape) - 1, numbered.parts))


def _dense(layer, incoming):
    (numbered,) = incoming
    if numbered.axis < len(layer.input.shape) - 1:
        return _cut(layer, output=numbered)
    return _cut(layer, {0: Numbered(0, numbered.parts)})


def _convolution(layer, incoming):
    (numbered,) = incoming
    if numbered.axis != len(layer.input.shape) - 1 or layer.data_format != "channels_last":
        raise InseparableError(layer)
    if layer.groups > 1:
        return _grouped_convolution(layer, numbered)
    return _cut(layer, {0: Numbered(len(layer.kernel.shape) - 2, numbered.parts)})


def _grouped_convolution(layer, numbered):
    """Whole groups may go with what they make of their own features."""
    groups = np.reshape(numbered.parts, (layer.groups, -1))
    if (groups != groups[:, :1]).any() or _mixes_features(layer):
        raise InseparableError(layer)
    groups = tuple(groups[:, 0].tolist())
    made = tuple(np.repeat(groups, layer.filters // layer.groups).tolist())
    weights = {0: Numbered(len(layer.kernel.shape) - 1, made)}
    if layer.use_bias:
        weights[1] = Numbered(0, made)
    output = Numbered(len(layer.output.shape) - 1, made)
    return _cut(layer, weights, {"filters": made, "groups": groups}, output)


def _is_plain_convolution(layer):
    return layer.groups == 1 and layer.data_format == "channels_last"


def _depthwise_convolution(layer, incoming):
    (numbered,) = incoming
    if numbered.axis != 3 or layer.data_format != "channels_last" or _mixes_features(layer):
        raise InseparableError(layer)
    made = tuple(np.repeat(numbered.parts, layer.depth_multiplier).tolist())
    weights = {0: Numbered(2, numbered.parts)}
    if layer.use_bias:
        weights[1] = Numbered(0, made)
    return _cut(layer, weights, output=Numbered(3, made))


def _einsum_dense(layer, incoming):
    (numbered,) = incoming
    inputs, _, _ = einsum.letters(layer)
    if "." in inputs:
        raise InseparableError(layer)
    return _einsum_letter(layer, inputs[numbered.axis], numbered.parts)


def _einsum_letter(layer, letter, parts):
    """An EinsumDense layer whose axis `letter` has the features."""
    _, kernel, outputs = einsum.letters(layer)
    weights, sizes, output = {}, {}, None
    if "." in outputs:
        raise InseparableError(layer)
    if letter in kernel:
        weights[0] = Numbered(kernel.index(letter), parts)
    if letter in (layer.bias_axes or ""):
        first = min(map(outputs.index, layer.bias_axes))
        weights[1] = Numbered(outputs.index(letter) - first, parts)
    if letter in outputs:
        output = Numbered(outputs.index(letter), parts)
        sizes["output_shape", output.axis - 1] = parts
    return _cut(layer, weights, sizes, output)


def _batch_normalization(layer, incoming):
    (numbered,) = incoming
    if numbered.axis not in (layer.axis, layer.axis + len(layer.input.shape)):
        return _cut(layer, output=numbered)
    weights = {i: Numbered(0, numbered.parts) for i in range(len(layer.weights))}
    return _cut(layer, weights, output=numbered)


def _layer_normalization(layer, incoming):
    (numbered,) = incoming
    rank = len(layer.input.shape)
    axes = [layer.axis] if isinstance(layer.axis, int) else layer.axis
    if numbered.axis in [axis % rank for axis in axes]:
        raise InseparableError(layer)
    return _cut(layer, output=numbered)


def _group_layer_normalization(layer, incoming):
    (numbered,) = incoming
    if numbered.axis == 3:
        raise InseparableError(layer)
    weights = {0: Numbered(0, numbered.parts), 1: Numbered(0, numbered.parts)} if numbered.axis == 2 else {}
    return _cut(layer, weights, output=numbered)


def _class_token(layer, incoming):
    """Its weight is `(tokens, ..., dim)`."""
    (numbered,) = incoming
    if numbered.axis == 1:
        raise InseparableError(layer)
    return _cut(layer, {0: Numbered(numbered.axis - 1, numbered.parts)}, output=numbered)


def _position_embedding(layer, incoming):
    (numbered,) = incoming
    return _cut(layer, {0: Numbered(numbered.axis - 1, numbered.parts)}, output=numbered)


def _rearranged(layer, incoming):
    """The axis along which the numbers lie behind a Reshape, Permute or Flatten layer."""
    (numbered,) = incoming
    shape = layer.input.shape[1:]
    if None in shape:
        raise InseparableError(layer)
    others = [axis for axis in range(len(shape)) if axis != numbered.axis - 1]
    entries = np.broadcast_to(np.expand_dims(numbered.parts, others), shape)
    if isinstance(layer, layers.Permute):
        entries = entries.transpose([axis - 1 for axis in layer.dims])
    entries = entries.reshape(layer.output.shape[1:])
    for axis, size in enumerate(entries.shape):
        rows = np.moveaxis(entries, axis, 0).reshape(size, -1)
        if (rows == rows[:, :1]).all():
            parts = tuple(rows[:, 0].tolist())
            sizes = {("target_shape", axis): parts} if isinstance(layer, layers.Reshape) else {}
            return _cut(layer, sizes=sizes, output=Numbered(axis + 1, parts))
    raise InseparableError(layer)


def _heads(layer, numbered, tensor):
    """The number of each whole head on the last axis."""
    heads = np.reshape(numbered.parts, (layer.num_heads, -1))
    if numbered.axis != len(tensor.shape) - 1 or (heads != heads[:, :1]).any():
        raise InseparableError(layer)
    return tuple(heads[:, 0].tolist())


def _rotary_embedding(layer, incoming):
    (numbered,) = incoming
    return _cut(layer, sizes={"num_heads": _heads(layer, numbered, layer.input)}, output=numbered)


def _attention(layer, incoming):
    """Whole groups may go, or whole heads of query, key and value; a key that all heads share stays."""
    query, *others = layer.input
    numbered = incoming[0]
    for tensor, brought in zip(others, incoming[1:], strict=True):
        shared = tensor.shape[-1] < query.shape[-1]
        if brought != (None if shared else numbered):
            raise InseparableError(layer)
    if numbered.axis == 1:
        raise InseparableError(layer)
    if numbered.axis < len(query.shape) - 1:
        return _cut(layer, output=numbered)
    heads = _heads(layer, numbered, query)
    weights, sizes = {}, {"num_heads": heads}
    if isinstance(layer, NystromAttention) and layer.residual_kernel:
        weights[0] = Numbered(2, heads)
    if isinstance(layer, PerformerAttention):
        sizes["local_heads"] = heads[layer.num_heads - layer.local_heads :]
    return _cut(layer, weights, sizes, numbered)


def _mixes_features(layer):
    """Whether the activation of a layer, if it has one, looks at more than one feature at a time."""
    activations = keras.activations
    mixing = (activations.softmax, activations.log_softmax, activations.sparsemax, activations.glu)
    return getattr(layer, "activation", None) in mixing


_RULES = {
    **dict.fromkeys(
        (
            GroupDropout, layers.Activation, layers.Add, layers.Dropout, layers.ELU, layers.Identity,
            layers.LeakyReLU, layers.ReLU,
        ),
        _all_alike,
    ),
    **dict.fromkeys((FirstToken, JoinTokens, TokenRange), _tokens_stay),
    **dict.fromkeys(
        (
            layers.AveragePooling1D, layers.AveragePooling2D, layers.GlobalAveragePooling2D,
            layers.MaxPooling1D, layers.MaxPooling2D, layers.UpSampling2D, layers.ZeroPadding2D,
            NearestUpsampling,
        ),
        _channels,
    ),
    **dict.fromkeys((layers.Flatten, layers.Permute, layers.Reshape), _rearranged),
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

"""Which weights of a layer belong to the features that it reads, by its class.

A rule takes a layer and a list with the `AxisParts` of each of its inputs, None for inputs without any, and
returns a `Cut`. At least one input has `AxisParts`.
"""

import math

import keras
import numpy as np
from keras import activations, layers

from hsvit_keras.compression import einsum
from hsvit_keras.compression.slimming.cuts import (
    NO_PART,
    AxisParts,
    InseparableError,
    MissingSourceError,
    cut,
)
from hsvit_keras.layers import (
    ClassToken,
    FirstToken,
    GridAttention,
    GroupDropout,
    GroupLayerNormalization,
    JoinTokens,
    LayerScale,
    LinformerAttention,
    NearestUpsampling,
    NystromAttention,
    PerformerAttention,
    PositionEmbedding,
    RotaryEmbedding,
    SeparableAttention,
    SoftmaxAttention,
    TokenRange,
    quick_gelu,
)

ATTENTION = (GridAttention, LinformerAttention, NystromAttention, PerformerAttention, SoftmaxAttention)
CONVOLUTIONS = (layers.Conv1D, layers.Conv2D, layers.Conv3D)
SEPARABLE = (layers.SeparableConv1D, layers.SeparableConv2D)
TRANSPOSED = (layers.Conv1DTranspose, layers.Conv2DTranspose, layers.Conv3DTranspose)

_ELEMENTWISE_ACTIVATIONS = (
    activations.celu, activations.elu, activations.exponential, activations.gelu, activations.hard_shrink,
    activations.hard_sigmoid, activations.hard_silu, activations.hard_tanh, activations.leaky_relu,
    activations.linear, activations.log_sigmoid, activations.mish, activations.relu, activations.relu6,
    activations.selu, activations.sigmoid, activations.silu, activations.soft_shrink, activations.softplus,
    activations.softsign, activations.sparse_plus, activations.sparse_sigmoid, activations.squareplus,
    activations.tanh, activations.tanh_shrink, activations.threshold, quick_gelu,
)  # fmt: skip


def elementwise(layer, incoming):
    """Features are passed on; all inputs have to have the same ones."""
    if any(features != incoming[0] for features in incoming) or mixes_features(layer):
        raise InseparableError(layer)
    return cut(layer, output=incoming[0])


def merged(layer, incoming):
    """As `elementwise`, but inputs without features may have one value for all of them."""
    inputs = keras.tree.flatten(layer.input)
    rank = max(len(tensor.shape) for tensor in inputs)
    # Axes of size 1 are added to smaller ranks, behind that of the batch.
    aligned = {
        AxisParts(features.axis + rank - len(tensor.shape), features.parts)
        for features, tensor in zip(incoming, inputs, strict=True)
        if features
    }
    (first, *others) = aligned
    if others or layer.output.shape[first.axis] != len(first.parts):
        raise InseparableError(layer)
    for index, (features, tensor) in enumerate(zip(incoming, inputs, strict=True)):
        axis = first.axis - rank + len(tensor.shape)
        if features is None and axis > 0 and tensor.shape[axis] != 1:
            raise MissingSourceError(layer, index, first.parts)
    return cut(layer, output=first)


def _separable_attention(layer, incoming):
    """Keys and values are multiplied feature by feature; all tokens count for the weight of each."""
    if any(features and features.axis == 1 for features in incoming):
        raise InseparableError(layer)
    return merged(layer, incoming)


def summed(layer, incoming):
    """As `merged`, but what other values are added to features would stay without them."""
    try:
        return merged(layer, incoming)
    except MissingSourceError as error:
        raise InseparableError(layer) from error


def concatenation(layer, incoming):
    """Inputs without features have entries of no part."""
    tensors = keras.tree.flatten(layer.input)
    axis = layer.axis % len(layer.output.shape)
    if any(features and features.axis != axis for features in incoming):
        return elementwise(layer, incoming)
    parts = [
        features.parts if features else (NO_PART,) * tensor.shape[axis]
        for features, tensor in zip(incoming, tensors, strict=True)
    ]
    return cut(layer, output=AxisParts(axis, sum(parts, ())))


def _elementwise_by_token(layer, incoming):
    """Tokens are selected by their position, so parts cannot be tokens; other features are passed on."""
    if incoming[0] and incoming[0].axis == 1:
        raise InseparableError(layer)
    return elementwise(layer, incoming)


def _channelwise(layer, incoming):
    """Each channel of a feature map is computed from that channel alone."""
    (features,) = incoming
    if (
        features.axis != len(layer.input.shape) - 1
        or getattr(layer, "data_format", "channels_last") != "channels_last"
    ):
        raise InseparableError(layer)
    return cut(layer, output=AxisParts(len(layer.output.shape) - 1, features.parts))


def _mean_of_tokens(layer, incoming):
    """If the parts are tokens, the mean is over those that are kept; other features are passed on."""
    (features,) = incoming
    if layer.data_format != "channels_last":
        raise InseparableError(layer)
    if features.axis == 1:
        return cut(layer)
    return cut(layer, output=AxisParts(len(layer.output.shape) - 1, features.parts))


def _dense(layer, incoming):
    (features,) = incoming
    if features.axis < len(layer.input.shape) - 1:
        return cut(layer, output=features)
    return cut(layer, {0: AxisParts(0, features.parts)})


def _convolution(layer, incoming):
    (features,) = incoming
    if features.axis != len(layer.input.shape) - 1 or layer.data_format != "channels_last":
        raise InseparableError(layer)
    if layer.groups > 1:
        return _grouped_convolution(layer, features)
    return cut(layer, {0: AxisParts(len(layer.kernel.shape) - 2, features.parts)})


def _grouped_convolution(layer, features):
    """Parts are whole groups of the convolution, which are removed with their kernels."""
    groups = np.reshape(features.parts, (layer.groups, -1))
    if (groups != groups[:, :1]).any() or mixes_features(layer):
        raise InseparableError(layer)
    groups = tuple(groups[:, 0].tolist())
    filters = tuple(np.repeat(groups, layer.filters // layer.groups).tolist())
    weights = {0: AxisParts(len(layer.kernel.shape) - 1, filters)}
    if layer.use_bias:
        weights[1] = AxisParts(0, filters)
    output = AxisParts(len(layer.output.shape) - 1, filters)
    return cut(layer, weights, {"filters": filters, "groups": groups}, output)


def _transposed_convolution(layer, incoming):
    (features,) = incoming
    if features.axis != len(layer.input.shape) - 1 or layer.data_format != "channels_last":
        raise InseparableError(layer)
    return cut(layer, {0: AxisParts(len(layer.kernel.shape) - 1, features.parts)})


def _separable_convolution(layer, incoming):
    (features,) = incoming
    axis = len(layer.input.shape) - 1
    if features.axis != axis or layer.data_format != "channels_last":
        raise InseparableError(layer)
    channels = tuple(np.repeat(features.parts, layer.depth_multiplier).tolist())
    return cut(layer, {0: AxisParts(axis - 1, features.parts), 1: AxisParts(axis - 1, channels)})


def _depthwise_convolution(layer, incoming):
    (features,) = incoming
    axis = len(layer.input.shape) - 1
    if features.axis != axis or layer.data_format != "channels_last" or mixes_features(layer):
        raise InseparableError(layer)
    channels = tuple(np.repeat(features.parts, layer.depth_multiplier).tolist())
    weights = {0: AxisParts(axis - 1, features.parts)}
    if layer.use_bias:
        weights[1] = AxisParts(0, channels)
    return cut(layer, weights, output=AxisParts(axis, channels))


def _rescaling(layer, incoming):
    """Features are passed on if all are rescaled alike."""
    if np.size(layer.scale) > 1 or np.size(layer.offset) > 1:
        raise InseparableError(layer)
    return elementwise(layer, incoming)


def _prelu(layer, incoming):
    (features,) = incoming
    slopes = {0: AxisParts(features.axis - 1, features.parts)}
    is_shared = layer.alpha.shape[features.axis - 1] == 1
    return cut(layer, {} if is_shared else slopes, output=features)


def _einsum_dense(layer, incoming):
    (features,) = incoming
    inputs, _, _ = einsum.letters(layer)
    if "." in inputs:
        raise InseparableError(layer)
    return einsum_letter(layer, inputs[features.axis], features.parts)


def einsum_letter(layer, letter, parts):
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
    return cut(layer, weights, sizes, output)


def _batch_normalization(layer, incoming):
    (features,) = incoming
    if features.axis not in (layer.axis, layer.axis + len(layer.input.shape)):
        return cut(layer, output=features)
    weights = {i: AxisParts(0, features.parts) for i in range(len(layer.weights))}
    return cut(layer, weights, output=features)


def _layer_scale(layer, incoming):
    """One factor for each entry of the last axis."""
    (features,) = incoming
    is_last = features.axis == len(layer.input.shape) - 1
    return cut(layer, {0: AxisParts(0, features.parts)} if is_last else {}, output=features)


def _layer_normalization(layer, incoming):
    (features,) = incoming
    rank = len(layer.input.shape)
    axes = [layer.axis] if isinstance(layer.axis, int) else layer.axis
    if features.axis in [axis % rank for axis in axes]:
        raise InseparableError(layer)
    return cut(layer, output=features)


def _group_normalization(layer, incoming):
    """Parts are whole groups of channels, which are normalized together."""
    (features,) = incoming
    if features.axis != layer.axis % len(layer.input.shape):
        raise InseparableError(layer)
    groups = np.reshape(features.parts, (layer.groups, -1))
    if (groups != groups[:, :1]).any():
        raise InseparableError(layer)
    weights = {i: AxisParts(0, features.parts) for i in range(len(layer.weights))}
    return cut(layer, weights, {"groups": tuple(groups[:, 0].tolist())}, features)


def _group_layer_normalization(layer, incoming):
    (features,) = incoming
    if features.axis == 3:
        raise InseparableError(layer)
    weights = {0: AxisParts(0, features.parts), 1: AxisParts(0, features.parts)} if features.axis == 2 else {}
    return cut(layer, weights, output=features)


def _class_token(layer, incoming):
    """The weight has the shape `(tokens, ..., dim)`."""
    (features,) = incoming
    if features.axis == 1:
        raise InseparableError(layer)
    return cut(layer, {0: AxisParts(features.axis - 1, features.parts)}, output=features)


def _position_embedding(layer, incoming):
    (features,) = incoming
    return cut(layer, {0: AxisParts(features.axis - 1, features.parts)}, output=features)


def rearrangement(layer, incoming):
    """Finds the output axis along which the parts vary after values were moved or axes were changed."""
    (features,) = incoming
    shape, new_shape = layer.input.shape[1:], layer.output.shape[1:]
    if None in (*shape, *new_shape) or math.prod(shape) != math.prod(new_shape):
        raise InseparableError(layer)
    others = [axis for axis in range(len(shape)) if axis != features.axis - 1]
    entries = np.broadcast_to(np.expand_dims(features.parts, others), shape)
    if axes := getattr(layer, "dims", None) or getattr(layer, "axes", None):
        entries = entries.transpose([axis - 1 for axis in axes if axis])
    entries = entries.reshape(new_shape)
    for axis, size in enumerate(entries.shape):
        rows = np.moveaxis(entries, axis, 0).reshape(size, -1)
        if (rows == rows[:, :1]).all():
            parts = tuple(rows[:, 0].tolist())
            sizes = {}
            if hasattr(layer, "target_shape"):
                sizes["target_shape", axis] = parts
            elif hasattr(layer, "newshape"):
                sizes["newshape", axis + 1] = parts
            return cut(layer, sizes=sizes, output=AxisParts(axis + 1, parts))
    raise InseparableError(layer)


def _heads(layer, features, tensor):
    """The part of each head, where the last axis of `tensor` holds the heads and parts are whole heads."""
    heads = np.reshape(features.parts, (layer.num_heads, -1))
    if features.axis != len(tensor.shape) - 1 or (heads != heads[:, :1]).any():
        raise InseparableError(layer)
    return tuple(heads[:, 0].tolist())


def _rotary_embedding(layer, incoming):
    (features,) = incoming
    return cut(layer, sizes={"num_heads": _heads(layer, features, layer.input)}, output=features)


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
        return cut(layer, output=query_features)
    heads = parts[0].parts
    weights, sizes = {}, {"num_heads": heads}
    if isinstance(layer, NystromAttention) and layer.residual_kernel:
        weights[0] = AxisParts(2, heads)
    if isinstance(layer, GridAttention):
        weights[0] = AxisParts(0, heads)
    if isinstance(layer, PerformerAttention):
        sizes["local_heads"] = heads[layer.num_heads - layer.local_heads :]
    output = query_features if has_shared_head(layer, value) else incoming[2]
    return cut(layer, weights, sizes, output)


def _parts_of_heads(layer, features, tensor):
    """`features` of an input of attention, with the part of each head where they are those of heads."""
    if features is None or features.axis < len(tensor.shape) - 1:
        return features
    return AxisParts(features.axis, _heads(layer, features, tensor))


def has_shared_head(attention, tensor):
    """Whether a key or value of an attention layer is a single head, which all heads share."""
    return isinstance(attention, LinformerAttention) and tensor.shape[-1] < attention.input[0].shape[-1]


def mixes_features(layer):
    """Whether the activation of a layer may combine several features, as softmax does."""
    return getattr(layer, "activation", None) not in (None, *_ELEMENTWISE_ACTIVATIONS)


LAYER_RULES = {
    **dict.fromkeys(
        (
            GroupDropout, layers.Activation, layers.ActivityRegularization, layers.AlphaDropout,
            layers.Dropout, layers.ELU, layers.GaussianDropout, layers.GaussianNoise, layers.Identity,
            layers.LeakyReLU, layers.ReLU, layers.SpatialDropout1D, layers.SpatialDropout2D,
            layers.SpatialDropout3D,
        ),
        elementwise,
    ),
    **dict.fromkeys((FirstToken, JoinTokens, TokenRange), _elementwise_by_token),
    **dict.fromkeys(
        (layers.Add, layers.Average, layers.Maximum, layers.Minimum, layers.Subtract), summed
    ),
    **dict.fromkeys(
        (
            layers.AveragePooling1D, layers.AveragePooling2D, layers.AveragePooling3D, layers.Cropping1D,
            layers.Cropping2D, layers.Cropping3D, layers.GlobalAveragePooling2D,
            layers.GlobalAveragePooling3D, layers.GlobalMaxPooling1D, layers.GlobalMaxPooling2D,
            layers.GlobalMaxPooling3D, layers.MaxPooling1D, layers.MaxPooling2D, layers.MaxPooling3D,
            layers.UpSampling1D, layers.UpSampling2D, layers.UpSampling3D, layers.ZeroPadding1D,
            layers.ZeroPadding2D, layers.ZeroPadding3D, NearestUpsampling,
        ),
        _channelwise,
    ),
    **dict.fromkeys((layers.Flatten, layers.Permute, layers.Reshape), rearrangement),
    **dict.fromkeys(CONVOLUTIONS, _convolution),
    **dict.fromkeys(SEPARABLE, _separable_convolution),
    **dict.fromkeys(TRANSPOSED, _transposed_convolution),
    **dict.fromkeys((layers.DepthwiseConv1D, layers.DepthwiseConv2D), _depthwise_convolution),
    **dict.fromkeys(ATTENTION, _attention),
    ClassToken: _class_token,
    GroupLayerNormalization: _group_layer_normalization,
    LayerScale: _layer_scale,
    PositionEmbedding: _position_embedding,
    RotaryEmbedding: _rotary_embedding,
    SeparableAttention: _separable_attention,
    layers.BatchNormalization: _batch_normalization,
    layers.Concatenate: concatenation,
    layers.Dense: _dense,
    layers.EinsumDense: _einsum_dense,
    layers.GlobalAveragePooling1D: _mean_of_tokens,
    layers.GroupNormalization: _group_normalization,
    layers.LayerNormalization: _layer_normalization,
    layers.Multiply: merged,
    layers.PReLU: _prelu,
    layers.Rescaling: _rescaling,
}  # fmt: skip

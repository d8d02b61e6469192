"""Normalizations folded into kernels: a batch normalization into the layer in front of it, that of pixels
into the convolution behind it."""

import numpy as np
from keras import layers

from hsvit_keras.compression.rewriting import Graph, rewrite
from hsvit_keras.layers import Shift


def _scale_outputs(kernel, gain):
    """The last axis of the kernel counts the outputs: Dense, Conv2D."""
    return kernel * gain


def _scale_depthwise(kernel, gain):
    """(height, width, inputs, multiplier): the last two axes count the outputs."""
    return kernel * gain.reshape(kernel.shape[-2:])


_FOLDABLE = {
    layers.Conv1D: _scale_outputs,
    layers.Conv2D: _scale_outputs,
    layers.Dense: _scale_outputs,
    layers.DepthwiseConv2D: _scale_depthwise,
}


def fold_batch_norm(model):
    """Replaces each convolution or Dense layer with batch normalization behind it by one with a bias.

    Answers stay those of inference. A normalization without such a layer in front, or behind one
    that feeds others too, stays; so does what is inside of a model within the model.

    Args:
        model: `keras.Model` as a Functional graph, or `keras.Sequential`. It stays as it is.

    Returns:
        A `keras.Model` with the same layer names, less those of the folded normalizations; the model itself
        if there is nothing to fold.

    Raises:
        ValueError: `model` has no graph that could be followed.
    """
    graph = Graph(model)
    norm_behind = {
        graph.producers(norm)[0].name: norm for norm in graph.model.layers if _is_foldable(norm, graph)
    }
    folded = {norm.name for norm in norm_behind.values()}
    if not folded:
        return model

    def replace(layer):
        if layer.name in norm_behind:
            with_bias = type(layer).from_config({**layer.get_config(), "use_bias": True})
            return with_bias, _folded_weights(layer, norm_behind[layer.name])
        return None

    def call(layer, *args, **kwargs):
        return args[0] if layer.name in folded else layer(*args, **kwargs)

    return rewrite(graph.model, replace, call)


def _is_foldable(norm, graph):
    if not isinstance(norm, layers.BatchNormalization) or not graph.is_called_once(norm):
        return False
    (layer,) = graph.producers(norm)
    return (
        type(layer) in _FOLDABLE
        and layer.activation is layers.Activation("linear").activation
        and graph.is_called_once(layer)
        and len(graph.consumers(layer)) == 1
        and not graph.is_output(layer)
        and norm.axis in (-1, len(norm.input.shape) - 1)
        and getattr(layer, "data_format", "channels_last") == "channels_last"
    )


def _folded_weights(layer, norm):
    kernel, *bias = layer.get_weights()
    gain = 1 / np.sqrt(np.asarray(norm.moving_variance) + norm.epsilon)
    offset = -np.asarray(norm.moving_mean) * gain
    if norm.scale:
        gain, offset = gain * np.asarray(norm.gamma), offset * np.asarray(norm.gamma)
    if norm.center:
        offset = offset + np.asarray(norm.beta)
    if bias:
        offset = offset + bias[0] * gain
    return [_FOLDABLE[type(layer)](kernel, gain), offset]


def fold_normalization(model):
    """Folds the normalization of images into the convolutions that read it.

    Convolutions without padding take it whole. Padding stands for normalized zeros, so in front of a padded
    convolution a `Shift` by the mean stays, and only the scale goes into the kernel.

    Args:
        model: `keras.Model` as a Functional graph, or `keras.Sequential`. It stays as it is.

    Returns:
        A `keras.Model` with the same outputs; the model itself if it has no such normalization.

    Raises:
        InputError: `model` has no graph that could be followed.
    """
    graph = Graph(model)
    folded, kept = {}, {}
    for layer in graph.model.layers:
        if type(layer) is layers.Rescaling and graph.is_called_once(layer) and not graph.is_output(layer):
            readers, is_padded = _convolutions_behind(layer, graph)
            if readers:
                shifts = is_padded and bool(_scale_and_offset(layer)[1].any())
                folded |= {reader.name: (layer, shifts) for reader in readers}
                kept[layer.name] = shifts
    if not folded:
        return model

    def replace(layer):
        if kept.get(layer.name):
            scale, offset = _scale_and_offset(layer)
            return Shift(offset / scale, name=layer.name)
        if layer.name not in folded:
            return None
        normalization, shifts = folded[layer.name]
        with_bias = type(layer).from_config({**layer.get_config(), "use_bias": True})
        return with_bias, _normalized_weights(layer, normalization, shifts)

    def call(layer, *args, **kwargs):
        gone = layer.name in kept and not kept[layer.name]
        return args[0] if gone else layer(*args, **kwargs)

    return rewrite(graph.model, replace, call)


def _convolutions_behind(normalization, graph):
    """The convolutions that read a normalization, and whether any pads; none if other layers read it, too."""
    wanted, found, is_padded = list(graph.consumers(normalization)), [], False
    while wanted:
        layer = wanted.pop()
        if type(layer) is layers.ZeroPadding2D and not graph.is_output(layer):
            wanted += graph.consumers(layer)
            is_padded = True
        elif type(layer) is layers.Conv2D and layer.groups == 1 and graph.is_called_once(layer):
            found.append(layer)
            is_padded |= layer.padding != "valid"
        else:
            return [], False
    return found, is_padded


def _normalized_weights(convolution, normalization, shifts):
    """The weights of a convolution that reads pixels; what a `Shift` adds is not in its bias."""
    kernel, *bias = convolution.get_weights()
    scale, offset = _scale_and_offset(normalization)
    bias = bias[0] if bias else np.zeros(kernel.shape[-1], kernel.dtype)
    if not shifts:
        bias = bias + np.einsum("hwio,i->o", kernel.astype("float64"), offset).astype(kernel.dtype)
    return [(kernel * scale[:, np.newaxis]).astype(kernel.dtype), bias]


def _scale_and_offset(normalization):
    """Both of a Rescaling, one for each channel."""
    channels = normalization.output.shape[-1:]
    both = (normalization.scale, normalization.offset)
    return [np.broadcast_to(np.asarray(values, "float64"), channels) for values in both]

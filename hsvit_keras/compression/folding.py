"""Batch normalization folded into the layer in front of it."""

import numpy as np
from keras import layers

from hsvit_keras.compression.rewriting import Graph, rewrite


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
        A `keras.Model` with the same layer names, less those of the folded normalizations.

    Raises:
        ValueError: `model` has no graph that could be followed.
    """
    graph = Graph(model)
    norm_behind = {
        graph.producers(norm)[0].name: norm for norm in graph.model.layers if _is_foldable(norm, graph)
    }
    folded = {norm.name for norm in norm_behind.values()}

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

"""Folds normalization into kernels.

Batch normalization is folded into the layer before it, the normalization of pixels into the convolution
after it.
"""

import keras
import numpy as np
from keras import layers

from hsvit_keras.compression.equality import checked
from hsvit_keras.compression.graph import Graph
from hsvit_keras.compression.rewriting import config_of, rewrite
from hsvit_keras.layers import Shift


def _scale_outputs(kernel, gain):
    """Multiplies each output channel by its gain, for kernels whose last axis is the output channels."""
    return kernel * gain


def _scale_depthwise(kernel, gain):
    """The same for depthwise kernels `(height, width, input channels, depth multiplier)`."""
    return kernel * gain.reshape(kernel.shape[-2:])


# Layers that batch normalization is folded into, and how the output channels of their kernels are scaled.
SCALE_KERNEL = {
    layers.Conv1D: _scale_outputs,
    layers.Conv2D: _scale_outputs,
    layers.Dense: _scale_outputs,
    layers.DepthwiseConv2D: _scale_depthwise,
}


def fold_batch_norm(model, check=True):
    """Folds batch normalization into the convolution or Dense layer before it.

    The outputs at inference stay the same. A batch normalization is kept where no such layer comes directly
    before it, where other layers read the output of that layer, too, or where a call says `training=True`.

    Args:
        model: `keras.Model` as a Functional graph, or `keras.Sequential`. It is not modified.
        check: bool, whether to compare the outputs of both models on one random batch, see `equality`.

    Returns:
        A `keras.Model` with the same layer names, without those of the folded normalizations; `model` itself
        if there is nothing to fold.

    Raises:
        InputError: `model` is neither Functional nor Sequential, or has no input shape.
        PassError: the outputs differ.
    """
    graph = Graph(model)
    norm_after = {
        graph.path(graph.producers(norm)[0]): norm for norm in graph.layers if _is_foldable(norm, graph)
    }
    folded = {graph.path(norm) for norm in norm_after.values()}
    if not folded:
        return model

    def replace(path, layer):
        if path in norm_after:
            with_bias = type(layer).from_config({**config_of(layer), "use_bias": True})
            return with_bias, _folded_weights(layer, norm_after[path])
        return None

    def call(path, layer, *args, **kwargs):
        return args[0] if path in folded else layer(*args, **kwargs)

    return checked(model, rewrite(graph, replace, call), "fold_batch_norm", check)


def _is_foldable(norm, graph):
    if not isinstance(norm, layers.BatchNormalization) or graph.is_training(norm):
        return False
    layer, *others = set(graph.producers(norm))
    return (
        not others
        and type(layer) in SCALE_KERNEL
        and layer.quantization_mode is None
        and not getattr(layer, "lora_enabled", False)
        and layer.activation is keras.activations.linear
        and set(graph.consumers(layer)) == {norm}
        and not graph.is_output(layer)
        and norm.axis in (-1, len(norm.input.shape) - 1)
        and getattr(layer, "data_format", "channels_last") == "channels_last"
    )


def _folded_weights(layer, norm):
    """Kernel and bias that compute what `layer` and `norm` compute together at inference."""
    kernel, *bias = layer.get_weights()
    gain = 1 / np.sqrt(np.asarray(norm.moving_variance) + norm.epsilon)
    offset = -np.asarray(norm.moving_mean) * gain
    if norm.scale:
        gain, offset = gain * np.asarray(norm.gamma), offset * np.asarray(norm.gamma)
    if norm.center:
        offset = offset + np.asarray(norm.beta)
    if bias:
        offset = offset + bias[0] * gain
    return [SCALE_KERNEL[type(layer)](kernel, gain), offset]


def fold_normalization(model):
    """Folds the normalization of pixels, a `Rescaling` layer, into the convolutions that read it.

    Where no convolution pads its input, scale and offset both go into kernel and bias. Padding is zero after
    normalization, so in front of padded convolutions a `Shift` by the mean is kept and only the scale
    goes into the kernel.

    Args:
        model: `keras.Model` as a Functional graph, or `keras.Sequential`. It is not modified.

    Returns:
        A `keras.Model` with the same outputs; `model` itself if it has no normalization that can be folded.

    Raises:
        InputError: `model` is neither Functional nor Sequential, or has no input shape.
    """
    graph = Graph(model)
    normalization_of, needs_shift = {}, {}
    for layer in graph.layers:
        if type(layer) is layers.Rescaling and graph.is_called_once(layer) and not graph.is_output(layer):
            convolutions, is_padded = _convolutions_after(layer, graph)
            if convolutions:
                normalization_of |= {graph.path(convolution): layer for convolution in convolutions}
                needs_shift[graph.path(layer)] = is_padded and bool(_scale_and_offset(layer)[1].any())
    if not normalization_of:
        return model

    def replace(path, layer):
        if needs_shift.get(path):
            scale, offset = _scale_and_offset(layer)
            return Shift(offset / scale, name=layer.name)
        if path not in normalization_of:
            return None
        normalization = normalization_of[path]
        with_bias = type(layer).from_config({**config_of(layer), "use_bias": True})
        return with_bias, _normalized_weights(layer, normalization, needs_shift[graph.path(normalization)])

    def call(path, layer, *args, **kwargs):
        is_removed = path in needs_shift and not needs_shift[path]
        return args[0] if is_removed else layer(*args, **kwargs)

    return rewrite(graph, replace, call)


def _convolutions_after(normalization, graph):
    """The convolutions that read a normalization, and whether any of them pads its input.

    Returns:
        (list of layers, bool). The list is empty if a layer of another kind reads the normalization.
    """
    remaining, found, is_padded = list(graph.consumers(normalization)), [], False
    while remaining:
        layer = remaining.pop()
        if type(layer) is layers.ZeroPadding2D and not graph.is_output(layer):
            remaining += graph.consumers(layer)
            is_padded = True
        elif type(layer) is layers.Conv2D and layer.groups == 1 and graph.is_called_once(layer):
            found.append(layer)
            is_padded |= layer.padding != "valid"
        else:
            return [], False
    return found, is_padded


def _normalized_weights(convolution, normalization, has_shift):
    """Kernel and bias that include the normalization; only its scale if a `Shift` adds the offset."""
    kernel, *bias = convolution.get_weights()
    scale, offset = _scale_and_offset(normalization)
    bias = bias[0] if bias else np.zeros(kernel.shape[-1], kernel.dtype)
    if not has_shift:
        bias = bias + np.einsum("hwio,i->o", kernel.astype("float64"), offset).astype(kernel.dtype)
    return [(kernel * scale[:, np.newaxis]).astype(kernel.dtype), bias]


def _scale_and_offset(normalization):
    """Scale and offset of a `Rescaling` layer, as arrays with one value for each channel."""
    channels = normalization.output.shape[-1:]
    both = (normalization.scale, normalization.offset)
    return [np.broadcast_to(np.asarray(values, "float64"), channels) for values in both]

"""Folds normalization into kernels.

Batch normalization and layer scales are folded into the layer before them, the normalization of pixels into
the convolution after it.
"""

import keras
import numpy as np
from keras import layers

from hsvit_keras.compression.equality import checked
from hsvit_keras.compression.graph import Graph
from hsvit_keras.compression.opening import open_blocks
from hsvit_keras.compression.rewriting import config_of, rewrite
from hsvit_keras.layers import LayerScale, Shift


def _scale_outputs(kernel, gain):
    """Multiplies each output channel by its gain, for kernels whose last axis is the output channels."""
    return kernel * gain


def _scale_depthwise(kernel, gain):
    """The same for depthwise kernels `(*window, input channels, depth multiplier)`."""
    return kernel * gain.reshape(kernel.shape[-2:])


def _scale_transposed(kernel, gain):
    """The same for kernels `(*window, output channels, input channels)`."""
    return kernel * gain[:, np.newaxis]


# Layers that batch normalization is folded into, and how the output channels of their kernels are scaled.
SCALE_KERNEL = {
    layers.Conv1D: _scale_outputs,
    layers.Conv1DTranspose: _scale_transposed,
    layers.Conv2D: _scale_outputs,
    layers.Conv2DTranspose: _scale_transposed,
    layers.Conv3D: _scale_outputs,
    layers.Conv3DTranspose: _scale_transposed,
    layers.Dense: _scale_outputs,
    layers.DepthwiseConv1D: _scale_depthwise,
    layers.DepthwiseConv2D: _scale_depthwise,
}


def fold_batch_norm(model, check=True):
    """Folds batch normalization into the convolution or Dense layer before it, and layer scales.

    The outputs at inference stay the same. A batch normalization is kept where no such layer comes directly
    before it, where other layers read the output of that layer, too, or where a call says `training=True`.
    Blocks that have one inside are opened first, see `open_layers`.

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
    opened = _with_norms_in_the_graph(model)
    folded, once = opened, _folded_once(opened)
    while once is not folded:  # a layer scale comes behind a batch normalization
        folded, once = once, _folded_once(once)
    return model if folded is model else checked(model, folded, "fold_batch_norm", check)


def _folded_once(model):
    """The model with what directly follows a kernel folded into it; `model` itself if there is nothing."""
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

    return rewrite(graph, replace, call)


def _with_norms_in_the_graph(model):
    """The model with its blocks opened, but for those without batch normalization.

    A block with a `Lambda` layer can be loaded, but a model with one cannot: these are opened with them.
    """
    graph = Graph(model)

    def is_opened(layer):
        kinds = layers.BatchNormalization, layers.Lambda
        return any(isinstance(part, kinds) for part in layer._flatten_layers())

    return open_blocks(model, keep=[graph.path(layer) for layer in graph.layers if not is_opened(layer)])


def _is_foldable(norm, graph):
    if not isinstance(norm, layers.BatchNormalization | LayerScale) or graph.is_training(norm):
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
        and getattr(norm, "axis", -1) in (-1, len(norm.input.shape) - 1)
        and getattr(layer, "data_format", "channels_last") == "channels_last"
    )


def _folded_weights(layer, norm):
    """Kernel and bias that compute what `layer` and `norm` compute together at inference."""
    kernel, *bias = layer.get_weights()
    gain, offset = gain_and_offset(norm)
    if bias:
        offset = offset + bias[0] * gain
    return [SCALE_KERNEL[type(layer)](kernel, gain), offset]


def gain_and_offset(norm):
    """What a `BatchNormalization` or `LayerScale` computes at inference: a gain and an offset a channel."""
    if isinstance(norm, LayerScale):
        gain = np.asarray(norm.gamma)
        return gain, np.zeros_like(gain)
    gain = 1 / np.sqrt(np.asarray(norm.moving_variance) + norm.epsilon)
    offset = -np.asarray(norm.moving_mean) * gain
    if norm.scale:
        gain, offset = gain * np.asarray(norm.gamma), offset * np.asarray(norm.gamma)
    if norm.center:
        offset = offset + np.asarray(norm.beta)
    return gain, offset


def fold_normalization(model):
    """Folds the normalization of pixels into the convolutions that read it.

    It is a `Rescaling` layer, a `Normalization` of the last axis, or several of them in a row.
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
    normalization_of, needs_shift, rows = {}, {}, {}
    for layer in graph.layers:
        if not _is_normalization(layer, graph):
            continue
        convolutions, is_padded = _convolutions_after(layer, graph)
        if convolutions:
            rows[layer] = [*_normalizations_before(layer, graph), layer]
            normalization_of |= {graph.path(convolution): layer for convolution in convolutions}
            needs_shift[graph.path(layer)] = is_padded and bool(_merged(rows[layer])[1].any())
    if not normalization_of:
        return model
    removed = {graph.path(before) for row in rows.values() for before in row[:-1]}

    def replace(path, layer):
        if needs_shift.get(path):
            scale, offset = _merged(rows[layer])
            return Shift(offset / scale, name=layer.name), []
        if path not in normalization_of:
            return None
        normalization = normalization_of[path]
        with_bias = type(layer).from_config({**config_of(layer), "use_bias": True})
        has_shift = needs_shift[graph.path(normalization)]
        return with_bias, _normalized_weights(layer, *_merged(rows[normalization]), has_shift)

    def call(path, layer, *args, **kwargs):
        is_removed = path in removed or (path in needs_shift and not needs_shift[path])
        return args[0] if is_removed else layer(*args, **kwargs)

    return rewrite(graph, replace, call)


def _is_normalization(layer, graph):
    is_known = type(layer) in (layers.Rescaling, layers.Normalization)
    is_once = is_known and graph.is_called_once(layer) and not graph.is_output(layer)
    return is_once and scale_and_offset(layer) is not None


def _normalizations_before(normalization, graph):
    """The normalizations in a row before one, each read by the next alone."""
    (producer,) = graph.producers(normalization)
    if not _is_normalization(producer, graph) or len(graph.consumers(producer)) > 1:
        return []
    return [*_normalizations_before(producer, graph), producer]


def _merged(normalizations):
    """Scale and offset of several normalizations in a row."""
    scale, offset = 1.0, 0.0
    for normalization in normalizations:
        gain, shift = scale_and_offset(normalization)
        scale, offset = scale * gain, offset * gain + shift
    return scale, offset


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


def _normalized_weights(convolution, scale, offset, has_shift):
    """Kernel and bias that include the normalization; only its scale if a `Shift` adds the offset."""
    kernel, *bias = convolution.get_weights()
    bias = bias[0] if bias else np.zeros(kernel.shape[-1], kernel.dtype)
    if not has_shift:
        bias = bias + np.einsum("hwio,i->o", kernel.astype("float64"), offset).astype(kernel.dtype)
    return [(kernel * scale[:, np.newaxis]).astype(kernel.dtype), bias]


def scale_and_offset(normalization):
    """What a `Rescaling` or `Normalization` layer computes.

    Returns:
        (array, array): scale and offset with one value for each channel; None if they are of other axes.
    """
    channels = normalization.output.shape[-1:]
    if isinstance(normalization, layers.Rescaling):
        both = (normalization.scale, normalization.offset)
    else:
        mean, variance = (np.asarray(x, "float64") for x in (normalization.mean, normalization.variance))
        deviation = np.maximum(np.sqrt(variance), 1e-7)
        both = (deviation, mean) if normalization.invert else (1 / deviation, -mean / deviation)
    both = [np.asarray(values, "float64") for values in both]
    if any(
        values.size not in (1, *channels) or values.shape[-1:] not in ((), (1,), channels) for values in both
    ):
        return None
    return [np.broadcast_to(values.reshape(-1), channels) for values in both]

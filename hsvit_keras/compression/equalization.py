"""Cross-layer equalization: channels of one tensor get like ranges, so that one scale serves them all."""

import keras
import numpy as np
from keras import layers

from hsvit_keras.compression.equality import checked
from hsvit_keras.compression.folding import SCALE_KERNEL, fold_batch_norm
from hsvit_keras.compression.graph import Graph, check_float
from hsvit_keras.compression.opening import open_layers
from hsvit_keras.compression.rewriting import config_of, rewrite

# What keeps a gain of its input: f(g x) = g f(x) for each channel and g > 0.
_HOMOGENEOUS = (keras.activations.linear, keras.activations.relu)
_PASSING = (
    layers.AveragePooling2D, layers.Dropout, layers.GlobalAveragePooling2D, layers.GlobalMaxPooling2D,
    layers.Identity, layers.LeakyReLU, layers.MaxPooling2D, layers.SpatialDropout2D, layers.ZeroPadding2D,
)  # fmt: skip
_KERNEL_LAYERS = (layers.Conv1D, layers.Conv2D, layers.Dense, layers.DepthwiseConv2D)
_SWEEPS = 20
_SMALLEST = 1e-8


def equalize(model, check=True):
    """Scales the channels between two layers so that both kernels have the same range for each of them.

    Batch normalization is folded first. Two layers are equalized if the second is all that reads the first,
    with nothing between them but what keeps a gain, such as ReLU or pooling. Outputs stay the same.

    Args:
        model: float `keras.Model` as a Functional graph, or `keras.Sequential`. It is not modified.
        check: bool, whether to compare the outputs of both models on one random batch.

    Returns:
        A `keras.Model`.

    Raises:
        InputError: `model` is neither Functional nor Sequential, or was quantized by Keras.
        PassError: the outputs differ.

    References:
        - [Data-Free Quantization Through Weight Equalization and Bias Correction
          ](https://arxiv.org/abs/1906.04721), section 4.1
    """
    check_float(Graph(model))
    graph = Graph(fold_batch_norm(open_layers(model, check=False), check=False))
    pairs = [(layer, second) for layer in graph.layers if (second := _second_of(layer, graph))]
    if not pairs:
        return model
    weights = {graph.path(layer): layer.get_weights() for pair in pairs for layer in pair}
    for _ in range(_SWEEPS):
        for first, second in pairs:
            _equalize(first, weights[graph.path(first)], second, weights[graph.path(second)])

    def replace(path, layer):
        return (type(layer).from_config(config_of(layer)), weights[path]) if path in weights else None

    return checked(model, rewrite(graph, replace), "equalize", check)


def _second_of(first, graph):
    """The layer that reads the channels of another and nothing else, None if there is none."""
    if not _is_plain(first, graph) or first.activation not in _HOMOGENEOUS:
        return None
    layer = first
    while True:
        readers = set(graph.consumers(layer))
        if len(readers) != 1 or graph.is_output(layer):
            return None
        (layer,) = readers
        if _is_plain(layer, graph):
            return layer
        if not _keeps_gains(layer) or not graph.is_called_once(layer):
            return None


def _is_plain(layer, graph):
    return (
        type(layer) in _KERNEL_LAYERS
        and graph.is_called_once(layer)
        and getattr(layer, "groups", 1) == 1
        and getattr(layer, "data_format", "channels_last") == "channels_last"
        and not getattr(layer, "lora_enabled", False)
    )


def _keeps_gains(layer):
    if isinstance(layer, layers.ReLU):
        return layer.max_value is None and not layer.threshold
    if isinstance(layer, layers.Activation):
        return layer.activation in _HOMOGENEOUS
    return type(layer) in _PASSING and getattr(layer, "data_format", "channels_last") == "channels_last"


def _equalize(first, first_weights, second, second_weights):
    """Changes the weights of both layers in place."""
    ranges = _output_ranges(first, first_weights[0]), _input_ranges(second_weights[0])
    is_dead = np.minimum(*ranges) < _SMALLEST
    gain = np.where(is_dead, 1.0, np.sqrt(ranges[1] / np.maximum(ranges[0], _SMALLEST))).astype("float32")
    first_weights[0] = SCALE_KERNEL[type(first)](first_weights[0], gain)
    if first.use_bias:
        first_weights[1] = first_weights[1] * gain
    second_weights[0] = second_weights[0] / gain[:, np.newaxis]  # the axis before the last is that of inputs


def _output_ranges(layer, kernel):
    """The largest magnitude in the kernel of each output channel."""
    if isinstance(layer, layers.DepthwiseConv2D):
        return np.abs(kernel).max((0, 1)).reshape(-1)
    return np.abs(kernel).reshape(-1, kernel.shape[-1]).max(0)


def _input_ranges(kernel):
    """The largest magnitude in what the kernel has for each input channel."""
    return np.abs(kernel).max((*range(kernel.ndim - 2), kernel.ndim - 1))

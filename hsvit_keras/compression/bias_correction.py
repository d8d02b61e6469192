"""Bias correction: rounding and clipping leave the mean of each channel as it was."""

import keras
import numpy as np
from keras import ops

from hsvit_keras.compression.graph import Graph
from hsvit_keras.compression.probing import run_graph
from hsvit_keras.compression.quantized_layers import RoundedKernel
from hsvit_keras.compression.ranges import unrounded

_SAMPLES = 64  # all are computed at a time


def correct_biases(model, batches):
    """Changes the biases of a quantized model so that layers give the means that they give unrounded.

    The layers are corrected one after the other, each on what the corrected ones before it give. Layers
    without bias, or called in several places, are left as they are.

    Args:
        model: quantized `keras.Model` whose ranges are set. It is modified.
        batches: list of inputs as the model takes them, of which the first 64 samples are used.

    References:
        - [Data-Free Quantization Through Weight Equalization and Bias Correction
          ](https://arxiv.org/abs/1906.04721), section 4.2 and appendix D
    """
    graph = Graph(model)
    corrected = {layer for layer in graph.layers if _has_bias(layer) and graph.is_called_once(layer)}
    inputs = keras.tree.map_structure(lambda *arrays: np.concatenate(arrays)[:_SAMPLES], *batches)
    expected = {}

    def note(layer, sums):
        expected[layer] = _mean(layer, sums)
        return sums

    def correct(layer, sums):
        difference = expected[layer] - _mean(layer, sums)
        layer.bias.assign_add(ops.cast(difference, layer.bias.dtype))
        return sums + ops.cast(difference, sums.dtype)

    with unrounded():
        _run(model, inputs, corrected, note)
    _run(model, inputs, corrected, correct)


def _has_bias(layer):
    return isinstance(layer, RoundedKernel) and getattr(layer, "bias", None) is not None


def _run(model, inputs, visited, visit):
    """Computes a model, in which `visit` replaces what some layers give before their activation."""

    def call(operation, *args, **kwargs):
        if operation not in visited:
            return operation(*args, **kwargs)
        activation, operation.activation = operation.activation, keras.activations.linear
        try:
            sums = operation(*args, **kwargs)
        finally:
            operation.activation = activation
        sums = visit(operation, sums)
        return sums if activation is None else activation(sums)

    run_graph(model, inputs, call)


def _mean(layer, sums):
    """The mean of a layer's sums for each of its biases."""
    sums, sizes = ops.cast(sums, "float32"), layer.bias.shape
    mean = ops.mean(sums, axis=tuple(range(len(sums.shape) - len(sizes))))
    shared = tuple(axis for axis, size in enumerate(sizes) if size == 1 and mean.shape[axis] > 1)
    return ops.mean(mean, axis=shared, keepdims=True) if shared else mean

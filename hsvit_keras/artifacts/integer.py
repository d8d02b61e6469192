"""The integer layers of an artifact: ranges become constants that the converter takes for tensor scales.

The converter decides by itself what computes with integers: whatever has a range on each side. What is
to stay float between two ranges needs a barrier, an operation without an integer form.
"""

import itertools

import keras
import numpy as np
import tensorflow as tf
from keras import layers

from hsvit_keras.compression.graph import layers_inside
from hsvit_keras.compression.quantized_layers import RoundedConstant, RoundedKernel, constant_bounds
from hsvit_keras.compression.ranges import ActivationRange, ranges_of
from hsvit_keras.compression.schemes import SCHEMES
from hsvit_keras.layers import ClassToken, SequencePooling, Shift, SoftmaxAttention
from hsvit_runtime.errors import InputError

_INT8 = SCHEMES["int8"]
_KERNEL_LAYERS = tuple(
    stock for stock, quantized in _INT8.integer.items() if issubclass(quantized, RoundedKernel)
)
_AVERAGES = (layers.AveragePooling1D, layers.AveragePooling2D)
# What is a single operation to the converter: a range in front makes it one of integers.
_ONE_OPERATION = (*_AVERAGES, SequencePooling, layers.Activation, layers.ReLU, layers.Softmax)
# A range behind them does the same: softmax has a fixed range, and a pooling that of its output.
_INTEGER_BY_OUTPUT_RANGE = (*_AVERAGES, SoftmaxAttention)
_KNOWN = (*_INT8.integer, *_INT8.integer.values(), *_INT8.transparent, *_INT8.floating, ActivationRange)


def check_ranges(model):
    """Raises `ValueError` unless all ranges of a quantized model are set, and all of it is of 8 bits."""
    for layer in ranges_of(model):
        if not float(layer.observed_batches):
            raise InputError(
                f"the range {layer.name!r} of {model.name!r} was never set: train the model, or set its "
                "ranges with hsvit_keras.calibrate(model, batches)"
            )
    for layer in layers_inside(model):
        bits = getattr(layer, "bits", None) or getattr(layer, "weight_bits", 8)
        if bits != 8:
            raise InputError(f"int8 artifacts need 8 bits everywhere; {layer.name!r} has {bits}")


def constant_form(layer, graph):
    """What stands in an artifact's graph for a range or a rounded constant, None for any other layer."""
    is_ranged = any(isinstance(source, ActivationRange) for source in graph.producers(layer))
    if isinstance(layer, ActivationRange):
        low, high = (float(bound) for bound in layer.bounds())
        return ConstantRange(low, high, name=layer.name)
    if isinstance(layer, RoundedConstant):
        (constant,) = layer.get_weights()
        low, high = (float(bound) for bound in constant_bounds(constant))
        return AddedConstant(constant, low, high, isinstance(layer, ClassToken), name=layer.name)
    if isinstance(layer, Shift) and is_ranged:
        offset = np.broadcast_to(np.asarray(layer.offset, "float32"), layer.output.shape[-1:])
        low, high = min(float(offset.min()), 0.0), max(float(offset.max()), 0.0)
        return AddedConstant(offset, low, high, in_front=False, name=layer.name)
    return None


def needs_barrier(layer, graph):
    """Whether the converter would compute a float layer with integers, for the ranges around it."""
    if isinstance(layer, ActivationRange):
        return any(
            isinstance(source, _INTEGER_BY_OUTPUT_RANGE) or _is_range(source, graph)
            for source in graph.producers(layer)
        )
    is_float = isinstance(layer, (*_KERNEL_LAYERS, *_ONE_OPERATION)) and not isinstance(layer, RoundedKernel)
    return (is_float or _is_opaque(layer)) and any(
        _is_range(source, graph) for source in graph.producers(layer)
    )


def _is_range(layer, graph):
    if type(layer) in _INT8.transparent:
        return any(_is_range(source, graph) for source in graph.producers(layer))
    return isinstance(layer, ActivationRange)


def _is_opaque(layer):
    """Whether a layer may hold kernels that no pass knows of."""
    return type(layer) not in _KNOWN and bool(layer.weights)


def put_barriers(layer, tensors):
    """The inputs of a layer that needs it, behind barriers."""
    first = len(layer._inbound_nodes) * len(keras.tree.flatten(tensors))  # behind those of calls before
    names = (f"{layer.name}_barrier{i or ''}" for i in itertools.count(first))

    def barred(tensor):
        if _is_opaque(layer):
            return OpaqueBarrier(name=next(names))(tensor)
        return Barrier(isinstance(layer, _KERNEL_LAYERS), name=next(names))(tensor)

    return keras.tree.map_structure(barred, tensors)


def behind_barrier(layer):
    """The weights of a layer behind its barrier: a kernel's sign is turned, as that of its input is."""
    weights = layer.get_weights()
    return [-weights[0], *weights[1:]] if isinstance(layer, _KERNEL_LAYERS) else weights


@keras.saving.register_keras_serializable("hsvit_keras")
class ConstantRange(layers.Layer):
    """An `ActivationRange` that does not change any more."""

    def __init__(self, low, high, **kwargs):
        super().__init__(dtype="float32", **kwargs)
        self.low = low
        self.high = high

    def call(self, inputs):
        return tf.quantization.fake_quant_with_min_max_args(inputs, self.low, self.high)

    def compute_output_shape(self, input_shape):
        return input_shape


@keras.saving.register_keras_serializable("hsvit_keras")
class AddedConstant(layers.Layer):
    """Adds a rounded constant to tokens, or puts it in front of them as new ones."""

    def __init__(self, constant, low, high, in_front, **kwargs):
        super().__init__(dtype="float32", **kwargs)
        self.constant = np.asarray(constant, "float32")
        self.low = low
        self.high = high
        self.in_front = in_front

    def call(self, tokens):
        constant, rest = self.constant, [(0, 0)] * (len(tokens.shape) - 2)
        if self.in_front:
            new, old = len(constant), tokens.shape[1]
            constant = np.pad(constant, [(0, old), *rest])
            tokens = tf.pad(tokens, [(0, 0), (new, 0), *rest])
        return tokens + tf.quantization.fake_quant_with_min_max_args(constant, self.low, self.high)

    def compute_output_shape(self, input_shape):
        batch, count, *rest = input_shape
        return (batch, count + self.in_front * len(self.constant), *rest)


@keras.saving.register_keras_serializable("hsvit_keras")
class Barrier(layers.Layer):
    """Keeps its reader from computing with integers; the values are the same, or all their negatives.

    The converter merges a product into the kernel of a layer behind it, but not a change of sign.
    """

    def __init__(self, negative, **kwargs):
        super().__init__(dtype="float32", **kwargs)
        self.negative = negative

    def call(self, inputs):
        return tf.negative(inputs) if self.negative else inputs * (1 + 2**-23)

    def compute_output_shape(self, input_shape):
        return input_shape


@keras.saving.register_keras_serializable("hsvit_keras")
class OpaqueBarrier(layers.Layer):
    """A barrier in front of kernels whose sign cannot be turned.

    The converter may merge the product into a kernel, but not the change of sign before it.
    """

    def __init__(self, **kwargs):
        super().__init__(dtype="float32", **kwargs)

    def call(self, inputs):
        return tf.negative(inputs) * -(1 + 2**-23)

    def compute_output_shape(self, input_shape):
        return input_shape

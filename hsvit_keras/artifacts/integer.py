"""The integer layers of an artifact: ranges become constants that the converter takes for tensor scales.

The converter decides by itself what computes with integers: whatever has a range on each side. What is
to stay float between two ranges needs a barrier, an operation without an integer form.
"""

import itertools

import keras
import numpy as np
from keras import layers

from hsvit_keras.artifacts.integer_layers import (
    AddedConstant,
    Barrier,
    ChannelScaling,
    ConstantRange,
    DepthwiseAverage,
    OpaqueBarrier,
    SignBarrier,
)
from hsvit_keras.compression.folding import gain_and_offset, scale_and_offset
from hsvit_keras.compression.graph import layers_inside
from hsvit_keras.compression.integer_parts import FIXED_RANGES, is_fusible
from hsvit_keras.compression.quantized_layers import RoundedConstant, RoundedKernel, constant_bounds
from hsvit_keras.compression.ranges import ActivationRange, ranges_of
from hsvit_keras.compression.schemes import SCHEMES, kind_of
from hsvit_keras.layers import (
    ClassToken,
    DeformableAttention,
    LayerScale,
    SeparableAttention,
    SequencePooling,
    Shift,
    SoftmaxAttention,
)
from hsvit_runtime.errors import InputError

_INT8 = SCHEMES["int8"]
_KERNEL_LAYERS = (
    *(
        stock
        for stock, quantized in _INT8.integer.items()
        if isinstance(quantized, type) and issubclass(quantized, RoundedKernel)
    ),
    layers.Conv3D,
    layers.Conv3DTranspose,
)
_AVERAGES = (layers.AveragePooling1D, layers.AveragePooling2D)
# A range behind them does the same: it is that of their inputs, too.
_LED_BY_A_RANGE_BEHIND = (*_AVERAGES, SoftmaxAttention, layers.Maximum, layers.Minimum)
# The converter gives them a range of its own.
_FIXED = (*FIXED_RANGES, keras.activations.softmax, layers.Softmax)
_RECURRENT = (layers.Bidirectional, layers.GRU, layers.LSTM, layers.SimpleRNN)
# What is a single operation to the converter: a range in front makes it one of integers.
_ONE_OPERATION = (
    *_AVERAGES, DeformableAttention, SeparableAttention, SequencePooling, layers.Activation,
    layers.Concatenate, layers.Maximum, layers.Minimum, layers.PReLU, layers.ReLU, layers.Resizing,
    layers.Softmax, layers.UpSampling2D,
)  # fmt: skip
_KNOWN = (
    *_INT8.integer, *_INT8.integer.values(), *_INT8.between, *_INT8.transparent, *_INT8.floating,
    ActivationRange,
)  # fmt: skip


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


def integer_form(layer, graph):
    """What stands in an artifact's graph for a layer of its own integer form, None for any other layer."""
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
    return _depthwise_form(layer) if _is_between_ranges(layer, graph) else None


def is_form(layer):
    """Whether a layer is one that `integer_form` gives."""
    return isinstance(layer, AddedConstant | ChannelScaling | ConstantRange | DepthwiseAverage)


def _depthwise_form(layer):
    """What scales or averages each channel, between ranges, as a depthwise convolution; None for all else."""
    if isinstance(layer, layers.BatchNormalization | LayerScale):
        return ChannelScaling(*gain_and_offset(layer), name=layer.name)
    if isinstance(layer, layers.Rescaling | layers.Normalization):
        return ChannelScaling(*scale_and_offset(layer), name=layer.name)
    if isinstance(layer, _AVERAGES):
        return DepthwiseAverage(layer.pool_size, layer.strides[0], name=layer.name)
    return None


def _is_between_ranges(layer, graph):
    """Whether a layer that may compute with integers reads and feeds nothing else."""
    if kind_of(layer) not in _INT8.between or graph.is_output(layer) or not _is_channelwise(layer):
        return False
    readers = graph.consumers(layer)
    if len(readers) == 1 and is_fusible(readers[0]) and not graph.is_output(readers[0]):
        readers = graph.consumers(readers[0])
    return (
        all(_is_range(source, graph) for source in graph.producers(layer))
        and bool(readers)
        and all(isinstance(reader, ActivationRange) for reader in readers)
    )


def _is_channelwise(layer):
    """Whether it is of the last axis that a layer normalizes, and of whole windows that it averages."""
    rank = len(layer.output.shape)
    if isinstance(layer, layers.BatchNormalization):
        return layer.axis in (-1, rank - 1)
    if isinstance(layer, layers.Normalization | layers.Rescaling):
        return scale_and_offset(layer) is not None
    return not isinstance(layer, _AVERAGES) or _has_whole_windows(layer)


def _has_whole_windows(pooling):
    """Whether a pooling can be one convolution: windows end within the edge, and all strides are alike."""
    if pooling.data_format != "channels_last" or len(set(pooling.strides)) > 1:
        return False
    sides = zip(pooling.input.shape[1:-1], pooling.pool_size, pooling.strides, strict=True)
    return pooling.padding == "valid" or all(
        side is not None and side % stride == 0 and size <= stride for side, size, stride in sides
    )


def barrier_in_front_of(layer, graph):
    """The class of barrier that a layer needs, lest the converter computes a float layer with integers.

    Returns:
        `SignBarrier`, `Barrier` or `OpaqueBarrier`; None where the layer needs none.
    """
    sources = graph.producers(layer)
    reads_range = any(_is_range(source, graph) for source in sources)
    if isinstance(layer, ActivationRange):
        if any(kind_of(source) in _FIXED and not _is_between_ranges(source, graph) for source in sources):
            return OpaqueBarrier
        is_led = any(_is_integer_by_output_range(source, graph) for source in sources)
        return Barrier if is_led or reads_range else None
    if not reads_range or _is_between_ranges(layer, graph) or _shares_its_range(layer, graph):
        return None
    if isinstance(layer, _KERNEL_LAYERS):
        return None if isinstance(layer, RoundedKernel) else SignBarrier
    if _is_opaque(layer):
        return OpaqueBarrier
    return Barrier if isinstance(layer, _ONE_OPERATION) else None


def _is_integer_by_output_range(layer, graph):
    """Whether the converter takes the range behind a float layer for an order to quantize it."""
    return isinstance(layer, _LED_BY_A_RANGE_BEHIND) and not _is_between_ranges(layer, graph)


def _shares_its_range(layer, graph):
    """Whether what a layer reads and what it gives have one range."""
    if kind_of(layer) not in _INT8.sharing:
        return False
    around = {*graph.consumers(layer)}
    for source in graph.producers(layer):
        around |= _ranges_behind(source, graph)
    return len(around) == 1 and isinstance(around.pop(), ActivationRange)


def _ranges_behind(layer, graph):
    """What computes the values of a layer, behind those that only move them."""
    if kind_of(layer) in _INT8.transparent:
        return set().union(*(_ranges_behind(source, graph) for source in graph.producers(layer)))
    return {layer}


def _is_range(layer, graph):
    if kind_of(layer) in _INT8.transparent:
        return any(_is_range(source, graph) for source in graph.producers(layer))
    return isinstance(layer, ActivationRange)


def _is_opaque(layer):
    """Whether a layer may hold kernels that no pass knows of."""
    return isinstance(layer, _RECURRENT) or (
        type(layer) not in _KNOWN and bool(getattr(layer, "weights", ()))
    )


def putting(barrier, layer):
    """A function that puts barriers of a class in front of a layer: it takes and gives the inputs."""
    names = (f"{layer.name}_barrier{i or ''}" for i in itertools.count())  # in all calls of the layer
    return lambda tensors: keras.tree.map_structure(lambda x: barrier(name=next(names))(x), tensors)


def behind_barrier(layer):
    """The weights of a layer behind its barrier: a kernel's sign is turned, as that of its input is."""
    weights = layer.get_weights()
    return [-weights[0], *weights[1:]] if isinstance(layer, _KERNEL_LAYERS) else weights

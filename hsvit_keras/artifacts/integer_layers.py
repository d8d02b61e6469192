"""Layers of the graph of an integer artifact: ranges and constants, barriers, depthwise convolutions."""

import math

import keras
import numpy as np
import tensorflow as tf
from keras import layers


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


class _Barrier(layers.Layer):
    """Keeps its reader from computing with integers."""

    def __init__(self, **kwargs):
        super().__init__(dtype="float32", **kwargs)

    def compute_output_shape(self, input_shape):
        return input_shape


@keras.saving.register_keras_serializable("hsvit_keras")
class Barrier(_Barrier):
    """A barrier of the same values. The converter may merge it into a kernel behind it."""

    def call(self, inputs):
        return inputs * (1 + 2**-23)


@keras.saving.register_keras_serializable("hsvit_keras")
class SignBarrier(_Barrier):
    """A barrier in front of a kernel, of all negatives: the converter does not merge a change of sign."""

    def call(self, inputs):
        return tf.negative(inputs)


@keras.saving.register_keras_serializable("hsvit_keras")
class OpaqueBarrier(_Barrier):
    """A barrier of the same values that is not merged, and that no integer op can stand for."""

    def call(self, inputs):
        return tf.negative(inputs) * -(1 + 2**-23)


@keras.saving.register_keras_serializable("hsvit_keras")
class ChannelScaling(layers.Layer):
    """A gain and an offset for each channel, as a depthwise convolution of single pixels.

    Args:
        gain: sequence of float, one for each channel.
        offset: sequence of float likewise.

    Call arguments:
        inputs: Tensor of shape `(batch, ..., channels)`.

    Returns:
        Tensor of the same shape.
    """

    def __init__(self, gain, offset, **kwargs):
        super().__init__(dtype="float32", **kwargs)
        self.gain, self.offset = np.asarray(gain, "float32"), np.asarray(offset, "float32")

    def call(self, inputs):
        if len(inputs.shape) == 4:
            return self._scaled(inputs)
        batch, *pixels, channels = inputs.shape
        row = tf.reshape(inputs, (batch or -1, 1, math.prod(pixels), channels))
        return tf.reshape(self._scaled(row), (batch or -1, *pixels, channels))

    def _scaled(self, maps):
        kernel = self.gain.reshape(1, 1, -1, 1)
        return tf.nn.bias_add(tf.nn.depthwise_conv2d(maps, kernel, [1] * 4, "VALID"), self.offset)

    def compute_output_shape(self, input_shape):
        return input_shape


@keras.saving.register_keras_serializable("hsvit_keras")
class DepthwiseAverage(layers.Layer):
    """Averages of whole windows, as a depthwise convolution.

    Args:
        pool_size: tuple of int, the window; of one size for rows `(batch, steps, channels)`, of two for maps.
        stride: int, that of all axes.

    Call arguments:
        inputs: Tensor of shape `(batch, height, width, channels)` or `(batch, steps, channels)`.

    Returns:
        Tensor of as many axes.
    """

    def __init__(self, pool_size, stride, **kwargs):
        super().__init__(dtype="float32", **kwargs)
        self.pool_size, self.stride = tuple(pool_size), stride

    def call(self, inputs):
        window = (1,) * (2 - len(self.pool_size)) + self.pool_size
        maps = inputs if len(inputs.shape) == 4 else tf.expand_dims(inputs, 1)
        kernel = np.full((*window, inputs.shape[-1], 1), 1 / math.prod(window), "float32")
        averages = tf.nn.depthwise_conv2d(maps, kernel, [1, self.stride, self.stride, 1], "VALID")
        return averages if len(inputs.shape) == 4 else tf.squeeze(averages, 1)

    def compute_output_shape(self, input_shape):
        batch, *sides, channels = input_shape
        averages = [
            (side - size) // self.stride + 1 for side, size in zip(sides, self.pool_size, strict=True)
        ]
        return (batch, *averages, channels)

"""Group normalization on tensors of at most four axes."""

import math

import keras
import tensorflow as tf
from keras import layers


@keras.saving.register_keras_serializable("hsvit_keras")
class FlatGroupNormalization(layers.Layer):
    """`GroupNormalization` of the last axis; stock Keras adds an axis for the groups.

    Args:
        groups: int; with more than one, all sizes but the batch have to be fixed.
        epsilon: float, added to the variance.

    Call arguments:
        inputs: Tensor of shape `(batch, ..., channels)`.

    Returns:
        Tensor of the same shape.
    """

    def __init__(self, groups, epsilon, **kwargs):
        super().__init__(**kwargs)
        self.groups = groups
        self.epsilon = epsilon

    @classmethod
    def convert(cls, stock):
        """This layer and its weights, from a `GroupNormalization`; None for one of another axis."""
        if stock.axis not in (-1, stock.input_spec.ndim - 1):
            return None
        (channels,) = stock.input_spec.axes.values()
        gain = stock.gamma if stock.scale else tf.ones(channels)
        offset = stock.beta if stock.center else tf.zeros(channels)
        layer = cls(stock.groups, stock.epsilon, name=stock.name, dtype="float32")
        return layer, [keras.ops.convert_to_numpy(weight) for weight in (gain, offset)]

    def build(self, input_shape):
        self.gain = self.add_weight(shape=input_shape[-1:], name="gain")
        self.offset = self.add_weight(shape=input_shape[-1:], name="offset")
        self.built = True

    def call(self, inputs):
        _, *positions, channels = inputs.shape
        grouped, axes = inputs, range(1, len(inputs.shape))
        if self.groups > 1:
            sizes = math.prod(positions), self.groups, channels // self.groups
            grouped, axes = tf.reshape(inputs, (-1, *sizes)), (1, 3)
        centred = grouped - tf.reduce_mean(grouped, axes, keepdims=True)
        variance = tf.reduce_mean(centred * centred, axes, keepdims=True)
        normalized = centred * tf.math.rsqrt(variance + self.epsilon)
        if self.groups > 1:
            normalized = tf.reshape(normalized, (-1, *positions, channels))
        return normalized * tf.convert_to_tensor(self.gain) + tf.convert_to_tensor(self.offset)

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return {**super().get_config(), "groups": self.groups, "epsilon": self.epsilon}

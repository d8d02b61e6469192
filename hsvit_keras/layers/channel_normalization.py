"""Normalization of the last axis that adds its epsilon to the standard deviation."""

import keras
from keras import ops


@keras.saving.register_keras_serializable("hsvit_keras")
class ChannelNormalization(keras.layers.Layer):
    """`(x - mean) / (std + epsilon) * gamma + beta` over the last axis; float32 under half precision.

    Args:
        epsilon: float, added to the standard deviation; layer normalization adds it to the variance.

    Call arguments:
        inputs: Tensor of shape `(batch, ..., channels)`.

    Returns:
        Tensor of the same shape.

    References:
        - [CvT](https://arxiv.org/abs/2103.15808), as the X-former programs compute it
    """

    def __init__(self, epsilon=1e-5, **kwargs):
        super().__init__(**kwargs)
        self.epsilon = epsilon

    def build(self, input_shape):
        self.gamma = self.add_weight(shape=input_shape[-1:], initializer="ones", name="gamma")
        self.beta = self.add_weight(shape=input_shape[-1:], initializer="zeros", name="beta")
        self.built = True

    def call(self, inputs):
        precise = ops.cast(inputs, keras.backend.result_type(inputs.dtype, "float32"))
        centred = precise - ops.mean(precise, axis=-1, keepdims=True)
        deviation = ops.sqrt(ops.mean(centred * centred, axis=-1, keepdims=True))
        return ops.cast(centred / (deviation + self.epsilon), self.compute_dtype) * self.gamma + self.beta

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return {**super().get_config(), "epsilon": self.epsilon}

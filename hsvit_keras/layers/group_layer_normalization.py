"""Layer normalization whose gain and offset differ from group to group."""

import keras
from keras import ops


@keras.saving.register_keras_serializable("hsvit_keras")
class GroupLayerNormalization(keras.layers.Layer):
    """Normalizes the last axis, then applies a gain and an offset of each group.

    Stock `LayerNormalization` shares its gain over all axes that it does not normalize. The
    variance is the mean of centred squares, written as a product: SQUARED_DIFFERENCE has no
    integer kernel on phones. Computed in float32 under half precision.

    Args:
        epsilon: float, added to the variance.

    Call arguments:
        tokens: Tensor of shape `(batch, tokens, groups, dim)`.

    Returns:
        Tensor of the same shape.

    References:
        - [HSViT](https://arxiv.org/abs/2404.05196), section 3.3
    """

    def __init__(self, epsilon=1e-5, **kwargs):
        super().__init__(**kwargs)
        self.epsilon = epsilon

    def build(self, input_shape):
        self.gamma = self.add_weight(shape=input_shape[-2:], initializer="ones", name="gamma")
        self.beta = self.add_weight(shape=input_shape[-2:], initializer="zeros", name="beta")
        self.built = True

    def call(self, tokens):
        precise = ops.cast(tokens, keras.backend.result_type(tokens.dtype, "float32"))
        centred = precise - ops.mean(precise, axis=-1, keepdims=True)
        variance = ops.mean(centred * centred, axis=-1, keepdims=True)
        normalized = ops.cast(centred * ops.rsqrt(variance + self.epsilon), self.compute_dtype)
        return normalized * self.gamma + self.beta

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return {**super().get_config(), "epsilon": self.epsilon}

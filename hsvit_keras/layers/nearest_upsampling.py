"""Larger maps by repeating pixels."""

import keras
from keras import ops


@keras.saving.register_keras_serializable("hsvit_keras")
class NearestUpsampling(keras.layers.Layer):
    """Repeats each pixel `size` times along height and width.

    Written as concatenations and reshapes: Keras' `UpSampling2D` becomes TILE, which is not accelerated on
    phones. The values are the same.

    Args:
        size: int.

    Call arguments:
        maps: Tensor of shape `(batch, height, width, channels)`.

    Returns:
        Tensor of shape `(batch, size * height, size * width, channels)`.
    """

    def __init__(self, size=2, **kwargs):
        super().__init__(**kwargs)
        self.size = size

    def call(self, maps):
        _, height, width, channels = maps.shape
        row = self.size * width * channels
        maps = ops.concatenate([maps] * self.size, axis=-1)  # repeats each pixel of a row
        maps = ops.reshape(maps, (-1, height, 1, row))
        maps = ops.concatenate([maps] * self.size, axis=2)  # repeats each row
        return ops.reshape(maps, (-1, self.size * height, self.size * width, channels))

    def compute_output_shape(self, input_shape):
        batch, height, width, channels = input_shape
        return (batch, self.size * height, self.size * width, channels)

    def get_config(self):
        return {**super().get_config(), "size": self.size}

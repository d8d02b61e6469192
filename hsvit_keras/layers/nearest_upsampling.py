"""Larger maps by repeating pixels."""

import keras
from keras import ops


@keras.saving.register_keras_serializable("hsvit_keras")
class NearestUpsampling(keras.layers.Layer):
    """Repeats each pixel along height and width.

    Written as concatenations and reshapes: Keras' `UpSampling2D` becomes TILE, which is not accelerated on
    phones. The values are the same.

    Args:
        size: int, or pair of int for height and width.

    Call arguments:
        maps: Tensor of shape `(batch, height, width, channels)`.

    Returns:
        Tensor of shape `(batch, size[0] * height, size[1] * width, channels)`.
    """

    def __init__(self, size=2, **kwargs):
        super().__init__(**kwargs)
        self.size = (size, size) if isinstance(size, int) else tuple(size)

    def call(self, maps):
        _, height, width, channels = maps.shape
        down, across = self.size
        maps = ops.concatenate([maps] * across, axis=-1)  # repeats each pixel of a row
        maps = ops.reshape(maps, (-1, height, 1, across * width * channels))
        maps = ops.concatenate([maps] * down, axis=2)  # repeats each row
        return ops.reshape(maps, (-1, down * height, across * width, channels))

    def compute_output_shape(self, input_shape):
        batch, height, width, channels = input_shape
        return (batch, self.size[0] * height, self.size[1] * width, channels)

    def get_config(self):
        return {**super().get_config(), "size": self.size}

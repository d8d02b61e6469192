"""A constant added to each channel."""

import keras
import numpy as np


@keras.saving.register_keras_serializable("hsvit_keras")
class Shift(keras.layers.Layer):
    """Adds a constant to each channel: what is left of a normalization whose scale went into a kernel.

    Args:
        offset: float, or sequence of float with one for each channel.

    Call arguments:
        inputs: Tensor of shape `(..., channels)`.

    Returns:
        Tensor of the same shape, float32 by default.
    """

    def __init__(self, offset, **kwargs):
        super().__init__(**{"dtype": "float32", **kwargs})
        self.offset = np.asarray(offset, "float64").tolist()

    def call(self, inputs):
        return inputs + keras.ops.convert_to_tensor(self.offset, inputs.dtype)

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return {**super().get_config(), "offset": self.offset}

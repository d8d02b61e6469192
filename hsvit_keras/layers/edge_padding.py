"""Pads maps with the pixels at their edges."""

import keras
from keras import ops


@keras.saving.register_keras_serializable("hsvit_keras")
class EdgePadding2D(keras.layers.Layer):
    """Pads maps with copies of the pixels at their edges.

    In front of max pooling whose windows hold a pixel of the map for each of the padding, these are never
    larger than it: padding as that with minus infinity, but of values that have a range.

    Args:
        padding: `((top, bottom), (left, right))`, each 0 or more.

    Call arguments:
        maps: Tensor of shape `(batch, height, width, channels)`.

    Returns:
        Tensor of shape `(batch, top + height + bottom, left + width + right, channels)`.
    """

    def __init__(self, padding, **kwargs):
        super().__init__(**kwargs)
        self.padding = tuple(map(tuple, padding))

    def call(self, maps):
        (top, bottom), (left, right) = self.padding
        # Joined slices: phones have no fast kernel for padding with anything but zeros.
        rows = [maps[:, :1]] * top + [maps] + [maps[:, -1:]] * bottom
        maps = ops.concatenate(rows, axis=1) if len(rows) > 1 else maps
        columns = [maps[:, :, :1]] * left + [maps] + [maps[:, :, -1:]] * right
        return ops.concatenate(columns, axis=2) if len(columns) > 1 else maps

    def compute_output_shape(self, input_shape):
        batch, *sizes, channels = input_shape
        padded = [
            None if size is None else size + sum(sides)
            for size, sides in zip(sizes, self.padding, strict=True)
        ]
        return (batch, *padded, channels)

    def get_config(self):
        return {**super().get_config(), "padding": self.padding}

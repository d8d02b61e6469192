"""Parts of an image side by side as channels, so that a grouped convolution sees one part in each group."""

import math

import keras
from keras import ops

from hsvit_runtime.errors import InputError

# XNNPACK joins no more tensors than this at once.
_JOINED = 4


@keras.saving.register_keras_serializable("hsvit_keras")
class ImageParts(keras.layers.Layer):
    """Gives each group one part of an image, which is cut into a grid of equal parts.

    Args:
        grid: (rows, columns) of the grid, which divide height and width.
        parts: sequence of int, for each group the number of its part, counted row by row from 0.

    Call arguments:
        image: Tensor of shape `(batch, height, width, channels)`.

    Returns:
        Tensor of shape `(batch, height / rows, width / columns, groups * channels)`, the channels of a group
        next to each other.

    Raises:
        ValueError: the grid does not divide the image, or has no such part.

    References:
        - [HSViT](https://arxiv.org/abs/2404.05196), section 4.5
    """

    def __init__(self, grid, parts, **kwargs):
        super().__init__(**kwargs)
        self.grid, self.parts = tuple(grid), tuple(parts)
        count = math.prod(self.grid)
        if not self.parts or not all(0 <= part < count for part in self.parts):
            raise InputError(
                f"parts has to name parts of the grid, 0 to {count - 1}; received parts={self.parts}"
            )

    def build(self, input_shape):
        height, width = input_shape[1:3]
        if height % self.grid[0] or width % self.grid[1]:
            raise InputError(
                f"grid has to divide height and width of the image; received grid={self.grid}, "
                f"shape {tuple(input_shape)}"
            )
        self.built = True

    def call(self, image):
        cut = {part: self._part(image, part) for part in dict.fromkeys(self.parts)}
        joined = [cut[part] for part in self.parts]
        while joined[1:]:
            joined = [_join(joined[i : i + _JOINED]) for i in range(0, len(joined), _JOINED)]
        return joined[0]

    def compute_output_shape(self, input_shape):
        batch, height, width, channels = input_shape
        return (batch, height // self.grid[0], width // self.grid[1], len(self.parts) * channels)

    def get_config(self):
        return {**super().get_config(), "grid": self.grid, "parts": self.parts}

    def _part(self, image, part):
        _, height, width, _ = self.compute_output_shape(image.shape)
        row, column = divmod(part, self.grid[1])
        top, left = row * height, column * width
        if image.shape[0] is None:
            return image[:, top : top + height, left : left + width]
        # In a graph for a phone one SLICE: indexing would become a STRIDED_SLICE.
        return ops.slice(image, (0, top, left, 0), (image.shape[0], height, width, image.shape[-1]))


def _join(tensors):
    return ops.concatenate(tensors, axis=-1) if tensors[1:] else tensors[0]

"""Patches of a map as tokens whose groups are the pixels of a patch, and the way back.

Attention in groups then mixes pixels at the same place of their patches. Written as two reshapes around one
transposition, of rank 4.
"""

import keras
from keras import ops

from hsvit_runtime.errors import InputError


@keras.saving.register_keras_serializable("hsvit_keras")
class UnfoldPatches(keras.layers.Layer):
    """Takes a map apart into square patches, row by row.

    Args:
        patch_size: int, side of a patch in pixels; divides height and width.

    Call arguments:
        maps: Tensor of shape `(batch, height, width, channels)`.

    Returns:
        Tensor of shape `(batch, patches, patch_size * patch_size, channels)`.

    Raises:
        ValueError: `patch_size` does not divide height and width.

    References:
        - [MobileViT](https://arxiv.org/abs/2110.02178), section 3.1
    """

    def __init__(self, patch_size=2, **kwargs):
        super().__init__(**kwargs)
        self.patch_size = patch_size

    def build(self, input_shape):
        if any(side % self.patch_size for side in input_shape[1:3]):
            raise InputError(
                f"patch_size has to divide height and width; "
                f"received patch_size={self.patch_size}, shape {tuple(input_shape)}"
            )
        self.built = True

    def call(self, maps):
        size = self.patch_size
        _, _, width, channels = maps.shape
        rows = ops.reshape(maps, (-1, size, width // size, size * channels))
        return ops.reshape(
            ops.transpose(rows, (0, 2, 1, 3)), (-1, *self.compute_output_shape(maps.shape)[1:])
        )

    def compute_output_shape(self, input_shape):
        batch, height, width, channels = input_shape
        pixels = self.patch_size**2
        return (batch, height * width // pixels, pixels, channels)

    def get_config(self):
        return {**super().get_config(), "patch_size": self.patch_size}


@keras.saving.register_keras_serializable("hsvit_keras")
class FoldPatches(keras.layers.Layer):
    """The inverse of `UnfoldPatches`.

    Args:
        grid: (height, width) of the map in pixels.
        patch_size: int, side of a patch in pixels.

    Call arguments:
        tokens: Tensor of shape `(batch, patches, patch_size * patch_size, channels)`.

    Returns:
        Tensor of shape `(batch, height, width, channels)`.
    """

    def __init__(self, grid, patch_size=2, **kwargs):
        super().__init__(**kwargs)
        self.grid = tuple(grid)
        self.patch_size = patch_size

    def call(self, tokens):
        size, width, channels = self.patch_size, self.grid[1], tokens.shape[-1]
        rows = ops.reshape(tokens, (-1, width // size, size, size * channels))
        return ops.reshape(ops.transpose(rows, (0, 2, 1, 3)), (-1, *self.grid, channels))

    def compute_output_shape(self, input_shape):
        return (input_shape[0], *self.grid, input_shape[-1])

    def get_config(self):
        return {**super().get_config(), "grid": self.grid, "patch_size": self.patch_size}

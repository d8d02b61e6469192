"""Fixed positions of the pixels of several maps, and a learned embedding of each map."""

import math

import keras
import numpy as np
from keras import ops


@keras.saving.register_keras_serializable("hsvit_keras")
class SinePositionEmbedding(keras.layers.Layer):
    """Adds sines and cosines of a pixel's row and column, and a learned embedding of its level.

    The first half of the features tells the row, the second the column; in each half a sine and a cosine of
    one frequency take turns. Rows and columns are scaled to `(0, 2 pi)` over the image.

    Args:
        map_sizes: sequence of (height, width), one a level; the tokens are those of the maps in turn.
        valid_sizes: see `DeformableAttention`.
        temperature: float, the ratio of the highest and the lowest frequency.

    Call arguments:
        tokens: Tensor of shape `(batch, tokens, dim)`.

    Returns:
        Tensor of the same shape.

    References:
        - [DETR](https://arxiv.org/abs/2005.12872), appendix A.4
        - [Deformable DETR](https://arxiv.org/abs/2010.04159), section 4.1, scale-level embedding
    """

    def __init__(self, map_sizes, valid_sizes=None, temperature=10000.0, **kwargs):
        super().__init__(**kwargs)
        self.map_sizes = tuple(map(tuple, map_sizes))
        self.valid_sizes = None if valid_sizes is None else tuple(tuple(map(tuple, x)) for x in valid_sizes)
        self.temperature = temperature

    def build(self, input_shape):
        self.level_embedding = self.add_weight(
            shape=(len(self.map_sizes), input_shape[-1]),
            initializer=keras.initializers.RandomNormal(stddev=1.0),
            name="level_embedding",
        )
        self.built = True

    def call(self, tokens):
        return tokens + ops.cast(self.total(tokens.shape[-1]), tokens.dtype)

    def total(self, dim):
        """What is added, Tensor (images or 1, tokens, dim).

        Args:
            dim: int, features of a token.
        """
        levels = np.repeat(np.arange(len(self.map_sizes)), [math.prod(size) for size in self.map_sizes])
        of_levels = ops.take(ops.convert_to_tensor(self.level_embedding), levels, axis=0)
        return ops.cast(self.positions(dim), of_levels.dtype) + of_levels

    def positions(self, dim):
        """The fixed part, array (images or 1, tokens, dim).

        Args:
            dim: int, features of a token.
        """
        images = self.valid_sizes or [self.map_sizes]
        return np.stack(
            [
                np.concatenate(
                    [
                        self._of_map(size, valid, dim)
                        for size, valid in zip(self.map_sizes, valid_sizes, strict=True)
                    ]
                )
                for valid_sizes in images
            ]
        ).astype("float32")

    def _of_map(self, size, valid, dim):
        pixels = np.divmod(np.arange(math.prod(size)), size[1])  # rows, columns
        frequencies = self.temperature ** -(np.arange(dim // 2) // 2 * 2 / (dim // 2))
        halves = []
        for position, side in zip(pixels, valid, strict=True):
            angle = 2 * np.pi * (np.minimum(position, side - 1) + 0.5) / (side + 1e-6)
            angle = angle[:, np.newaxis] * frequencies
            halves.append(np.where(np.arange(dim // 2) % 2, np.cos(angle), np.sin(angle)))
        return np.concatenate(halves, axis=-1)

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return {
            **super().get_config(),
            "map_sizes": self.map_sizes,
            "valid_sizes": self.valid_sizes,
            "temperature": self.temperature,
        }

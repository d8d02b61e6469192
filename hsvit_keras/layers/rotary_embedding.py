"""Positions as rotations of pairs of features."""

import keras
import numpy as np
from keras import ops


@keras.saving.register_keras_serializable("hsvit_keras")
class RotaryEmbedding(keras.layers.Layer):
    """Rotates features `2i` and `2i + 1` of each head of token `n` by `n / 10000^(2i / size)`.

    Args:
        num_heads: int.
        start: int, position of the first token.

    Call arguments:
        tokens: Tensor of shape `(batch, tokens, dim)`.

    Returns:
        Tensor of the same shape.

    References:
        - [RoFormer](https://arxiv.org/abs/2104.09864), equation 34
    """

    def __init__(self, num_heads, start=0, **kwargs):
        super().__init__(**kwargs)
        self.num_heads = num_heads
        self.start = start

    def call(self, tokens):
        _, count, dim = tokens.shape
        if self.start == 0 and count == 1:  # position 0 is not rotated; a narrowed last block has it alone
            return tokens
        size = dim // self.num_heads
        frequencies = 10000.0 ** (-np.arange(0, size, 2) / size)
        angles = np.outer(self.start + np.arange(count), np.repeat(frequencies, 2))
        angles = np.tile(angles, (1, self.num_heads))
        cosine, sine = (ops.convert_to_tensor(wave(angles), tokens.dtype) for wave in (np.cos, np.sin))
        swap = ops.convert_to_tensor(_quarter_turn(dim), tokens.dtype)
        return tokens * cosine + ops.matmul(tokens, swap) * sine

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return {**super().get_config(), "num_heads": self.num_heads, "start": self.start}


def _quarter_turn(dim):
    """The matrix that takes (x0, x1) to (-x1, x0) in every pair; a strided slice would not be delegated."""
    matrix = np.zeros((dim, dim))
    even = np.arange(0, dim, 2)
    matrix[even + 1, even] = -1
    matrix[even, even + 1] = 1
    return matrix

"""Softmax attention whose scores depend on the offset of two tokens on their map, too."""

import keras
import numpy as np
from keras import ops

from hsvit_keras.layers.softmax_attention import SoftmaxAttention


@keras.saving.register_keras_serializable("hsvit_keras")
class GridAttention(SoftmaxAttention):
    """`SoftmaxAttention` with a learned bias on the scores, of each head and each offset.

    An offset is the distance in rows and in columns, without signs.

    Args:
        num_heads: int; has to divide `dim`.
        grid: (height, width) of the map whose tokens, row by row, are queries and keys.
        dropout_rate: float in [0, 1), dropped share of the attention weights while training.
        scale: float, factor of the products; `(dim / num_heads) ** -0.5` by default.

    Call arguments:
        query: Tensor of shape `(batch, height * width, dim)`.
        key: Tensor of the same shape.
        value: Tensor of the same shape, or with another last axis.
        training: bool, whether to drop attention weights.

    Returns:
        Tensor of the shape of `query`, with the last axis of `value`.

    References:
        - [LeViT](https://arxiv.org/abs/2104.01136), section 4.2
    """

    def __init__(self, num_heads, grid, dropout_rate=0.0, scale=None, **kwargs):
        super().__init__(num_heads, dropout_rate, scale, **kwargs)
        self.grid = tuple(grid)

    def build(self, query_shape, key_shape, value_shape):
        height, width = self.grid
        self.bias = self.add_weight(
            shape=(self.num_heads, height * width), initializer="zeros", name="position_bias"
        )
        super().build(query_shape, key_shape, value_shape)

    def scores(self, query, key):
        tokens = query.shape[1]
        bias = ops.reshape(ops.take(self.bias, self._offsets(), axis=1), (self.num_heads, tokens, tokens))
        return super().scores(query, key) + bias

    def _offsets(self):
        """The number of the offset of each pair of tokens: rows * width + columns."""
        height, width = self.grid
        rows, columns = np.divmod(np.arange(height * width), width)
        down, across = (abs(x[:, np.newaxis] - x) for x in (rows, columns))
        return (down * width + across).ravel()

    def get_config(self):
        return {**super().get_config(), "grid": self.grid}

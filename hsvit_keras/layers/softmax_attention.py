"""The core of multi-head attention; its projections are layers of their own in the graph."""

import keras
from keras import ops

from hsvit_keras.layers.heads import check_heads, join_heads, softmax, split_heads, transposed


@keras.saving.register_keras_serializable("hsvit_keras")
class SoftmaxAttention(keras.layers.Layer):
    """`softmax(query key^T / sqrt(dim / num_heads)) value` for each head, and each group.

    Groups and heads share one axis, so that no tensor has more than four.

    Args:
        num_heads: int, heads of each group; has to divide `dim`.
        dropout_rate: float in [0, 1), dropped share of the attention weights while training.
        scale: float, factor of the scores; `(dim / num_heads) ** -0.5` by default.

    Call arguments:
        query: Tensor of shape `(batch, queries, dim)` or `(batch, queries, groups, dim)`.
        key: Tensor of shape `(batch, tokens, dim)` or `(batch, tokens, groups, dim)`.
        value: Tensor of the shape of `key`, or with another last axis.
        training: bool, whether to drop attention weights.

    Returns:
        Tensor of the shape of `query`, with the last axis of `value`.

    Raises:
        ValueError: `num_heads` does not divide the last axis of `query` or `value`.

    References:
        - [Attention Is All You Need](https://arxiv.org/abs/1706.03762), section 3.2
    """

    def __init__(self, num_heads, dropout_rate=0.0, scale=None, **kwargs):
        super().__init__(**kwargs)
        self.num_heads = num_heads
        self.scale = scale
        self.dropout_rate = dropout_rate
        self.dropout = keras.layers.Dropout(dropout_rate, dtype=self.dtype_policy, name="dropout")

    def build(self, query_shape, key_shape, value_shape):
        check_heads(self.num_heads, query_shape[-1])
        check_heads(self.num_heads, value_shape[-1])
        self.built = True

    def attention_weights(self, query, key):
        """Attention weights `(batch, groups * num_heads, queries, tokens)`; rows sum to 1."""
        return softmax(self.scores(query, key))

    def scores(self, query, key):
        """What softmax is taken of, `(batch, groups * num_heads, queries, tokens)`."""
        scale = self.scale or (query.shape[-1] // self.num_heads) ** -0.5
        query, key = split_heads(query, self.num_heads), split_heads(key, self.num_heads)
        return ops.matmul(query * scale, transposed(key))

    def mix(self, weights, value, query_shape):
        """The values that the weights mix, in the shape of the queries."""
        mixed = ops.matmul(weights, split_heads(value, self.num_heads))
        return join_heads(mixed, (*query_shape[:-1], value.shape[-1]))

    def call(self, query, key, value, training=None):
        weights = self.dropout(self.attention_weights(query, key), training=training)
        return self.mix(weights, value, query.shape)

    def compute_output_shape(self, query_shape, key_shape, value_shape):
        return (*query_shape[:-1], value_shape[-1])

    def get_config(self):
        return {
            **super().get_config(),
            "num_heads": self.num_heads,
            "dropout_rate": self.dropout_rate,
            "scale": self.scale,
        }

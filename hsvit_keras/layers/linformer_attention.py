"""Attention over a fixed number of learned combinations of the keys."""

import keras
from keras import ops

from hsvit_keras.layers.heads import check_heads, join_heads, split_heads, transposed
from hsvit_runtime.errors import InputError


@keras.saving.register_keras_serializable("hsvit_keras")
class LinformerAttention(keras.layers.Layer):
    """Softmax attention over keys and values that are projected along the tokens.

    Keys and values share one learned projection, whose size fixes the length of the sequence: another
    length is an error.

    Args:
        num_heads: int, heads of the queries.
        projected_tokens: int, number of keys and values after the projection; `k` in the paper.
        dropout_rate: float in [0, 1), dropped share of the attention weights while training.

    Call arguments:
        query: Tensor of shape `(batch, queries, dim)`.
        key: Tensor of shape `(batch, tokens, dim)`, or `(batch, tokens, dim / num_heads)`: one head
            that all queries share.
        value: Tensor of the shape of `key`.
        training: bool, whether to drop attention weights.

    Returns:
        Tensor of shape `(batch, queries, dim)`.

    Raises:
        ValueError: `num_heads` does not divide `dim`, or the sequence has another length than at first.

    References:
        - [Linformer](https://arxiv.org/abs/2006.04768), equation 7
    """

    def __init__(self, num_heads, projected_tokens, dropout_rate=0.0, **kwargs):
        super().__init__(**kwargs)
        self.num_heads = num_heads
        self.projected_tokens = projected_tokens
        self.dropout_rate = dropout_rate
        self.dropout = keras.layers.Dropout(dropout_rate, dtype=self.dtype_policy, name="dropout")

    def build(self, query_shape, key_shape, value_shape):
        check_heads(self.num_heads, query_shape[-1])
        self.projection = self.add_weight(
            shape=(self.projected_tokens, key_shape[1]),
            initializer=keras.initializers.VarianceScaling(1.0, "fan_out", "uniform"),
            name="projection",
        )
        self.built = True

    def call(self, query, key, value, training=None):
        if key.shape[1] != self.projection.shape[1]:
            raise InputError(
                f"{self.name} was built for {self.projection.shape[1]} tokens; received {key.shape[1]} keys"
            )
        size = query.shape[-1] // self.num_heads
        key_heads = key.shape[-1] // size
        key, value = (split_heads(ops.matmul(self.projection, x), key_heads) for x in (key, value))
        scores = ops.matmul(split_heads(query, self.num_heads) * size**-0.5, transposed(key))
        weights = self.dropout(ops.softmax(scores), training=training)
        return join_heads(ops.matmul(weights, value), query.shape)

    def compute_output_shape(self, query_shape, key_shape, value_shape):
        return query_shape

    def get_config(self):
        return {
            **super().get_config(),
            "num_heads": self.num_heads,
            "projected_tokens": self.projected_tokens,
            "dropout_rate": self.dropout_rate,
        }

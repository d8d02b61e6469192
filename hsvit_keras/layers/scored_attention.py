"""Attention that also tells how much attention each token receives."""

import keras
from keras import ops

from hsvit_keras.layers.softmax_attention import SoftmaxAttention


@keras.saving.register_keras_serializable("hsvit_keras")
class ScoredAttention(keras.layers.Layer):
    """Softmax attention with the significance score of each token.

    The score of a token is the attention that it receives: the sum of its attention weights over all
    queries and heads.

    Args:
        num_heads: int; has to divide `dim`.

    Call arguments:
        query: Tensor of shape `(batch, queries, dim)`.
        key: Tensor of shape `(batch, tokens, dim)`.
        value: Tensor of shape `(batch, tokens, dim)`.

    Returns:
        Tensor of the shape of `query`, and the scores as a float32 tensor `(batch, tokens)`.

    Raises:
        ValueError: `num_heads` does not divide the last axis of `query` or `value`.

    References:
        - [PoWER-BERT](https://arxiv.org/abs/2001.08950), section 3.2
    """

    def __init__(self, num_heads, **kwargs):
        super().__init__(**kwargs)
        self.num_heads = num_heads
        self.attention = SoftmaxAttention(num_heads, dtype=self.dtype_policy, name="attention")

    def build(self, query_shape, key_shape, value_shape):
        self.attention.build(query_shape, key_shape, value_shape)
        self.built = True

    def call(self, query, key, value):
        weights = self.attention.attention_weights(query, key)
        mixed = self.attention.mix(weights, value, query.shape)
        return mixed, ops.sum(ops.cast(weights, "float32"), axis=(1, 2))

    def compute_output_shape(self, query_shape, key_shape, value_shape):
        return (*query_shape[:-1], value_shape[-1]), tuple(key_shape[:2])

    def compute_output_spec(self, query, key, value):
        mixed, scores = self.compute_output_shape(query.shape, key.shape, value.shape)
        return keras.KerasTensor(mixed, self.compute_dtype), keras.KerasTensor(scores, "float32")

    def get_config(self):
        return {**super().get_config(), "num_heads": self.num_heads}

"""Attention in which each token has one score, and all tokens share the context that the scores give."""

import keras
from keras import ops

from hsvit_keras.layers.heads import softmax


@keras.saving.register_keras_serializable("hsvit_keras")
class SeparableAttention(keras.layers.Layer):
    """`value * sum over the tokens of softmax(query) * key`, of each group apart.

    The cost grows with the number of tokens and not with its square.

    Call arguments:
        query: Tensor of shape `(batch, tokens, 1)` or `(batch, tokens, groups, 1)`.
        key: Tensor of shape `(batch, tokens, dim)` or `(batch, tokens, groups, dim)`.
        value: Tensor of the shape of `key`.

    Returns:
        Tensor of the shape of `value`.

    References:
        - [MobileViTv2](https://arxiv.org/abs/2206.02680), section 3.1
    """

    def build(self, query_shape, key_shape, value_shape):
        self.built = True

    def call(self, query, key, value):
        weights = ops.moveaxis(softmax(ops.moveaxis(query, 1, -1)), -1, 1)
        return ops.sum(weights * key, axis=1, keepdims=True) * value

    def compute_output_shape(self, query_shape, key_shape, value_shape):
        return value_shape

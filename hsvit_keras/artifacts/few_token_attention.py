"""Attention of few tokens without products of two computed matrices.

The XNNPACK delegate of TensorFlow Lite 2.16 has no BATCH_MATMUL, but products of tensors entry by entry, with
broadcasting, and products by constant matrices.
"""

import math

import keras
import numpy as np
import tensorflow as tf

from hsvit_keras.compression.rewriting import config_of
from hsvit_keras.layers import SoftmaxAttention

_MOST_PRODUCTS = 100_000  # queries * tokens * groups * dim: beyond, two cuts of a graph cost less


@keras.saving.register_keras_serializable("hsvit_keras")
class FewTokenAttention(SoftmaxAttention):
    """`SoftmaxAttention` of few tokens as products entry by entry, which ones in a matrix sum for each head.

    All tensors keep groups and dim in one axis, the last, so that heads are neither split off nor joined.
    Attention of many tokens is that of `SoftmaxAttention`.
    """

    @classmethod
    def convert(cls, attention):
        """This layer from a `SoftmaxAttention`; None for a layer of another kind."""
        if type(attention) is not SoftmaxAttention:
            return None
        return cls.from_config({**config_of(attention), "dtype": "float32"})

    def call(self, query, key, value):
        queries, tokens = query.shape[1], key.shape[1]
        if queries * math.prod(key.shape[1:]) > _MOST_PRODUCTS:
            return super().call(query, key, value)
        *shape, dim = query.shape
        scale = self.scale or (dim // self.num_heads) ** -0.5
        products = _rows(query * scale, 2) * _rows(key, 1)
        scores = tf.reshape(products, (-1, dim)) @ _ones_of_heads(self.num_heads, dim)
        scores = tf.reshape(scores, (-1, queries, tokens, products.shape[-1] // dim * self.num_heads))
        weights = tf.transpose(tf.nn.softmax(tf.transpose(scores, (0, 1, 3, 2))), (0, 1, 3, 2))
        # A mean stands for the sum over the tokens, so that the weights are multiplied by their number.
        length = value.shape[-1]
        spread = tokens * _ones_of_heads(self.num_heads, length).T
        weights = tf.reshape(weights, (-1, self.num_heads)) @ spread
        value = _rows(value, 1)
        weights = tf.reshape(weights, (-1, queries, *value.shape[2:]))
        return tf.reshape(tf.reduce_mean(weights * value, 2), (-1, *shape[1:], length))

def _rows(tokens, axis):
    """`(batch, tokens, [groups,] dim)` to four axes: groups and dim are the last, `axis` is of size 1."""
    batch, count, *rest = tokens.shape
    shape = [-1, count, math.prod(rest)]
    shape.insert(axis, 1)
    return tf.reshape(tokens, shape)


def _ones_of_heads(num_heads, dim):
    """The matrix `(dim, num_heads)` that sums the entries of each head."""
    return np.kron(np.eye(num_heads), np.ones((dim // num_heads, 1))).astype("float32")

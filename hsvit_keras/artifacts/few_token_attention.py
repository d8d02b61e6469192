"""Attention of few tokens without products of two computed matrices.

The XNNPACK delegate of TensorFlow Lite 2.16 has no BATCH_MATMUL, but products entry by entry, with
broadcasting, and means over the third axis or over windows of the second.
"""

import math

import keras
import tensorflow as tf

from hsvit_keras.compression.rewriting import config_of
from hsvit_keras.layers import SoftmaxAttention

_MOST_PRODUCTS = 50_000  # queries * tokens * groups * dim: beyond, two cuts of a graph cost less


@keras.saving.register_keras_serializable("hsvit_keras")
class FewTokenAttention(SoftmaxAttention):
    """`SoftmaxAttention` of one image of few tokens, as means of products entry by entry.

    All heads lie side by side in the last axis, where products are as long as they can be. Attention of more
    images or tokens is that of `SoftmaxAttention`.
    """

    @classmethod
    def convert(cls, attention):
        """This layer from a `SoftmaxAttention`; None for a layer of another kind."""
        if type(attention) is not SoftmaxAttention:
            return None
        return cls.from_config({**config_of(attention), "dtype": "float32"})

    def call(self, query, key, value):
        batch, queries, *groups, dim = query.shape
        tokens, length = key.shape[1], dim // self.num_heads
        if batch != 1 or queries * tokens * math.prod((*groups, dim)) > _MOST_PRODUCTS:
            return super().call(query, key, value)
        scale = self.scale or length**-0.5
        # A mean stands for each sum, and its factor is the number of what it sums.
        products = self._heads_last(query * (scale * length), 1) * self._heads_last(key, 0)
        scores = tf.reduce_mean(products, 2)
        weights = tf.nn.softmax(tf.transpose(scores, (0, 2, 1))) * tokens
        weights = tf.reshape(tf.transpose(weights, (0, 2, 1)), (queries, tokens, 1, -1))
        mixed = tf.nn.avg_pool2d(weights * self._heads_last(value, 0), (tokens, 1), 1, "VALID")
        mixed = tf.transpose(tf.reshape(mixed, (queries, -1, scores.shape[-1])), (0, 2, 1))
        return tf.reshape(mixed, (1, queries, *groups, value.shape[-1]))

    def _heads_last(self, tokens, axis):
        """`(1, tokens, [groups,] dim)` to four axes: `axis` of size 1, tokens, dim / num_heads, all heads."""
        _, count, *_, dim = tokens.shape
        length = dim // self.num_heads
        heads = tf.transpose(tf.reshape(tokens, (count, -1, length)), (0, 2, 1))
        return tf.reshape(heads, (1, count, length, -1) if axis == 0 else (count, 1, length, -1))

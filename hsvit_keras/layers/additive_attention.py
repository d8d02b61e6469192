"""Attention without a product of tokens: each key is multiplied by one global query."""

import keras
from keras import ops


@keras.saving.register_keras_serializable("hsvit_keras")
class AdditiveAttention(keras.layers.Layer):
    """`(sum of weighted queries) * key`, whose cost grows with the number of tokens and not with its square.

    Args:
        weighted: bool, whether a query counts by a learned score, divided by the norm of the scores of all
            tokens. Otherwise all queries count alike; then the weight `score` has no influence.

    Call arguments:
        query: Tensor of shape `(batch, ..., dim)`.
        key: Tensor of the same shape.
        training: bool, whether gradients are wanted.

    Returns:
        Tensor of the same shape.

    References:
        - [SwiftFormer](https://arxiv.org/abs/2303.15446), section 3.2
    """

    def __init__(self, weighted=True, **kwargs):
        super().__init__(**kwargs)
        self.weighted = weighted

    def build(self, query_shape, key_shape):
        self.score = self.add_weight(
            shape=(query_shape[-1], 1), initializer=keras.initializers.RandomNormal(stddev=1.0), name="score"
        )
        self.built = True

    def call(self, query, key, training=None):
        tokens = tuple(range(1, len(query.shape) - 1))
        if self.weighted:
            scores = ops.matmul(query, self.score)
            norm = ops.sqrt(ops.sum(ops.square(scores), axis=tokens, keepdims=True))
            query = query * (scores / ops.maximum(norm, 1e-6))
        elif training:  # its gradient is zero; Keras warns of weights without any
            query = query + 0 * ops.sum(self.score)
        return ops.sum(query, axis=tokens, keepdims=True) * key

    def compute_output_shape(self, query_shape, key_shape):
        return query_shape

    def get_config(self):
        return {**super().get_config(), "weighted": self.weighted}

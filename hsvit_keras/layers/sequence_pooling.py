"""A weighted mean of the tokens, with learned weights."""

import keras
from keras import ops


@keras.saving.register_keras_serializable("hsvit_keras")
class SequencePooling(keras.layers.Layer):
    """The mean of the tokens, weighted by the softmax of a score of each.

    Call arguments:
        tokens: Tensor of shape `(batch, tokens, dim)`.
        scores: Tensor of shape `(batch, tokens, 1)`.

    Returns:
        Tensor of shape `(batch, dim)`.

    References:
        - [Compact Transformers](https://arxiv.org/abs/2104.05704), section 3.2
    """

    def call(self, tokens, scores):
        weights = ops.softmax(ops.transpose(scores, (0, 2, 1)))
        return ops.reshape(ops.matmul(weights, tokens), (-1, tokens.shape[-1]))

    def compute_output_shape(self, tokens_shape, scores_shape):
        return (tokens_shape[0], tokens_shape[-1])

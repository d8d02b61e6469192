"""The class token alone."""

import keras
from keras import ops


@keras.saving.register_keras_serializable("hsvit_keras")
class FirstToken(keras.layers.Layer):
    """Keeps the first token and drops the others.

    Where the batch is fixed (in a graph made for a phone) this is one SLICE: integer indexing
    becomes a STRIDED_SLICE that shrinks an axis, which mobile runtimes do not accelerate.

    Call arguments:
        tokens: Tensor of shape `(batch, tokens, dim)` or `(batch, tokens, groups, dim)`.

    Returns:
        Tensor of shape `(batch, 1, dim)` or `(batch, 1, groups, dim)`.
    """

    def call(self, tokens):
        if tokens.shape[0] is None:
            return tokens[:, :1]
        return ops.slice(tokens, [0] * len(tokens.shape), (tokens.shape[0], 1, *tokens.shape[2:]))

    def compute_output_shape(self, input_shape):
        return (input_shape[0], 1, *input_shape[2:])

"""Selects the class token."""

import keras

from hsvit_keras.layers.token_range import token_range


@keras.saving.register_keras_serializable("hsvit_keras")
class FirstToken(keras.layers.Layer):
    """Keeps the first token and drops the others.

    Call arguments:
        tokens: Tensor of shape `(batch, tokens, dim)` or `(batch, tokens, groups, dim)`.

    Returns:
        Tensor of shape `(batch, 1, dim)` or `(batch, 1, groups, dim)`.
    """

    def call(self, tokens):
        return token_range(tokens, 0, 1)

    def compute_output_shape(self, input_shape):
        return (input_shape[0], 1, *input_shape[2:])

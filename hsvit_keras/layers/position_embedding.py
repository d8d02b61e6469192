"""Learned positions, added to tokens."""

import keras


@keras.saving.register_keras_serializable("hsvit_keras")
class PositionEmbedding(keras.layers.Layer):
    """Adds a learned embedding for each token, and for each group where there are groups.

    Call arguments:
        tokens: Tensor of shape `(batch, tokens, dim)` or `(batch, tokens, groups, dim)`.

    Returns:
        Tensor of the same shape.

    References:
        - [An Image is Worth 16x16 Words](https://arxiv.org/abs/2010.11929), section 3.1
    """

    def build(self, input_shape):
        self.position = self.add_weight(
            shape=input_shape[1:],
            initializer=keras.initializers.TruncatedNormal(stddev=0.02),
            name="position",
        )
        self.built = True

    def call(self, tokens):
        return tokens + self.position

    def compute_output_shape(self, input_shape):
        return input_shape

"""Learned positions, added to tokens."""

import keras


@keras.saving.register_keras_serializable("hsvit_keras")
class PositionEmbedding(keras.layers.Layer):
    """Adds a learned embedding for each token, and for each group where there are groups.

    Args:
        shared_axes: sequence of int, axes of the tokens along which all have one embedding, as those of
            `keras.layers.PReLU`: `(2,)` for an embedding of each token alone, `(1,)` of each group alone.
        stddev: float, standard deviation of the initial embeddings.

    Call arguments:
        tokens: Tensor of shape `(batch, tokens, dim)` or `(batch, tokens, groups, dim)`.

    Returns:
        Tensor of the same shape.

    References:
        - [An Image is Worth 16x16 Words](https://arxiv.org/abs/2010.11929), section 3.1
    """

    def __init__(self, shared_axes=(), stddev=0.02, **kwargs):
        super().__init__(**kwargs)
        self.shared_axes = tuple(shared_axes)
        self.stddev = stddev

    def build(self, input_shape):
        self.position = self.add_weight(
            shape=[1 if axis in self.shared_axes else n for axis, n in enumerate(input_shape)][1:],
            initializer=keras.initializers.TruncatedNormal(stddev=self.stddev),
            name="position",
        )
        self.built = True

    def call(self, tokens):
        return tokens + self.position

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return {**super().get_config(), "shared_axes": self.shared_axes, "stddev": self.stddev}

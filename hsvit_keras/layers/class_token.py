"""A learned token put in front of the others."""

import keras
from keras import ops


@keras.saving.register_keras_serializable("hsvit_keras")
class ClassToken(keras.layers.Layer):
    """Prepends a learned token, one for each group where there are groups.

    Written as PAD + ADD instead of a concatenation: an integer CONCATENATION would force one
    scale on the token and on the features.

    Call arguments:
        tokens: Tensor of shape `(batch, tokens, dim)` or `(batch, tokens, groups, dim)`.

    Returns:
        Tensor with one more token, the learned one first.

    References:
        - [An Image is Worth 16x16 Words](https://arxiv.org/abs/2010.11929), section 3.1
    """

    def build(self, input_shape):
        self.class_token = self.add_weight(
            shape=(1, *input_shape[2:]),
            initializer=keras.initializers.TruncatedNormal(stddev=0.02),
            name="class_token",
        )
        self.built = True

    def call(self, tokens):
        others = tokens.shape[1]
        grown = ops.pad(tokens, pad_tokens(tokens, before=1))
        return grown + ops.pad(self.class_token, [(0, others)] + [(0, 0)] * (len(tokens.shape) - 2))

    def compute_output_shape(self, input_shape):
        return (input_shape[0], input_shape[1] + 1, *input_shape[2:])


def pad_tokens(tokens, before):
    """Padding widths that put `before` zero tokens in front on axis 1."""
    return [(0, 0), (before, 0)] + [(0, 0)] * (len(tokens.shape) - 2)

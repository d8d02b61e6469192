"""Learned tokens put in front of the others."""

import keras
from keras import ops


@keras.saving.register_keras_serializable("hsvit_keras")
class ClassToken(keras.layers.Layer):
    """Prepends learned tokens, of their own for each group where there are groups.

    Written as PAD + ADD instead of a concatenation: an integer CONCATENATION would force one
    scale on the token and on the features.

    Args:
        num_tokens: int, learned tokens; a second one is what distillation adds.

    Call arguments:
        tokens: Tensor of shape `(batch, tokens, dim)` or `(batch, tokens, groups, dim)`.

    Returns:
        Tensor with `num_tokens` more tokens, the learned ones first.

    References:
        - [An Image is Worth 16x16 Words](https://arxiv.org/abs/2010.11929), section 3.1
        - [DeiT](https://arxiv.org/abs/2012.12877), section 4 (distillation token)
    """

    def __init__(self, num_tokens=1, **kwargs):
        super().__init__(**kwargs)
        self.num_tokens = num_tokens

    def build(self, input_shape):
        self.class_token = self.add_weight(
            shape=(self.num_tokens, *input_shape[2:]),
            initializer=keras.initializers.TruncatedNormal(stddev=0.02),
            name="class_token",
        )
        self.built = True

    def call(self, tokens):
        others = tokens.shape[1]
        grown = ops.pad(tokens, pad_tokens(tokens, before=self.num_tokens))
        return grown + ops.pad(self.class_token, [(0, others)] + [(0, 0)] * (len(tokens.shape) - 2))

    def compute_output_shape(self, input_shape):
        return (input_shape[0], input_shape[1] + self.num_tokens, *input_shape[2:])

    def get_config(self):
        return {**super().get_config(), "num_tokens": self.num_tokens}


def pad_tokens(tokens, before):
    """Padding widths that put `before` zero tokens in front on axis 1."""
    return [(0, 0), (before, 0)] + [(0, 0)] * (len(tokens.shape) - 2)

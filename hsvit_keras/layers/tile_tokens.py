"""Repeats the tokens cyclically."""

import keras
import numpy as np
from keras import ops


@keras.saving.register_keras_serializable("hsvit_keras")
class TileTokens(keras.layers.Layer):
    """Repeats the list of tokens from its start until there are `num_tokens`.

    Written as a product with zeros and ones, which is exact: TILE is not accelerated on phones.

    Args:
        num_tokens: int, tokens of the output; may be fewer than those of the input.

    Call arguments:
        tokens: Tensor of shape `(batch, tokens, dim)`.

    Returns:
        Tensor of shape `(batch, num_tokens, dim)`.

    References:
        - [HSViT](https://arxiv.org/abs/2404.05196), section 4.3 (ablation of the convolutions)
    """

    def __init__(self, num_tokens, **kwargs):
        super().__init__(**kwargs)
        self.num_tokens = num_tokens

    def call(self, tokens):
        count = tokens.shape[1]
        choice = np.eye(count)[np.arange(self.num_tokens) % count]
        return ops.matmul(ops.convert_to_tensor(choice, tokens.dtype), tokens)

    def compute_output_shape(self, input_shape):
        return (input_shape[0], self.num_tokens, *input_shape[2:])

    def get_config(self):
        return {**super().get_config(), "num_tokens": self.num_tokens}

"""Tokens that receive little attention are left out."""

import keras
from keras import ops

from hsvit_keras.layers.token_range import token_range
from hsvit_runtime.errors import InputError


@keras.saving.register_keras_serializable("hsvit_keras")
class TokenElimination(keras.layers.Layer):
    """Keeps the first tokens and those with the largest scores.

    The others stand behind the first ones by falling score, which tells nothing to attention: positions
    are in the tokens. No gradient reaches the scores.

    Args:
        num_kept: int, tokens that are kept, the first ones among them.
        num_first: int, tokens in front that are kept whatever their score, such as the class token.

    Call arguments:
        tokens: Tensor of shape `(batch, tokens, dim)`.
        scores: Tensor of shape `(batch, tokens)`.

    Returns:
        Tensor of shape `(batch, num_kept, dim)`.

    Raises:
        ValueError: there are fewer than `num_kept` tokens, or `num_kept` is below `num_first`.

    References:
        - [PoWER-BERT](https://arxiv.org/abs/2001.08950), section 3.3 (extract layer)
    """

    def __init__(self, num_kept, num_first=1, **kwargs):
        super().__init__(**kwargs)
        self.num_kept = num_kept
        self.num_first = num_first

    def build(self, tokens_shape, scores_shape):
        if not self.num_first <= self.num_kept <= tokens_shape[1]:
            raise InputError(
                f"num_kept has to be from the {self.num_first} first tokens to all {tokens_shape[1]}; "
                f"received num_kept={self.num_kept}"
            )
        self.built = True

    def call(self, tokens, scores):
        first = token_range(tokens, 0, self.num_first)
        if self.num_kept == self.num_first:
            return first
        _, chosen = ops.top_k(scores[:, self.num_first :], self.num_kept - self.num_first)
        others = ops.take_along_axis(tokens, ops.expand_dims(chosen, -1) + self.num_first, axis=1)
        return ops.concatenate([first, others], axis=1)

    def compute_output_shape(self, tokens_shape, scores_shape):
        return (tokens_shape[0], self.num_kept, tokens_shape[2])

    def compute_output_spec(self, tokens, scores):
        return keras.KerasTensor(self.compute_output_shape(tokens.shape, scores.shape), tokens.dtype)

    def get_config(self):
        return {**super().get_config(), "num_kept": self.num_kept, "num_first": self.num_first}

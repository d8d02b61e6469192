"""A slice of the tokens, as an operation that phones accelerate."""

import keras
from keras import ops


@keras.saving.register_keras_serializable("hsvit_keras")
class TokenRange(keras.layers.Layer):
    """Keeps the tokens `start` to `stop` and drops the others.

    Args:
        start: int, index of the first token that is kept.
        stop: int, index of the first token behind them; None keeps all to the end.

    Call arguments:
        tokens: Tensor of shape `(batch, tokens, dim)` or `(batch, tokens, groups, dim)`.

    Returns:
        Tensor of the same shape, but for the number of tokens.
    """

    def __init__(self, start, stop=None, **kwargs):
        super().__init__(**kwargs)
        self.start = start
        self.stop = stop

    def call(self, tokens):
        return token_range(tokens, self.start, self._end(tokens.shape))

    def compute_output_shape(self, input_shape):
        return (input_shape[0], self._end(input_shape) - self.start, *input_shape[2:])

    def get_config(self):
        return {**super().get_config(), "start": self.start, "stop": self.stop}

    def _end(self, shape):
        return shape[1] if self.stop is None else self.stop


def token_range(tokens, start, stop):
    """Tokens `start` to `stop`, the last one excluded.

    Where the batch is fixed (in a graph made for a phone) this is one SLICE: indexing would become a
    STRIDED_SLICE.
    """
    if tokens.shape[0] is None:
        return tokens[:, start:stop]
    begin = (0, start) + (0,) * (len(tokens.shape) - 2)
    return ops.slice(tokens, begin, (tokens.shape[0], stop - start, *tokens.shape[2:]))


def last_tokens(tokens, count):
    """The last `count` tokens."""
    total = tokens.shape[1]
    return tokens if count == total else token_range(tokens, total - count, total)

"""Softmax attention within windows of neighbouring tokens."""

import numpy as np
from keras import ops

from hsvit_keras.layers.heads import transposed


def local_attention(query, key, value, window_size):
    """Tokens of a window attend to their own window, the one before and the one behind.

    The sequence is filled up with zeros at its end, which are not masked. Queries and keys are rotated
    by their positions within the three windows; halves of the features are paired.

    Args:
        query: Tensor of shape `(batch, heads, tokens, size)`, as are `key` and `value`.
        window_size: int, tokens in a window.

    Returns:
        Tensor of shape `(batch, heads, tokens, size)`.

    References:
        - [Longformer](https://arxiv.org/abs/2004.05150), section 3.1
    """
    _, heads, tokens, size = query.shape
    windows = -(-tokens // window_size)
    missing = windows * window_size - tokens

    def in_windows(x, start=0):
        """Windows of the sequence shifted by `start` windows, beside the heads."""
        before, behind = max(0, -start) * window_size, max(0, start) * window_size
        x = ops.pad(x, ((0, 0), (0, 0), (before, missing + behind), (0, 0)))
        x = x[:, :, behind : behind + windows * window_size]
        return ops.reshape(x, (-1, heads * windows, window_size, size))

    def with_neighbours(x):
        return ops.concatenate([in_windows(x, start) for start in (-1, 0, 1)], axis=2)

    query = _rotated(in_windows(query) * size**-0.5, first=2 * window_size)
    scores = ops.matmul(query, transposed(_rotated(with_neighbours(key), first=0)))
    weights = ops.softmax(scores + ops.convert_to_tensor(_beyond(heads, windows, window_size), scores.dtype))
    mixed = ops.reshape(ops.matmul(weights, with_neighbours(value)), (-1, heads, windows * window_size, size))
    return mixed[:, :, :tokens]


def _beyond(heads, windows, window_size):
    """A bias on the scores that masks the windows before the first and behind the last."""
    bias = np.zeros((windows, 3, window_size))
    bias[0, 0] = bias[-1, 2] = -1e30
    return np.tile(bias.reshape(windows, 1, 3 * window_size), (heads, 1, 1))


def _rotated(x, first):
    """Rotates features `i` and `i + size / 2` of token `n` by `(first + n) / 10000^(2i / size)`."""
    _, _, count, size = x.shape
    frequencies = 10000.0 ** (-np.arange(0, size, 2) / size)
    angles = np.tile(np.outer(first + np.arange(count), frequencies), (1, 2))
    cosine, sine = (ops.convert_to_tensor(wave(angles), x.dtype) for wave in (np.cos, np.sin))
    front, back = x[..., : size // 2], x[..., size // 2 :]
    return x * cosine + ops.concatenate([-back, front], axis=-1) * sine

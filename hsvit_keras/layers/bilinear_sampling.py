"""Weighted sums of pixels sampled between the pixels of maps, in two forms that compute the same.

A sample is bilinear and zero outside of the map: the pixel at (i, j) counts
`max(0, 1 - |x - i|) * max(0, 1 - |y - j|)`, which is a hat function of each coordinate.

- As gathers: the four pixels around each sample are read, which costs the same for a map of any size.
- As hat functions: the weights of all pixels are computed, and the sums are one matrix product. That is of
  operations that all phone kernels have, and cheaper on small maps.
"""

import numpy as np
from keras import ops

# What reading a number costs, in multiply-adds, by LiteRT on one thread: see docs/deformable_detr.md.
_GATHERED_NUMBER = 20


def multiply_adds(form, size, num_points, head_dim):
    """Multiply-adds of one query and head on one map.

    Args:
        form: str, `"gathers"` or `"hat_functions"`.
        size: (height, width) of the map.
        num_points: int, samples that are summed.
        head_dim: int, channels.
    """
    if form == "gathers":
        return 4 * num_points * head_dim
    return size[0] * size[1] * (num_points + head_dim)


def cheaper_form(size, num_points, head_dim):
    """`"gathers"` or `"hat_functions"`, whichever is faster; see `multiply_adds` for the arguments."""
    gathered = _GATHERED_NUMBER * multiply_adds("gathers", size, num_points, head_dim)
    is_small = multiply_adds("hat_functions", size, num_points, head_dim) <= gathered
    return "hat_functions" if is_small else "gathers"


def sum_by_hat_functions(maps, x, y, weights, size):
    """Weighted sums of samples of one map.

    Args:
        maps: Tensor (batch, heads, height * width, dim).
        x: Tensor (batch, heads, queries, points), columns of the samples; 0 is the centre of the first pixel.
        y: Tensor of the same shape, rows.
        weights: Tensor of the same shape.
        size: (height, width).

    Returns:
        Tensor (batch, heads, queries, dim).
    """
    height, width = size
    _, heads, queries, points = x.shape
    rows, columns = (np.arange(n, dtype="float32") for n in size)
    x, weights = (ops.reshape(tensor, (-1, heads * queries, points, 1)) for tensor in (x, weights))
    y = ops.reshape(y, (-1, heads * queries, 1, points))
    across = _hat(x, columns) * weights
    down = _hat(y, rows[:, np.newaxis])
    shares = ops.reshape(ops.matmul(down, across), (-1, heads, queries, height * width))
    return ops.matmul(ops.cast(shares, maps.dtype), maps)


def sum_by_gathers(tokens, num_heads, samples):
    """Weighted sums of samples of some maps of one sequence of tokens.

    Args:
        tokens: Tensor (batch, tokens, dim).
        num_heads: int.
        samples: list of (x, y, weights, size, start): see `sum_by_hat_functions`, and the number of the first
            token of the map.

    Returns:
        Tensor (batch, heads, queries, dim / heads).
    """
    batch, count, dim = tokens.shape
    heads, queries = samples[0][0].shape[1:3]
    levels = [_joined(_corners(*sample, num_heads)) for sample in samples]
    places, shares = _joined(levels) if len(levels) > 1 else levels[0]
    # Reshaped as floats, which phone kernels do
    places = ops.cast(ops.reshape(places, (-1, places.shape[-1])), "int32")
    if batch != 1:
        samples_before = ops.repeat(ops.arange(ops.shape(tokens)[0], dtype="int32"), heads * queries)
        places = places + samples_before[:, None] * (count * num_heads)
    pixels = ops.reshape(tokens, (-1, dim // num_heads))  # each head's part of each token
    pixels = ops.take(pixels, places, axis=0)
    shares = ops.cast(ops.reshape(shares, (-1, 1, shares.shape[-1])), tokens.dtype)
    return ops.reshape(ops.matmul(shares, pixels), (-1, heads, queries, dim // num_heads))


def _corners(x, y, weights, size, start, num_heads):
    """The place, as a float, and the share of each of the four pixels around the samples."""
    height, width = size
    heads = np.arange(num_heads, dtype="float32").reshape(1, -1, 1, 1)
    for row in (ops.floor(y), ops.floor(y) + 1):
        for column in (ops.floor(x), ops.floor(x) + 1):
            inside = ops.clip(row, 0, height - 1), ops.clip(column, 0, width - 1)
            is_inside = _hat(row, inside[0]) * _hat(column, inside[1])  # 1 or 0: all are whole numbers
            share = _hat(y, row) * _hat(x, column) * is_inside * weights
            yield (inside[0] * width + inside[1] + start) * num_heads + heads, share


def _joined(parts):
    """Pairs of tensors, each joined along the last axis."""
    return [ops.concatenate(tensors, axis=-1) for tensors in zip(*parts, strict=True)]


def _hat(position, pixel):
    return ops.relu(1 - ops.abs(position - pixel))

"""Ranges that clip outliers, from a histogram of the values.

A narrower range rounds in finer steps, and clips more. Each method weighs the two in another way.
"""

import numpy as np

BINS = 2048
_CANDIDATES = 64  # for each end of a range
_NARROWEST = 0.1  # of the way from 0 to an extreme


def least_error(counts, extremes, bits):
    """The range with the smallest squared error of rounding and clipping.

    Args:
        counts: array `(BINS,)`, how many values are in each of the bins of one width between the extremes.
        extremes: (low, high), the smallest and the largest value.
        bits: int, of the integers.

    Returns:
        (low, high).

    References:
        - [A White Paper on Neural Network Quantization](https://arxiv.org/abs/2106.08295), section 3.1
    """
    values = _middles(extremes)
    lows, highs = _candidates(min(extremes[0], 0.0)), _candidates(max(extremes[1], 0.0))
    below = [(counts * np.maximum(low - values, 0) ** 2).sum() for low in lows]
    above = [(counts * np.maximum(values - high, 0) ** 2).sum() for high in highs]
    step = (highs - lows[:, np.newaxis]) / (2**bits - 1)
    error = np.add.outer(below, above) + counts.sum() * step**2 / 12
    low, high = np.unravel_index(np.argmin(error), error.shape)
    return lows[low], highs[high]


def entropy(counts, extremes, bits):
    """The range whose rounded values have the smallest divergence from the distribution of the values.

    Args:
        counts: see `least_error`.
        extremes: see `least_error`.
        bits: see `least_error`.

    Returns:
        (low, high), both as large a share of the extremes.

    References:
        - [Kullback-Leibler divergence](https://en.wikipedia.org/wiki/Kullback-Leibler_divergence), which
          NVIDIA's TensorRT minimizes
    """
    values, ends = _middles(extremes), (min(extremes[0], 0.0), max(extremes[1], 0.0))
    shares = _candidates(1.0)
    divergences = [_divergence(counts, values, *(end * share for end in ends), bits) for share in shares]
    share = shares[int(np.argmin(divergences))]
    return tuple(end * share for end in ends)


METHODS = {"least_error": least_error, "entropy": entropy}


def _divergence(counts, values, low, high, bits):
    """Of the clipped values from the rounded ones, as sums over bins."""
    inside = (values >= low) & (values <= high)
    if not counts[inside].sum():
        return np.inf
    clipped = counts[inside].copy()
    clipped[0] += counts[values < low].sum()
    clipped[-1] += counts[values > high].sum()
    steps = np.round((values[inside] - low) / max(high - low, 1e-12) * (2**bits - 1)).astype(int)
    # What is rounded to one integer is spread evenly over the bins that had values.
    filled = counts[inside] > 0
    sums, bins = np.bincount(steps, counts[inside]), np.bincount(steps, filled)
    spread = np.where(filled, (sums / np.maximum(bins, 1))[steps], 0.0)
    p, q = clipped / clipped.sum(), spread / max(spread.sum(), 1e-12)
    given = p > 0
    return float((p[given] * np.log(p[given] / np.maximum(q[given], 1e-12))).sum())


def _middles(extremes):
    low, high = extremes
    return low + (high - low) * (np.arange(BINS) + 0.5) / BINS


def _candidates(extreme):
    return extreme * np.linspace(_NARROWEST, 1, _CANDIDATES)

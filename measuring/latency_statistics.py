"""Statistics of latencies: pure functions on arrays.

A percentile is read from the sorted values with linear interpolation between neighbours: of n values,
percentile q lies at position q / 100 * (n - 1), counted from 0 (the definition of `numpy.percentile`,
type 7 of Hyndman and Fan). The 99th of fewer than 100 values is little more than the maximum.
"""

import numpy as np

from hsvit_runtime.errors import InputError

PERCENTILES = (5, 50, 90, 95, 99)


def summarize(latencies):
    """Count, percentiles, extremes, mean and sample standard deviation of latencies.

    Args:
        latencies: non-empty sequence of floats, ms.

    Returns:
        dict with `count` and, in ms, `p5`, `p50`, `p90`, `p95`, `p99`, `min`, `mean`, `max`, `std`.
    """
    latencies = np.asarray(latencies, dtype="float64")
    if latencies.size == 0:
        raise InputError("latencies must hold at least one value, got none")
    percentiles = np.percentile(latencies, PERCENTILES)
    return {
        "count": int(latencies.size),
        **{f"p{q}": float(value) for q, value in zip(PERCENTILES, percentiles, strict=True)},
        "min": float(latencies.min()),
        "mean": float(latencies.mean()),
        "max": float(latencies.max()),
        "std": float(latencies.std(ddof=1)) if latencies.size > 1 else 0.0,
    }


def ratio_of_medians(original, mobile, *, confidence=0.95, resamples=2000, seed=0):
    """Median latency of `mobile` over that of `original`, with a bootstrap interval over paired blocks.

    Block i of both was measured side by side, so what disturbed one (another process, a hot chip)
    mostly disturbed the other. Whole pairs of blocks are drawn with replacement: that keeps them together,
    and does not take the correlated runs within a block for independent ones.

    Args:
        original: sequence of blocks, each a sequence of latencies in ms.
        mobile: the same number of blocks.
        confidence: float in (0, 1). Share of resampled ratios inside the interval.
        resamples: int. Number of resampled sets of blocks.
        seed: int. Equal seeds give equal intervals.

    Returns:
        dict with `value`, `low`, `high` and `confidence`; the interval is None for a single block.
    """
    if len(original) != len(mobile) or not original:
        raise InputError(
            f"original and mobile must have the same number of blocks, at least one, "
            f"got {len(original)} and {len(mobile)}"
        )
    if not 0 < confidence < 1:
        raise InputError(f"confidence must lie between 0 and 1, got {confidence}")
    blocks = [[np.asarray(block, dtype="float64") for block in side] for side in (original, mobile)]

    def ratio(drawn):
        medians = [np.median(np.concatenate([side[i] for i in drawn])) for side in blocks]
        return float(medians[1] / medians[0])

    count = len(original)
    result = {"value": ratio(range(count)), "low": None, "high": None, "confidence": confidence}
    if count > 1:
        draws = _draws(resamples, count, seed)
        tail = 50 * (1 - confidence)
        low, high = np.percentile([ratio(drawn) for drawn in draws], (tail, 100 - tail))
        result.update(low=float(low), high=float(high))
    return result


def _draws(resamples, count, seed):
    """Sets of `count` positions 0..count-1, (resamples, count).

    From the generator SplitMix64 (Steele, Lea, Flood 2014), a few lines in any language: a phone draws
    the same, and so will later versions of NumPy.
    """
    steps = np.arange(1, resamples * count + 1, dtype="uint64")
    bits = np.uint64(seed) + steps * np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ bits >> 30) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ bits >> 27) * np.uint64(0x94D049BB133111EB)
    bits ^= bits >> 31
    return ((bits >> 32) * count >> 32).reshape(resamples, count)

import math

import numpy as np
import pytest

from hsvit_runtime.errors import InputError
from measuring import latency_statistics


def test_percentiles_follow_the_definition():
    # Eleven values: percentile q lies at position q / 10, counted from 0.
    summary = latency_statistics.summarize([100, 0, 10, 90, 20, 80, 30, 70, 40, 60, 50])
    assert summary["p50"] == 50
    assert summary["p90"] == 90
    assert summary["p95"] == pytest.approx(95)  # position 9.5, halfway between 90 and 100
    assert summary["p99"] == pytest.approx(99)
    assert summary["p5"] == pytest.approx(5)


def test_summary_of_known_values():
    summary = latency_statistics.summarize([1.0, 2.0, 3.0, 6.0])
    assert summary["count"] == 4
    assert (summary["min"], summary["mean"], summary["max"]) == (1.0, 3.0, 6.0)
    assert summary["p50"] == 2.5
    assert summary["std"] == pytest.approx(math.sqrt((4 + 1 + 0 + 9) / 3))


def test_summary_of_one_value():
    summary = latency_statistics.summarize([7.0])
    assert all(summary[name] == 7.0 for name in ("p5", "p50", "p90", "p95", "p99", "min", "mean", "max"))
    assert summary["std"] == 0.0


def test_summary_of_nothing_is_refused():
    with pytest.raises(InputError, match="latencies must hold at least one value"):
        latency_statistics.summarize([])


def test_ratio_is_of_the_medians_of_all_runs():
    original = [[10.0, 20.0], [30.0, 40.0], [1000.0]]  # median 30
    mobile = [[3.0], [6.0, 9.0, 12.0], [500.0]]  # median 9
    assert latency_statistics.ratio_of_medians(original, mobile)["value"] == pytest.approx(0.3)


def test_equal_blocks_leave_no_doubt():
    ratio = latency_statistics.ratio_of_medians([[4.0, 4.0]] * 5, [[1.0, 1.0]] * 5)
    assert (ratio["low"], ratio["value"], ratio["high"]) == (0.25, 0.25, 0.25)
    assert ratio["confidence"] == 0.95


def test_interval_is_that_of_all_resamples():
    # Two pairs of blocks with the ratios 1/2 and 1/4. Of the four equally likely draws, (0, 0) gives 1/2,
    # (1, 1) gives 1/4 and the two mixed ones give the median of both.
    original, mobile = [[2.0], [8.0]], [[1.0], [2.0]]
    mixed = 1.5 / 5.0
    ratio = latency_statistics.ratio_of_medians(original, mobile)
    assert ratio["value"] == pytest.approx(mixed)
    assert (ratio["low"], ratio["high"]) == (0.25, 0.5)
    # The middle 40 % of the draws are mixed ones alone.
    narrow = latency_statistics.ratio_of_medians(original, mobile, confidence=0.4)
    assert narrow["low"] == pytest.approx(mixed)
    assert narrow["high"] == pytest.approx(mixed)


def test_pairing_takes_out_what_both_blocks_suffered():
    # The machine is up to three times slower in some blocks, but for both models alike.
    rng = np.random.default_rng(1)
    slowness = rng.uniform(1, 3, 40)
    original = [[10 * s * rng.lognormal(0, 0.01) for _ in range(5)] for s in slowness]
    mobile = [[4 * s * rng.lognormal(0, 0.01) for _ in range(5)] for s in slowness]
    paired = latency_statistics.ratio_of_medians(original, mobile)
    unpaired = latency_statistics.ratio_of_medians(original, mobile[::-1])
    assert 0.36 < paired["low"] <= paired["value"] <= paired["high"] < 0.44
    assert paired["high"] - paired["low"] < 0.5 * (unpaired["high"] - unpaired["low"])


def test_interval_covers_the_true_ratio_as_often_as_it_says():
    # 200 experiments with a true ratio of 0.5; a 90 % interval should hold it in about 180 of them. A
    # bootstrap over 20 blocks is somewhat short, hence the room below.
    covered = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        drift = rng.lognormal(0, 0.2, 20)[:, np.newaxis]
        original = 2.0 * drift * rng.lognormal(0, 0.1, (20, 5))
        mobile = 1.0 * drift * rng.lognormal(0, 0.1, (20, 5))
        ratio = latency_statistics.ratio_of_medians(
            list(original), list(mobile), confidence=0.9, resamples=100
        )
        covered += ratio["low"] <= 0.5 <= ratio["high"]
    assert 160 <= covered <= 196


def test_interval_is_decided_by_the_seed():
    rng = np.random.default_rng(0)
    blocks = [rng.lognormal(0, 0.3, (12, 4)).tolist() for _ in range(2)]
    first = latency_statistics.ratio_of_medians(*blocks, seed=5, resamples=100)
    assert latency_statistics.ratio_of_medians(*blocks, seed=5, resamples=100) == first
    other = latency_statistics.ratio_of_medians(*blocks, seed=6, resamples=100)
    assert other["value"] == first["value"]
    assert (other["low"], other["high"]) != (first["low"], first["high"])


def test_blocks_are_drawn_by_splitmix64():
    # Its published numbers for this seed: 0.350, 0.174, 0.532, 0.249, 0.890 of 2 ** 64.
    assert latency_statistics._draws(1, 5, seed=1234567).tolist() == [[1, 0, 2, 1, 4]]


def test_higher_confidence_makes_a_wider_interval():
    rng = np.random.default_rng(0)
    blocks = [rng.lognormal(0, 0.3, (12, 4)).tolist() for _ in range(2)]
    wide, narrow = (latency_statistics.ratio_of_medians(*blocks, confidence=c) for c in (0.99, 0.5))
    assert wide["low"] < narrow["low"] < narrow["high"] < wide["high"]


def test_one_block_gives_a_ratio_without_interval():
    ratio = latency_statistics.ratio_of_medians([[2.0, 2.0]], [[1.0, 1.0]])
    assert ratio == {"value": 0.5, "low": None, "high": None, "confidence": 0.95}


@pytest.mark.parametrize(
    ("original", "mobile", "confidence", "message"),
    [
        ([[1.0]], [[1.0], [1.0]], 0.9, "same number of blocks, at least one, got 1 and 2"),
        ([], [], 0.9, "got 0 and 0"),
        ([[1.0]], [[1.0]], 95, "confidence must lie between 0 and 1, got 95"),
    ],
)
def test_bad_blocks_are_named(original, mobile, confidence, message):
    with pytest.raises(InputError, match=message):
        latency_statistics.ratio_of_medians(original, mobile, confidence=confidence)

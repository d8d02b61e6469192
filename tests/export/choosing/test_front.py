"""Fronts against their definition, and which of their members measurements tell apart."""

import numpy as np
import pytest

from export.choosing.front import front, told_apart
from hsvit_runtime.measure import Measure

ACCURACY = Measure("accuracy", "Accuracy")
ERROR = Measure("error", "Error", higher_is_better=False, is_share=False)

pytestmark = pytest.mark.once


def test_a_front_by_hand():
    points = {
        "slow": (4.0, 0.9),
        "fast": (1.0, 0.7),
        "beaten in both": (2.0, 0.6),
        "as good, slower": (3.0, 0.8),
        "middle": (2.0, 0.8),
        "as fast, worse": (4.0, 0.85),
    }
    assert front(points, ACCURACY) == ["fast", "middle", "slow"]
    assert front({name: (cost, -value) for name, (cost, value) in points.items()}, ERROR) == [
        "fast", "middle", "slow",
    ]  # fmt: skip


def test_equal_points_are_all_on_the_front():
    assert front({"one": (1.0, 0.5), "other": (1.0, 0.5)}, ACCURACY) == ["one", "other"]


@pytest.mark.parametrize("measure", [ACCURACY, ERROR])
def test_nothing_beats_the_front_and_the_front_beats_all_else(measure):
    rng = np.random.default_rng(0)
    points = {index: tuple(point) for index, point in enumerate(rng.integers(0, 12, (60, 2)).tolist())}
    sign = 1 if measure.higher_is_better else -1

    def beats(one, other):
        (cost, value), (dearer, worse) = points[one], points[other]
        return cost <= dearer and sign * value >= sign * worse and points[one] != points[other]

    found = front(points, measure)
    for index in points:
        assert (index in found) == (not any(beats(other, index) for other in points))
    assert [points[index][0] for index in found] == sorted(points[index][0] for index in found)


def told(points, least, factor):
    """`told_apart` of a front where a difference counts from `least` on, and a cost from `factor` on."""
    return told_apart(
        front(points, ACCURACY),
        lambda name, other: points[name][1] - points[other][1] > least,
        lambda name, other: points[name][0] > factor * points[other][0],
    )


def test_gains_by_chance_are_passed_over_and_may_add_up():
    points = {"a": (1.0, 0.80), "b": (2.0, 0.81), "c": (3.0, 0.825)}
    assert told(points, 0.02, 1.0) == ["a", "c"]
    assert told(points, 0.03, 1.0) == ["a"]


def test_what_is_better_and_not_measurably_slower_takes_the_place():
    points = {"a": (1.0, 0.7), "b": (1.05, 0.8), "c": (1.08, 0.9), "d": (2.0, 0.95)}
    assert told(points, 0.01, 1.1) == ["c", "d"]

"""Figures of a measurement, from answers that are known."""

import pytest

from export.serving import bench

pytestmark = pytest.mark.once


def test_row():
    answers = [(200, True, 10.0), (200, False, 30.0), (503, False, 1.0), (200, True, 20.0)]
    row = bench._row(2, answers, elapsed=0.5)
    assert (row["requests"], row["per_second"]) == (4, 6.0)  # an answer without classes is none
    assert (row["latency_ms"]["count"], row["latency_ms"]["p50"]) == (3, 20.0)
    assert (row["complete"], row["unanswered"]) == (0.5, 0.25)
    assert bench.table([row]).splitlines()[1].split() == [
        "2",
        "6.0",
        "20.00",
        "28.00",
        "29.80",
        "50.0%",
        "25.0%",
    ]


def test_nothing_to_measure():
    with pytest.raises(ValueError, match="no node answered in time, ever: allow more by --deadline_ms"):
        bench._row(1, [(503, False, 1.0)], elapsed=1.0)
    with pytest.raises(ValueError, match=r"answered with HTTP status \[400\]"):
        bench._row(1, [(200, True, 1.0), (400, False, 1.0)], elapsed=1.0)

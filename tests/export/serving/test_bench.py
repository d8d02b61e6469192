"""Numbers of a measurement, from known responses."""

import pytest

from export.serving import bench

pytestmark = pytest.mark.once


def test_row():
    responses = [
        (200, 10.0, content(groups=[0, 1], total=6.0, nodes=4.0, slowest_shards=1.0)),
        (200, 30.0, content(groups=[1], total=11.0, nodes=9.0, slowest_shards=2.0)),
        (503, 1.0, {"error": "none of the 2 nodes answered"}),
        (200, 20.0, content(groups=[0, 1], total=8.0, nodes=5.0, slowest_shards=3.0)),
    ]
    row = bench._row(2, responses, elapsed=0.5)
    assert (row["requests"], row["per_second"]) == (4, 6.0)  # those with classes
    assert (row["latency_ms"]["count"], row["latency_ms"]["p50"]) == (3, 20.0)
    assert (row["complete"], row["unanswered"]) == (0.5, 0.25)
    assert row["samples"] == {
        "latency_ms": [10.0, 30.0, 20.0],
        "service_ms": [6.0, 11.0, 8.0],
        "nodes_ms": [4.0, 9.0, 5.0],
        "shards_ms": [1.0, 2.0, 3.0],
    }
    assert bench.table([row]).splitlines()[1].split() == [
        "2",
        "6.0",
        "20.00",
        "28.00",
        "29.80",
        "50.0%",
        "25.0%",
    ]


def content(groups, **timings):
    return {"groups": groups, "num_groups": 2, "timings_ms": timings}


def test_nothing_to_measure():
    with pytest.raises(ValueError, match="no node met the deadline, ever: allow more by --deadline_ms"):
        bench._row(1, [(503, 1.0, {})], elapsed=1.0)
    with pytest.raises(ValueError, match=r"answered with HTTP status \[400\]"):
        bench._row(1, [(200, 1.0, content([0, 1])), (400, 1.0, {})], elapsed=1.0)

"""Simulated latencies and arrivals against what can be worked out by hand."""

import itertools

import numpy as np
import pytest

from export.simulation import network
from export.simulation.cluster import Setting, simulate
from export.simulation.network import Network

pytestmark = pytest.mark.once
WIRE = Network(one_way_ms=2.0, spread=0.0, up_mbits=8.0, down_mbits=16.0)  # 1000 bytes take 1 ms up, 0.5 down
NONE = Network(one_way_ms=0.0, spread=0.0, up_mbits=np.inf, down_mbits=np.inf)


def setting(nodes=1, shard_ms=5.0, **changed):
    settings = {"network": WIRE, "image_bytes": 3000, "group_bytes": 1000, "deadline_ms": 100.0, "clients": 1}
    return Setting([[shard_ms]] * nodes, [2] * nodes, **{**settings, **changed})


def test_one_node():
    outcome = simulate(setting(), images=3)
    # 3 ms of bytes, 2 of delay, 5 of computing, 1 of bytes, 2 of delay.
    np.testing.assert_allclose(outcome.latency_ms, [13.0] * 3)
    assert outcome.groups.tolist() == [2, 2, 2]
    assert outcome.seconds == pytest.approx(0.039)


def test_images_leave_one_after_another():
    # The fourth has left after 12 ms; results come 3 ms apart, so none waits on the way back.
    assert simulate(setting(nodes=4), images=1).latency_ms.tolist() == pytest.approx([4 * 3 + 10.0])


def test_work_of_http_and_of_the_service():
    work = {"http_ms": (3.0,), "service_ms": (7.0,), "call_ms": (2.0,)}
    outcome = simulate(setting(nodes=2, network=NONE, **work), images=1)
    assert outcome.latency_ms.tolist() == pytest.approx([3.0 + 7.0 + 2 * 2.0 + 5.0])


def test_a_slow_node_is_left_out_and_not_called_again_while_its_result_is_overdue():
    both = Setting([[5.0], [30.0]], [1, 3], NONE, 0, 0, deadline_ms=20.0, service_ms=(1.0,), clients=1)
    outcome = simulate(both, images=4)
    # The first image waits until 1 + 20 ms; the slow node is free at 31 ms. The images at 21 and 27 ms go to
    # the other node alone; the one at 33 ms to both again.
    np.testing.assert_allclose(outcome.latency_ms, [21.0, 6.0, 6.0, 21.0])
    assert outcome.groups.tolist() == [1, 1, 1, 1]


def test_no_node_meets_the_deadline():
    outcome = simulate(setting(deadline_ms=10.0), images=1)
    assert (outcome.latency_ms.tolist(), outcome.groups.tolist()) == ([10.0], [0])


def test_lost_messages_are_sent_again():
    waits = list(itertools.islice(network.retransmission_delays(0.5, np.random.default_rng(0)), 40_000))
    # Not lost, lost once, twice, three times: 0, 200, 200 + 400, 200 + 400 + 800 ms.
    for wait, share in zip((0.0, 200.0, 600.0, 1400.0), (1 / 2, 1 / 4, 1 / 8, 1 / 16), strict=True):
        assert np.mean(np.asarray(waits) == wait) == pytest.approx(share, abs=0.01)
    rare = setting(loss=0.1, clients=None, per_second=1e-6)  # none is in progress when the next one comes
    outcome = simulate(rare, images=4000)
    late = outcome.groups == 0
    assert np.mean(late) == pytest.approx(1 - 0.9**2, abs=0.02)  # either way; 0.02 is 3 standard deviations
    assert outcome.latency_ms[late] == pytest.approx(100.0)
    assert outcome.latency_ms[~late] == pytest.approx(13.0)


def test_images_at_random_times_wait_as_queueing_theory_says():
    busy_half_the_time = setting(shard_ms=10.0, network=NONE, clients=None, per_second=50.0, deadline_ms=1e6)
    outcome = simulate(busy_half_the_time, images=8_000)
    # Pollaczek-Khinchine for equal service times s at the load r: r s / (2 (1 - r)) of waiting.
    assert np.mean(outcome.latency_ms) == pytest.approx(10.0 + 0.5 * 10.0 / (2 * 0.5), rel=0.03)


def test_delays():
    delays = Network(4.0, 0.3, 1.0, 1.0).delays(np.random.default_rng(0))
    some = np.fromiter(delays, float, count=40_000)
    assert np.median(some) == pytest.approx(4.0, rel=0.02)
    assert np.percentile(some, 99) == pytest.approx(4.0 * np.exp(0.3 * 2.326), rel=0.03)


def test_equal_seeds_give_equal_outcomes():
    random = setting(nodes=2, network=Network(2.0, 0.5, 8.0, 8.0), loss=0.2)
    first, again, other = (simulate(random, 50, seed).latency_ms for seed in (1, 1, 2))
    assert (first == again).all() and (first != other).any()

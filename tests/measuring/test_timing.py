import gc

import pytest

from measuring import timing


class Clock:
    """Time that passes only when it is told to; replaces `time` in `export.timing`."""

    def __init__(self):
        self.wall = self.cpu = 0.0
        self.sleeps = []

    def perf_counter(self):
        return self.wall

    def process_time(self):
        return self.cpu

    def sleep(self, seconds):
        self.wall += seconds
        self.sleeps.append(seconds)


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(timing, "time", clock)
    return clock


def worker(clock, log, name, wall, cores=1.0):
    """A function that takes the next of `wall` seconds, the last for ever, on so many cores."""
    durations = list(wall)

    def work():
        duration = durations.pop(0) if len(durations) > 1 else durations[0]
        log.append(name)
        clock.wall += duration
        clock.cpu += cores * duration

    return work


def test_blocks_alternate_and_turn_round(clock):
    log = []
    functions = [worker(clock, log, name, [0.001]) for name in "ABC"]
    timing.time_interleaved(functions, blocks=3, runs=2, warmup=1)
    first, rest = log[:3], log[3:]
    assert first == ["A", "B", "C"]
    assert "".join(rest) == "AAABBBCCC" + "CCCBBBAAA" + "AAABBBCCC"


def test_first_run_and_warm_up_are_kept_apart(clock):
    work = worker(clock, [], "A", [9.0, 0.5, 0.4, 0.010, 0.020, 0.3, 0.2, 0.030, 0.040])
    (timed,) = timing.time_interleaved([work], blocks=2, runs=2, warmup=2)
    assert timed.first_ms == pytest.approx(9000)
    assert timed.warmup_ms == pytest.approx([500, 400, 300, 200])
    assert [list(block) for block in timed.blocks_ms] == [
        pytest.approx([10, 20]),
        pytest.approx([30, 40]),
    ]


def test_block_i_of_all_functions_lies_side_by_side(clock):
    # The machine gets slower with every round: both functions must see that in the same block.
    rounds = [1, 1, 2, 2, 3, 3]
    functions = [worker(clock, [], "A", [1, *rounds]), worker(clock, [], "B", [1, *rounds])]
    first, second = timing.time_interleaved(functions, blocks=3, runs=2, warmup=0)
    assert first.blocks_ms == second.blocks_ms == [[1e3, 1e3], [2e3, 2e3], [3e3, 3e3]]


def test_busy_cores_are_those_of_the_runs_that_count(clock):
    idle_half = worker(clock, [], "A", [0.1], cores=0.5)
    two_threads = worker(clock, [], "B", [0.1], cores=1.9)
    first, second = timing.time_interleaved([idle_half, two_threads], blocks=3, runs=4, warmup=2)
    assert first.busy_cores == pytest.approx(0.5)
    assert second.busy_cores == pytest.approx(1.9)


def test_cooldown_comes_before_every_block_and_is_in_no_latency(clock):
    functions = [worker(clock, [], name, [0.25]) for name in "AB"]
    timed = timing.time_interleaved(functions, blocks=2, runs=2, warmup=0, cooldown=5.0)
    assert clock.sleeps == [5.0] * 4
    assert timed[0].blocks_ms == [[250, 250], [250, 250]]


def test_progress_is_told_after_each_round(clock):
    told = []
    work = worker(clock, [], "A", [0.1])
    timing.time_interleaved(
        [work, work], blocks=3, runs=1, warmup=0, progress=lambda *state: told.append(state)
    )
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_no_garbage_is_collected_meanwhile_and_again_afterwards(clock):
    enabled = []

    def work():
        enabled.append(gc.isenabled())
        clock.wall += 1
        if len(enabled) == 3:
            raise RuntimeError("a model that fails")

    with pytest.raises(RuntimeError, match="a model that fails"):
        timing.time_interleaved([work], blocks=2, runs=1, warmup=0)
    assert enabled == [True, False, False]
    assert gc.isenabled()

"""Which number of groups is used: the largest that fits the budget, by the machine's speed now."""

import numpy as np
import pytest

pytest.importorskip("ai_edge_litert")

from export.serving import elastic_model
from export.serving.elastic_model import ElasticModel
from hsvit_runtime.litert import signatures
from tests.runtime.litert.builder import Builder

pytestmark = pytest.mark.once
IMAGE = np.full((1, 3), 2.0, "float32")


def adds(number):
    """A file that adds a number to its input, as a model of so many groups might."""
    builder = Builder()
    given, made = builder.tensor((1, 3)), builder.tensor((1, 3))
    builder.op("ADD", [given, builder.constant(np.full((1, 3), number))], [made], "AddOptions")
    return builder.content([given], [made])


@pytest.fixture
def clock(monkeypatch):
    """A clock by which a run takes 1 ms a group, times `clock.slowness`."""

    class Clock:
        now, slowness = 0.0, 1.0

        def perf_counter(self):
            return self.now

        process_time = perf_counter

        def sleep(self, seconds):
            self.now += seconds

    clock, run = Clock(), ElasticModel.run

    def timed(self, groups, image):
        clock.now += 1e-3 * groups * clock.slowness
        return run(self, groups, image)

    monkeypatch.setattr(elastic_model, "time", clock)
    monkeypatch.setattr(elastic_model.timing, "time", clock)
    monkeypatch.setattr(ElasticModel, "run", timed)
    return clock


@pytest.fixture(scope="module")
def content():
    return signatures.join({f"groups_{count}": adds(count) for count in (4, 8, 16)}, ["image"], ["logits"])


@pytest.fixture
def model(clock, content):
    return ElasticModel(content)


@pytest.mark.parametrize(("budget", "groups"), [(100, 16), (16.1, 16), (15.9, 8), (4.1, 4), (1, 4)])
def test_the_most_groups_that_fit_are_used_or_the_fewest(model, budget, groups):
    logits, used = model(IMAGE, budget)
    assert used == groups
    np.testing.assert_array_equal(logits, IMAGE + groups)


def test_a_slower_machine_uses_fewer_groups_until_it_is_fast_again(model, clock):
    clock.slowness = 2.0
    # Expected is 16 x (1, 1.2, 1.36, ...) ms: after two runs that took twice as long 16 groups are too slow.
    assert [model(IMAGE, 20.0)[1] for _ in range(4)] == [16, 16, 8, 8]
    assert model.expected_ms[16] == pytest.approx(16 * (2 - 0.8**4))
    clock.slowness = 1.0
    used = [model(IMAGE, 20.0)[1] for _ in range(12)]
    assert used[0] == 8 and used[-1] == 16


def test_a_file_without_signatures_of_groups(tmp_path):
    (tmp_path / "other.tflite").write_bytes(adds(1))
    with pytest.raises(ValueError, match="no signature is named as groups_4 is"):
        ElasticModel(tmp_path / "other.tflite")
    with pytest.raises(FileNotFoundError):
        ElasticModel(tmp_path / "missing.tflite")


def test_only_files_with_one_graph_are_joined():
    joined = signatures.join({"a": adds(1), "b": adds(2)}, ["image"], ["logits"])
    with pytest.raises(ValueError, match="'twice' has 2 graphs; one is needed"):
        signatures.join({"twice": joined}, ["image"], ["logits"])

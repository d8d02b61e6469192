"""Jobs over a cluster of Ray are done, whichever machine is lost; tables and studies use it."""

import json
import pathlib
import subprocess
import sys

import pytest

from hsvit_runtime.errors import InputError
from training.compressing import study as studying
from training.spreading import workers
from training.spreading.workers import Workers, absolute, clock
from training.tabulating import running
from training.tabulating.plan import Run

pytestmark = pytest.mark.once


class Here:
    """Does jobs in this process."""

    def __init__(self, function, *_):
        self._function = function

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def do(self, jobs):
        for name, arguments in jobs.items():
            yield name, self._function(*arguments), 61.4


def test_clock_and_paths():
    assert clock(61.4) == "1:01" and clock(3599.6) == "60:00"
    assert absolute(None) is None
    assert absolute("some") == str(pathlib.Path.cwd() / "some")


def test_nothing_is_started_for_no_jobs(tmp_path):
    with Workers(abs, tmp_path, ray="nowhere:1") as spread:
        assert list(spread.do({})) == []


def test_runs_of_a_table_are_spread(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    given = []

    def train_run(run):
        given.append(run)
        return "trained"

    runs = [Run(f"row-{seed}", pathlib.Path("table") / f"row-{seed}", seed, {}, "images") for seed in (0, 1)]
    monkeypatch.setattr(running, "is_finished", lambda run: run.seed == 0)
    running.work_spread(runs, Here(train_run))
    (run,) = given
    assert run.path == tmp_path / "table" / "row-1" and run.folder == str(tmp_path / "images")
    assert capsys.readouterr().out == "  1 of 1 after 1:01  row-1: trained\n"


def test_models_of_a_study_are_spread_and_stand_in_their_order(tmp_path, monkeypatch):
    monkeypatch.setattr(studying, "Workers", lambda function, *_: Here(lambda _, folder, name, data: [name]))
    found = dict(studying._studied({}, tmp_path, ["a", "b"], None, 2, "local"))
    assert found == {"a": ["a"], "b": ["b"]}


def test_a_machine_that_does_not_see_the_folder_is_named(tmp_path):
    mark = tmp_path / "mark"
    with pytest.raises(
        InputError, match=rf"does not see {tmp_path}: all machines of the cluster need the wor"
    ):
        workers._call(abs, str(mark), (-1,))
    mark.touch()
    assert workers._call(abs, str(mark), (-1,)) == 1


@pytest.mark.exhaustive
def test_jobs_of_a_lost_machine_go_to_another_one(tmp_path, monkeypatch, capfd):
    """A cluster of two machines, as Ray makes it here for tests; that of the job that hangs is killed."""
    for name, value in workers._SILENCE.items():
        monkeypatch.setenv(name, value)
    from ray.cluster_utils import Cluster

    from tests.training import jobs

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    try:
        nodes = {node.node_id: node for node in (cluster.add_node(num_cpus=1) for _ in range(2))}
        found = {}
        with Workers(jobs.where, tmp_path, 2, cluster.address) as spread:
            for name, node, _ in spread.do({name: (name, str(tmp_path)) for name in "ab"}):
                found[name] = node
                if name == "a":
                    lost = (tmp_path / "b").read_text()
                    cluster.remove_node(nodes[lost], allow_graceful=False)
        assert set(found) == {"a", "b"} and lost not in found.values()
        assert "a worker died; b goes on from its last epoch" in capfd.readouterr().out
    finally:
        cluster.shutdown()


# A process that has used another Ray before.
AFTER_RAY = """
import runpy
import ray
ray.init(address="local", num_cpus=1, include_dashboard=False, log_to_driver=False)
ray.shutdown()
runpy.run_module("tests.training.spread_here", run_name="__main__", alter_sys=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("program", [["-m", "tests.training.spread_here"], ["-c", AFTER_RAY]])
def test_ray_on_this_machine_is_reached_by_nobody_else(tmp_path, ray_environment, program):
    done = subprocess.run([sys.executable, *program, tmp_path], capture_output=True, text=True)
    found = json.loads(done.stdout)
    assert found["done"] == {"a": "1:01"} and len(found["ports"]) > 5
    assert {address for address, _, _ in found["ports"]} == {"127.0.0.1"}
    assert {status for _, _, status in found["ports"]} <= {401, None}


@pytest.mark.exhaustive  # imports Ray
def test_a_cluster_that_is_not_there_is_named(tmp_path):
    with Workers(abs, tmp_path, ray="here") as spread, pytest.raises(InputError, match="received 'here'"):
        list(spread.do({"a": (-1,)}))
    with (
        Workers(abs, tmp_path, ray="127.0.0.1:9") as spread,
        pytest.raises(InputError, match=r"--ray=127.0.0.1:9: this cluster cannot be joined: "),
    ):
        list(spread.do({"a": (-1,)}))

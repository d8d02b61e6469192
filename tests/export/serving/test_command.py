"""How `python -m export.serve` ends: by Ctrl-C, after a measurement, on bad input."""

import json
import signal
import socket
import subprocess
import sys

import pytest

pytest.importorskip("ray")

from tests.export.serving.test_live import PATIENCE, Server, descendants, free_port, running, until

pytestmark = [pytest.mark.tensorflow, pytest.mark.once]


def serve(*options, code="from export import serve"):
    """Runs the command to its end, after `code`: (status, standard output, standard error)."""
    start = f"{code}; serve.define_flags(); serve.commands.run(serve.main, uses_keras=False)"
    done = subprocess.run(
        [sys.executable, "-c", start, *options], capture_output=True, text=True, timeout=3 * PATIENCE
    )
    return done.returncode, done.stdout, done.stderr


def test_without_ray(sharded):
    status, _, errors = serve(
        f"--manifest={sharded.manifest}",
        code="import sys; sys.modules['ray'] = None; from export import serve",
    )
    assert status == 1
    assert errors.startswith("error: serving needs Ray with Serve (")
    assert errors.endswith("): pip install 'hsvit-keras[horizontal]'\n")


def test_too_many_nodes(sharded):
    status, _, errors = serve(f"--manifest={sharded.manifest}", "--num_nodes=5")
    assert (status, errors) == (
        1, "error: num_nodes has to be from 1 to 4, the shards; received 5\n",
    )  # fmt: skip


def test_a_port_in_use_and_no_cluster(sharded):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        status, _, errors = serve(f"--manifest={sharded.manifest}", f"--port={port}")
        assert (status, errors) == (
            1, f"error: cannot listen on 127.0.0.1, port {port}: Address already in use\n",
        )  # fmt: skip
    status, _, errors = serve(f"--manifest={sharded.manifest}", f"--address=127.0.0.1:{port}")
    assert (status, errors) == (
        1, f"error: there is no cluster of Ray at 127.0.0.1:{port}: Connection refused\n",
    )  # fmt: skip


@pytest.mark.slow
def test_ctrl_c_leaves_no_process(sharded):
    with Server(sharded.manifest, "--num_nodes=2") as server:
        below = descendants(server.process.pid)
        assert server.stop(signal.SIGINT) == (0, "stopped\n", "")
        until(lambda: not running(below))


@pytest.mark.slow
def test_bench(sharded, tmp_path):
    output = tmp_path / "serve.json"
    status, shown, errors = serve(
        f"--manifest={sharded.manifest}",
        "--num_nodes=2",
        "--deadline_ms=2000",
        "--bench",
        "--seconds=1",
        f"--port={free_port()}",
        f"--output={output}",
    )
    assert (status, errors) == (0, "")
    assert f"wrote {output}" in shown
    report = json.loads(output.read_text())
    assert (report["num_nodes"], report["num_shards"]) == (2, 4)
    for row, clients in zip(report["rows"], (1, 4), strict=True):
        latency = row["latency_ms"]
        assert row["clients"] == clients and row["requests"] == latency["count"] > 0
        assert 0 < latency["p50"] <= latency["p90"] <= latency["p99"]
        assert (row["complete"], row["unanswered"]) == (1, 0)


@pytest.mark.slow
def test_machines_of_a_cluster_are_lost_and_come_back(sharded, monkeypatch):
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    from ray.cluster_utils import Cluster

    memory = {"object_store_memory": 100 * 2**20}
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, **memory})
    try:
        machine = cluster.add_node(num_cpus=2, **memory)
        with Server(
            sharded.manifest, "--num_nodes=4", "--deadline_ms=1000", f"--address={cluster.address}"
        ) as server:
            server.wait_for_all()
            cluster.remove_node(machine)
            for _ in range(5):
                status, content = server.classify()
                assert status == 200 and len(content["groups"]) == 2
            cluster.add_node(num_cpus=2, **memory)
            server.wait_for_all()
            assert server.stop(signal.SIGTERM)[0] == 143
        with socket.create_connection(cluster.address.rsplit(":", 1), timeout=5):
            pass  # the cluster goes on
    finally:
        cluster.shutdown()


@pytest.mark.slow
def test_a_cluster_that_happens_to_run_is_left_alone(sharded, monkeypatch):
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    from ray.cluster_utils import Cluster

    cluster = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 1, "object_store_memory": 100 * 2**20}
    )
    try:
        with Server(sharded.manifest, "--num_nodes=2", "--deadline_ms=2000") as server:
            server.wait_for_all()
            assert server.classify()[0] == 200
            assert server.stop(signal.SIGINT) == (0, "stopped\n", "")
        with socket.create_connection(cluster.address.rsplit(":", 1), timeout=5):
            pass  # the cluster goes on
    finally:
        cluster.shutdown()

"""How `python -m export.serve` ends: by Ctrl-C and on bad input; and what it does on a cluster."""

import contextlib
import gc
import signal
import socket
import sys
import warnings

import pytest

pytest.importorskip("ray")

import export.serving
from export import serve
from hsvit_runtime.errors import FileError, InputError, MissingPackageError
from tests.command_line.in_process import call
from tests.export.serving.server import Server, until
from tests.processes import descendants, listening, running, status_of_metrics

pytestmark = [pytest.mark.tensorflow, pytest.mark.once]


@pytest.mark.slow
def test_without_ray(sharded, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    for name in ("cluster", "engine"):
        monkeypatch.delitem(sys.modules, f"export.serving.{name}", raising=False)
        monkeypatch.delattr(export.serving, name, raising=False)
    message = r"^serving needs Ray and uvicorn \(.*\): pip install 'hsvit-keras\[horizontal\]'$"
    with pytest.raises(MissingPackageError, match=message):
        call(serve, f"--manifest={sharded.manifest}")


@pytest.mark.slow
@pytest.mark.usefixtures("engine")
def test_too_many_nodes(sharded):
    with pytest.raises(InputError, match="num_nodes has to be from 1 to 4, the shards; received 5"):
        call(serve, f"--manifest={sharded.manifest}", "--num_nodes=5")


@pytest.mark.usefixtures("engine")
def test_a_port_in_use_and_no_cluster(sharded):
    manifest = f"--manifest={sharded.manifest}"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        message = rf"^cannot listen on 127\.0\.0\.1, port {port}: Address already in use$"
        with pytest.raises(FileError, match=message):
            call(serve, manifest, f"--port={port}")
    message = rf"^there is no cluster of Ray at 127\.0\.0\.1:{port}: Connection refused$"
    with pytest.raises(FileError, match=message):
        call(serve, manifest, f"--address=127.0.0.1:{port}")


@pytest.mark.usefixtures("engine")
def test_other_machines_need_a_token(sharded, tmp_path):
    token = tmp_path / "token"
    token.write_text("short")
    token.chmod(0o600)
    manifest, host = f"--manifest={sharded.manifest}", "--host=0.0.0.0"
    with pytest.raises(InputError, match=r"^--host=0\.0\.0\.0 lets other machines ask: give a --token_file"):
        call(serve, manifest, host)
    with pytest.raises(InputError, match=r"token has to hold one token of at least 16 printable ASCII"):
        call(serve, manifest, host, f"--token_file={token}")


@pytest.mark.slow
def test_ctrl_c_leaves_no_process(sharded):
    with Server(sharded.manifest, "--num_nodes=2") as server:
        below = descendants(server.process.pid)
        assert {address for address, _ in listening([server.process.pid, *below])} == {"127.0.0.1"}
        assert {status_of_metrics(port) for _, port in listening(below)} <= {401, None}  # Ray's
        assert server.stop(signal.SIGINT) == (0, "stopped\n", "")
        until(lambda: not running(below))


@pytest.fixture
def make_cluster(monkeypatch):
    """Makes a cluster of Ray in this process, which ends with the test."""
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    from ray.cluster_utils import Cluster

    with contextlib.ExitStack() as stack:

        def make(**head):
            cluster = Cluster(initialize_head=True, head_node_args=head)
            stack.callback(cluster.shutdown)
            return cluster

        yield make
    with warnings.catch_warnings(action="ignore", category=ResourceWarning):
        gc.collect()  # sockets by which Ray looked for a port, and which it leaves open


@pytest.mark.slow
def test_machines_of_a_cluster_are_lost_and_come_back(sharded, make_cluster):
    memory = {"object_store_memory": 100 * 2**20}
    cluster = make_cluster(num_cpus=2, **memory)
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


@pytest.mark.slow
def test_a_cluster_that_happens_to_run_is_left_alone(sharded, make_cluster):
    cluster = make_cluster(num_cpus=1, object_store_memory=100 * 2**20)
    with Server(sharded.manifest, "--num_nodes=2", "--deadline_ms=2000") as server:
        server.wait_for_all()
        assert server.classify()[0] == 200
        assert server.stop(signal.SIGINT) == (0, "stopped\n", "")
    with socket.create_connection(cluster.address.rsplit(":", 1), timeout=5):
        pass  # the cluster goes on

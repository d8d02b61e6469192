"""The command for real: nodes are killed and stopped under load, and every request gets its answer."""

import concurrent.futures
import contextlib
import http.client
import io
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from PIL import Image

pytest.importorskip("ray")

pytestmark = [pytest.mark.tensorflow, pytest.mark.once]
ALL_GROUPS = [0, 1, 2, 3]
PATIENCE = 60.0  # seconds; for processes to start on a busy machine


class Server:
    """`python -m export.serve` with four nodes, until the end of the context; then none of it is left."""

    def __init__(self, manifest, *options):
        self.port = free_port()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "export.serve", f"--manifest={manifest}", f"--port={self.port}", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def __enter__(self):
        self.lines = [self.process.stdout.readline(), self.process.stdout.readline()]
        if "serving at" not in self.lines[1]:
            self.__exit__()
            raise AssertionError(self.process.stderr.read())
        return self

    def __exit__(self, *_):
        left = descendants(self.process.pid)
        self.stop(signal.SIGKILL)
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def stop(self, number):
        """Sends a signal; returns (status, standard output, standard error)."""
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(number)
        output, errors = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, output, errors

    def request(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        with contextlib.closing(connection):
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            return response.status, json.loads(response.read())

    def classify(self):
        return self.request("POST", "/classify", PICTURE, {"Content-Type": "image/png"})

    def health(self):
        return self.request("GET", "/health")[1]

    def pids(self):
        return [node.get("pid") for node in self.health()["nodes"]]

    def wait_for_all(self):
        until(lambda: self.health()["status"] == "ok")

    @contextlib.contextmanager
    def load(self, clients=2):
        """Sends requests all the time; yields the list that (status, content) of each is added to."""
        answers, over = [], threading.Event()

        def send():
            while not over.is_set():
                answers.append(self.classify())

        with concurrent.futures.ThreadPoolExecutor(clients) as pool:
            futures = [pool.submit(send) for _ in range(clients)]
            try:
                yield answers
            finally:
                over.set()
        for future in futures:
            future.result()  # raises if a request got no answer


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.1)


def descendants(pid):
    """The processes below one."""
    parents = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
    below = [pid]
    for parent in below:
        below += [child for child, its in parents.items() if its == parent]
    return below[1:]


def running(pids):
    """Those that still run; what has ended and was not yet waited for does not."""
    states = {}
    for pid in pids:
        with contextlib.suppress(OSError):
            states[pid] = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return [pid for pid, state in states.items() if state not in "ZX"]


def _png():
    content = io.BytesIO()
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (16, 16), "uint8")).save(content, "PNG")
    return content.getvalue()


PICTURE = _png()


@pytest.fixture(scope="module")
def server(sharded):
    with Server(sharded.manifest, "--num_nodes=4", "--deadline_ms=1000") as server:
        yield server
        below = descendants(server.process.pid)
        status, output, errors = server.stop(signal.SIGTERM)
        assert (status, output, errors) == (143, "", "")
        assert len(below) > 5
        until(lambda: not running(below))


def test_answers(server):
    assert "serving at http://127.0.0.1" in server.lines[1]
    status, content = server.classify()
    assert (status, content["groups"], content["nodes"]["answered"]) == (200, ALL_GROUPS, [0, 1, 2, 3])
    assert server.request("GET", "/classify")[0] == 405
    assert server.request("POST", "/classify", b"x" * 2**24, {"Content-Type": "image/png"})[0] == 413
    assert len(set(server.pids())) == 4


@pytest.mark.parametrize("killed", [1, 2, 3])
def test_killed_under_load(server, killed):
    server.wait_for_all()
    pids = server.pids()
    with server.load() as answers:
        until(lambda: answers and answers[-1][1].get("groups") == ALL_GROUPS)
        for pid in pids[:killed]:
            os.kill(pid, signal.SIGKILL)
        server.wait_for_all()
        # Those that were lost have come back.
        until(lambda: answers[-1][1].get("groups") == ALL_GROUPS)
    assert {status for status, _ in answers} == {200}
    groups = [content["groups"] for _, content in answers]
    assert ALL_GROUPS[killed:] in groups  # the others went on
    after = server.pids()
    assert after[killed:] == pids[killed:] and not set(after[:killed]) & set(pids)


def test_all_killed(server):
    server.wait_for_all()
    for pid in server.pids():
        os.kill(pid, signal.SIGKILL)
    status, content = server.classify()
    assert status == 503
    assert content["error"].startswith("none of the 4 nodes answered within 1000 ms")
    until(lambda: server.classify()[0] == 200)
    server.wait_for_all()


def test_a_node_that_stands_still_is_left_out(server):
    server.wait_for_all()
    stopped = server.pids()[2]
    os.kill(stopped, signal.SIGSTOP)
    try:
        _, first = server.classify()
        _, second = server.classify()
    finally:
        os.kill(stopped, signal.SIGCONT)
    for content in (first, second):
        assert (content["groups"], content["nodes"]["late"]) == ([0, 1, 3], [2])
    assert first["timings_ms"]["nodes"] >= 1000 > second["timings_ms"]["nodes"]  # not waited for again
    server.wait_for_all()
    assert server.pids()[2] == stopped
    assert server.classify()[1]["groups"] == ALL_GROUPS

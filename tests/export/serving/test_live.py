"""The command for real: nodes are killed and stopped under load, and every request gets a response."""

import contextlib
import json
import os
import signal

import pytest

pytest.importorskip("ray")

from export import serve
from tests.command_line.in_process import call
from tests.export.serving.server import Server, until
from tests.processes import descendants, running

pytestmark = [pytest.mark.tensorflow, pytest.mark.once, pytest.mark.slow]
ALL_GROUPS = [0, 1, 2, 3]


@pytest.fixture(scope="module")
def server(sharded):
    # Long enough for nodes that share two cores with those that start again.
    with Server(sharded.manifest, "--num_nodes=4", "--deadline_ms=3000") as server:
        yield server
        below = descendants(server.process.pid)
        status, output, errors = server.stop(signal.SIGTERM)
        assert (status, output, errors) == (143, "", "")
        assert len(below) > 5
        until(lambda: not running(below))


def test_requests(server):
    assert "serving at http://127.0.0.1" in server.lines[1]
    status, content = server.classify()
    assert (status, content["groups"], content["nodes"]["answered"]) == (200, ALL_GROUPS, [0, 1, 2, 3])
    assert server.request("GET", "/classify")[0] == 405
    assert server.request("POST", "/classify", b"x" * 2**24, {"Content-Type": "image/png"})[0] == 413
    assert len(set(server.pids())) == 4
    until(lambda: len(server.log) > 3)
    first = json.loads(server.log[0])
    assert (first["path"], first["status"], first["nodes"]) == ("/classify", 200, [0, 1, 2, 3])


def test_bench(server, engine, sharded, tmp_path, monkeypatch, capsys):
    server.wait_for_all()
    monkeypatch.setattr(engine, "running", lambda *_, **__: contextlib.nullcontext((server.url, None)))
    output = tmp_path / "serve.json"
    options = ["--num_nodes=4", "--deadline_ms=1000", "--bench", "--seconds=0.5", f"--output={output}"]
    call(serve, f"--manifest={sharded.manifest}", *options)
    assert f"wrote {output}" in capsys.readouterr().out
    report = json.loads(output.read_text())
    assert (report["num_nodes"], report["num_shards"]) == (4, 4)
    for row, clients in zip(report["rows"], (1, 4), strict=True):
        latency = row["latency_ms"]
        assert row["clients"] == clients and row["requests"] == latency["count"] > 0
        assert 0 < latency["p50"] <= latency["p90"] <= latency["p99"]
        assert (row["complete"], row["unanswered"]) == (1, 0)


@pytest.mark.parametrize("killed", [1, 2, 3])
def test_killed_under_load(server, killed):
    server.wait_for_all()
    pids = server.pids()
    with server.load() as responses:
        until(lambda: responses and responses[-1][1].get("groups") == ALL_GROUPS)
        for pid in pids[:killed]:
            os.kill(pid, signal.SIGKILL)
        server.wait_for_all()
        # The lost nodes are back.
        until(lambda: responses[-1][1].get("groups") == ALL_GROUPS)
    refused = [content for status, content in responses if status != 200]
    assert not refused, refused[:3]
    groups = [set(content["groups"]) for _, content in responses]
    assert all(answered.issuperset(ALL_GROUPS[killed:]) for answered in groups)  # the others went on
    assert any(len(answered) < len(ALL_GROUPS) for answered in groups)
    after = server.pids()
    assert after[killed:] == pids[killed:] and not set(after[:killed]) & set(pids)


def test_all_killed(server):
    server.wait_for_all()
    for pid in server.pids():
        os.kill(pid, signal.SIGKILL)
    status, content = server.classify()
    assert status == 503
    assert content["error"].startswith("none of the 4 nodes answered within 3000 ms")
    until(lambda: server.classify()[0] == 200)
    server.wait_for_all()


def test_a_stopped_node_is_left_out(server):
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
    assert first["timings_ms"]["nodes"] >= 3000 > second["timings_ms"]["nodes"]  # not waited for again
    server.wait_for_all()
    assert server.pids()[2] == stopped
    assert server.classify()[1]["groups"] == ALL_GROUPS

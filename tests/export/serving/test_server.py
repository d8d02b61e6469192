"""Who may ask, what is counted and logged, and where the service listens."""

import contextlib
import http.client
import io
import json
import os
import socket
import threading
import time

import pytest

pytest.importorskip("ray")
pytest.importorskip("uvicorn")
pytest.importorskip("ai_edge_litert")

from prometheus_client import parser

from export.serving import access, request_log, server
from export.serving.metrics import Metrics
from hsvit_runtime.errors import FileError, InputError, MissingFileError
from tests.export.serving.local_service import png, request, running, status
from tests.export.serving.server import until

pytestmark = pytest.mark.once
TOKEN = "0123456789abcdef"


@pytest.fixture(scope="module")
def guarded():
    with running(token=TOKEN) as service:
        yield service


@pytest.mark.parametrize(
    "given", [None, "", TOKEN, f"Basic {TOKEN}", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", "Bearer \xff"]
)
@pytest.mark.parametrize("path", ["/classify", "/health", "/metrics", "/nothing"])
def test_others_are_refused(guarded, given, path):
    headers = {} if given is None else {"Authorization": given}
    response = guarded.send(request("GET", path, **headers))
    assert status(response) == 401 and b"www-authenticate: Bearer" in response


def test_who_knows_the_token(guarded):
    known = {"Authorization": f"Bearer {TOKEN}"}
    response = guarded.classify(**known)
    assert status(response) == 200 and b'"name":"cat"' in response
    assert status(guarded.send(request("GET", "/health", **known))) == 200
    assert status(guarded.send(request("GET", "/healthz"))) == 200  # says no more than ok
    twice = request("GET", "/health", **known).replace(b"Host", b"Authorization: Bearer no\r\nHost")
    assert status(guarded.send(twice)) == 401


def test_a_token_file(tmp_path):
    path = tmp_path / "token"
    with pytest.raises(MissingFileError, match="there is no token"):
        access.read_token(path)
    path.write_text(f"{TOKEN}\n")
    path.chmod(0o644)
    with pytest.raises(FileError, match=r"^others may read the token in .*: chmod 600 .*token$"):
        access.read_token(path)
    path.chmod(0o600)
    assert access.read_token(path) == TOKEN
    for content in (b"", b"short", b"two words of a long token", "t\u00f6ken".encode() * 9, b"\0" * 20):
        path.write_bytes(content)
        with pytest.raises(InputError, match="has to hold one token of at least 16 printable ASCII"):
            access.read_token(path)
    os.mkfifo(tmp_path / "pipe", 0o600)
    with pytest.raises(FileError, match="it is no ordinary file"):
        access.read_token(tmp_path / "pipe")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7"])
def test_other_machines_need_a_token(host):
    with pytest.raises(InputError, match=f"^--host={host} lets other machines ask: give a --token_file"):
        access.check(host, None)
    access.check(host, TOKEN)


def test_this_machine_needs_none():
    for host in ("127.0.0.1", "127.3.2.1", "localhost", "::1"):
        access.check(host, None)
    for host in ("no.such.name.invalid", "a" * 100):
        with pytest.raises(FileError, match="there is no such address"):
            access.check(host, None)


def test_metrics():
    with running(num_nodes=3) as service:
        service.service._nodes._handles[1].lost = True
        for _ in range(2):
            assert status(service.classify()) == 200
        service.classify(b"nonsense")
        service.send(request("GET", "/some/path"))
        text = service.send(request("GET", "/metrics"))
    head, _, body = text.partition(b"\r\n\r\n")
    assert b"content-type: text/plain; version=0.0.4; charset=utf-8" in head
    found = {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in parser.text_string_to_metric_families(body.decode())
        for sample in family.samples
    }
    assert found["hsvit_requests_total", "/classify", "200"] == 2
    assert found["hsvit_requests_total", "/classify", "400"] == 1
    assert found["hsvit_requests_total", "404", "other"] == 1
    assert found["hsvit_request_seconds_count", "/classify"] == 3
    assert 0 < found["hsvit_request_seconds_sum", "/classify"] < 60
    assert found["hsvit_node_calls_total", "arrived"] == 4
    assert found["hsvit_node_calls_total", "lost"] == found["hsvit_incomplete_total",] == 2
    assert found["hsvit_connections",] == found["hsvit_requests_under_way",] == 1
    assert found["process_resident_memory_bytes",] > 1e6


def test_healthz():
    with running() as service:
        handles = service.service._nodes._handles
        for lost, expected, word in ((0, 200, b"ok"), (1, 200, b"degraded"), (2, 503, b"down")):
            for node in range(lost):
                handles[node].lost = True
            response = service.send(request("GET", "/healthz"))
            assert status(response) == expected and response.endswith(b"\r\n\r\n" + word + b"\n")


def test_log():
    with running() as service:
        service.classify()
        service.send(request("GET", "/a%0Ab" + "c" * 500))
        service.send(b"nonsense\r\n\r\n")
        with service.connect() as connection:
            connection.sendall(request("POST", "/classify", png())[:-10])
        until(lambda: service.log.getvalue().count("\n") == 4)
    lines = [json.loads(line) for line in service.log.getvalue().splitlines()]
    classified, missing, invalid, gone = lines
    assert set(classified) == {
        *(
            "time",
            "level",
            "event",
            "client",
            "method",
            "path",
            "status",
            "bytes",
            "ms",
            "nodes",
            "late",
            "lost",
        )
    }
    assert (classified["status"], classified["bytes"], classified["nodes"]) == (200, len(png()), [0, 1])
    assert missing["status"] == 404 and missing["path"] == ("/a\nb" + "c" * 500)[:200]
    assert (invalid["level"], invalid["event"]) == ("warning", "Invalid HTTP request received.")
    assert gone["status"] is None


def test_a_log_that_nobody_reads_does_not_stop_the_service():
    class Stuck(io.StringIO):
        def write(self, _):
            released.wait(20)

    released, metrics = threading.Event(), Metrics()
    with contextlib.ExitStack() as stack:
        stack.callback(released.set)
        with request_log.written(metrics, stream=Stuck()):
            for _ in range(1100):
                request_log.requests.info("request")
            # 1000 wait, and one is being written, if the writer has begun.
            assert metrics.log_lines_dropped._value.get() in (99, 100)
            released.set()


def test_a_port_is_ours_from_the_start():
    with contextlib.closing(server.listener("127.0.0.1", 0)) as sock:
        port = sock.getsockname()[1]
        assert server.url(sock) == f"http://127.0.0.1:{port}"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(FileError, match=rf"^cannot listen on 127\.0\.0\.1, port {port}: Address already"):
            server.listener("127.0.0.1", port)
    with pytest.raises(FileError, match=r"^cannot listen on 192\.0\.2\.77, port 0: "):
        server.listener("192.0.2.77", 0)


def test_responses_do_not_wait_for_acknowledgements():
    """By Nagle's algorithm each response on a connection that stays open would take 40 ms."""
    taken = []
    with running() as service:
        client = http.client.HTTPConnection("127.0.0.1", service.port, timeout=20)
        with contextlib.closing(client):
            for _ in range(6):
                start = time.monotonic()
                client.request("POST", "/classify", png(), {"Content-Type": "image/png"})
                assert client.getresponse().read()
                taken.append(time.monotonic() - start)
    assert min(taken[1:]) < 0.03

"""Clients that send slowly, too much, too often or nonsense are bounded, and others get their answers."""

import collections
import contextlib
import re
import socket
import time

import pytest

pytest.importorskip("ray")
pytest.importorskip("uvicorn")
pytest.importorskip("ai_edge_litert")

from prometheus_client import parser

from tests.export.serving.local_service import at_once, png, read, request, running, status

pytestmark = pytest.mark.once
HEAD = b"POST /classify HTTP/1.1\r\nHost: here\r\nContent-Type: image/png\r\n"
PROMPT = 2.0  # seconds, within which a valid request is answered on a busy machine, whatever others do


@pytest.fixture(scope="module")
def service():
    """One service for all that needs no other limits."""
    with running() as it:
        yield it


def is_answered(service):
    """Whether a valid request gets its classes, promptly."""
    start = time.perf_counter()
    response = service.classify()
    return status(response) == 200 and b'"name":"cat"' in response and time.perf_counter() - start < PROMPT


def metrics(service):
    """dict from a metric's name and labels, as in `hsvit_requests_total{path="/health"}`, to its value."""
    text = service.send(request("GET", "/metrics")).partition(b"\r\n\r\n")[2].decode()
    return {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in parser.text_string_to_metric_families(text)
        for sample in family.samples
    }


def wait_for(condition):
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"", marks=pytest.mark.slow),
        pytest.param(b"P", marks=pytest.mark.slow),
        b"POST /classify HTTP/1.1\r\nHost: he",
    ],
)
def test_slow_headers(sent):
    """However many: a valid request comes first, and those that send nothing are ended."""
    with running(connections=20, header_seconds=0.6) as service, contextlib.ExitStack() as stack:
        idle = [stack.enter_context(service.connect()) for _ in range(60)]
        for connection in idle:
            with contextlib.suppress(ConnectionError):
                connection.sendall(sent)
        assert is_answered(service)
        start = time.monotonic()
        assert [read(connection) for connection in idle] == [b""] * 60
        assert time.monotonic() - start < 5
        found = metrics(service)
        crowded, slow = (found["hsvit_connections_ended_total", reason] for reason in ("crowded", "slow"))
        assert crowded >= 40 and crowded + slow == 60
        assert found["hsvit_connections",] == 1


def test_headers_that_trickle():
    """Bytes that come are no progress: the time for the headers does not begin anew."""
    with running(header_seconds=0.5, idle_seconds=5) as service, service.connect() as connection:
        start = time.monotonic()
        with pytest.raises(ConnectionError):
            while time.monotonic() - start < 10:
                connection.sendall(b"P")
                time.sleep(0.05)
        assert time.monotonic() - start < 5


def test_slow_bodies():
    with running(connections=20, body_seconds=0.6) as service, contextlib.ExitStack() as stack:
        slow = [stack.enter_context(service.connect()) for _ in range(15)]
        for connection in slow:
            connection.sendall(HEAD + b"Connection: close\r\nContent-Length: 1000\r\n\r\n" + bytes(500))
        assert is_answered(service)
        responses = [read(connection) for connection in slow]
        assert [status(response) for response in responses] == [408] * 15
        assert b"the body did not arrive within 0.6 s" in responses[0]
        wait_for(lambda: metrics(service)["hsvit_body_bytes",] == 0)


def test_bodies_that_fill_the_memory():
    """The body that is unfinished for longest has to go."""
    with running(bodies_bytes=100_000, body_seconds=20) as service, contextlib.ExitStack() as stack:
        slow = [stack.enter_context(service.connect()) for _ in range(4)]
        for connection in slow:
            connection.sendall(HEAD + b"Connection: close\r\nContent-Length: 60000\r\n\r\n" + bytes(30_000))
        response = read(slow[0])
        assert status(response) == 503 and b"retry-after: 1" in response
        assert is_answered(service)
        assert metrics(service)["hsvit_body_bytes",] == 90_000
        for connection in slow[1:]:
            connection.sendall(bytes(30_000))
            assert status(read(connection)) in (400, 503)  # it is no image


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        pytest.param(HEAD + b"Content-Length: 10485761\r\n\r\n", 413, id="said to be large"),
        pytest.param(HEAD + b"Content-Length: 99999999999999999999\r\n\r\n", 413, id="said to be huge"),
        pytest.param(HEAD + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n", 400, id="a size of 5000 digits"),
        pytest.param(HEAD + b"Content-Length: -1\r\n\r\n", 400, id="a negative size"),
        pytest.param(HEAD + b"Content-Length: 1e3\r\n\r\n", 400, id="a size that is no integer"),
        pytest.param(HEAD + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc", 400, id="two sizes"),
        pytest.param(HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400, id="a chunk without a size"),
        pytest.param(
            HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"0" * 70_000, 400, id="a size line of 70 kB"
        ),
        pytest.param(HEAD + b"Transfer-Encoding: gzip\r\n\r\n", 400, id="another encoding"),
        pytest.param(HEAD + b"X: " + b"x" * 100_000, 400, id="a header of 100 kB"),
        pytest.param(HEAD + b"".join(b"X%d: 1\r\n" % i for i in range(20_000)), 400, id="20,000 headers"),
        pytest.param(b"GET /" + b"x" * 100_000, 400, id="a path of 100 kB"),
        pytest.param(bytes(1000), 400, id="zeros"),
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(300), 400, id="TLS"),
        pytest.param(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 404, id="HTTP/2"),
        pytest.param(b"POST /classify HTTP/1.1\r\n\r\n", 400, id="no host"),
        pytest.param(request("GET", "/classify"), 405, id="another method"),
        pytest.param(request("BREW", "/health"), 405, id="an unknown method"),
        pytest.param(request("GET", "/../../etc/passwd"), 404, id="a path upwards"),
        pytest.param(request("GET", "/%00%ff%0a" + "a" * 9000), 404, id="a path of nonsense"),
        pytest.param(request("POST", "/classify", b"x", Content_Type="text/html"), 415, id="a page"),
        pytest.param(request("POST", "/classify", b"x", Content_Type="x" * 9000), 415, id="a long type"),
        pytest.param(request("POST", "/classify"), 400, id="an empty body"),
        pytest.param(request("POST", "/classify", bytes(9000)), 400, id="zeros as an image"),
        pytest.param(
            request("GET", "/health", Connection="Upgrade", Upgrade="websocket"), 200, id="a web socket"
        ),
    ],
)
def test_refusals(service, sent, expected):
    with service.connect() as connection:
        with contextlib.suppress(ConnectionError):
            connection.sendall(sent)
        answer = connection.recv(2**16)
    assert status(answer) == expected
    assert len(answer) < 1000
    assert is_answered(service)


def test_a_body_without_end(service):
    """Chunks are read until they are too much; then there is an answer."""
    chunk = b"100000\r\n" + bytes(2**20) + b"\r\n"
    with service.connect() as connection:
        connection.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
        for _ in range(11):
            connection.sendall(chunk)
        assert status(connection.recv(2**16)) == 413
    assert is_answered(service)


def test_expectations_are_refused_before_the_body_is_sent(service):
    with service.connect() as connection:
        connection.sendall(HEAD + b"Content-Length: 99999999\r\nExpect: 100-continue\r\n\r\n")
        assert connection.recv(2**16).startswith(b"HTTP/1.1 413")
    with service.connect() as connection:
        image = png()
        connection.sendall(
            HEAD + b"Connection: close\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(image)
        )
        assert connection.recv(2**16).startswith(b"HTTP/1.1 100 ")
        connection.sendall(image)
        assert status(read(connection)) == 200


def test_pipelined_requests_are_answered_in_order(service):
    paths = ["/health", "/nothing", "/healthz"] * 20
    sent = b"".join(request("GET", path, close=False) for path in paths) + request("GET", "/metrics")
    statuses = re.findall(rb"HTTP/1.1 (\d+) ", service.send(sent))
    assert statuses == [b"200", b"404", b"200"] * 20 + [b"200"]


@pytest.mark.slow
def test_answers_that_are_not_read():
    with running(unread_seconds=0.5) as service, socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(0.2)
        connection.connect(("127.0.0.1", service.port))
        with contextlib.suppress(TimeoutError, ConnectionError):  # the server stops reading
            while True:
                connection.sendall(request("GET", "/metrics", close=False) * 100)
        assert is_answered(service)
        wait_for(lambda: metrics(service).get(("hsvit_connections_ended_total", "unread")) == 1)
        assert metrics(service)["hsvit_connections",] == 1


def test_connections_that_are_half_closed_or_reset(service):
    for content in (b"", HEAD, HEAD + b"Content-Length: 50\r\n\r\nabc", request("GET", "/health")):
        for end in ("half", "reset"):
            with service.connect() as connection:
                connection.sendall(content)
                if end == "half":
                    connection.shutdown(1)
                    read(connection)
    wait_for(lambda: metrics(service)["hsvit_connections",] == 1)
    assert metrics(service)["hsvit_requests_under_way",] == 1  # the question itself
    assert is_answered(service)


def test_more_images_than_can_be_at_work():
    with running(delay=0.4, at_work=1, queue_seconds=0.6) as service:
        statuses = sorted(map(status, at_once([service.classify] * 4)))
    assert statuses[0] == 200 and statuses[-1] == 503


@pytest.mark.slow
def test_a_client_that_left_is_not_worked_for():
    with running(delay=0.5, at_work=1) as service:
        for _ in range(5):
            with service.connect() as connection:
                connection.sendall(request("POST", "/classify", png()))
        assert is_answered(service) or is_answered(service)
        assert metrics(service)["hsvit_node_calls_total", "arrived"] <= 2 * 4
        wait_for(lambda: metrics(service)["hsvit_requests_under_way",] == 1)


def test_a_stop_waits_for_requests_under_way():
    with contextlib.ExitStack() as stack:
        with running(delay=0.8) as service:
            idle, waiting = (stack.enter_context(service.connect()) for _ in range(2))
            waiting.sendall(request("POST", "/classify", png(), close=False))
            wait_for(lambda: metrics(service)["hsvit_requests_under_way",] == 2)
        assert status(read(waiting)) == 200
        assert read(idle) == b""
        with pytest.raises(ConnectionRefusedError):
            service.connect()


@pytest.mark.slow
def test_a_stop_does_not_wait_for_ever():
    with contextlib.ExitStack() as stack:
        with running(body_seconds=30, drain_seconds=1) as service:
            slow = stack.enter_context(service.connect())
            slow.sendall(HEAD + b"Content-Length: 1000\r\n\r\n")
            wait_for(lambda: metrics(service)["hsvit_requests_under_way",] == 2)
            start = time.monotonic()
        assert 0.9 < time.monotonic() - start < 5


@pytest.mark.slow
def test_many_connections():
    """They end those before them, and a valid request in between is answered."""
    with running(connections=100) as service, contextlib.ExitStack() as stack:
        opened = collections.deque()
        for number in range(1000):
            opened.append(stack.enter_context(service.connect()))
            if len(opened) > 300:
                opened.popleft().close()
            if number % 100 == 99:
                assert is_answered(service)
        found = metrics(service)
        assert found["hsvit_connections",] <= 100
        assert found["hsvit_connections_ended_total", "crowded"] >= 200

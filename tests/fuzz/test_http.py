"""What clients send: bytes that are no HTTP, headers of any kind, bodies that are no pictures."""

import hypothesis
import pytest
from hypothesis import strategies as st

pytest.importorskip("ray")
pytest.importorskip("uvicorn")

from tests.export.serving.local_service import png, request, running, status
from tests.fuzz.checking import settings
from tests.fuzz.strategies import damaged

pytestmark = pytest.mark.once
STATUSES = {None, 100, 200, 400, 404, 405, 408, 413, 415, 503}
_PATHS = st.sampled_from(["/classify", "/health", "/healthz", "/metrics", "/", "*", "//x", "/%2e%2e", "x"])
_METHODS = st.sampled_from(["GET", "POST", "HEAD", "PUT", "OPTIONS", "TRACE", "CONNECT", "get", "X" * 99])
_HEADERS = st.dictionaries(
    st.sampled_from(
        (
            "Content-Type",
            "Content-Length",
            "Transfer-Encoding",
            "Host",
            "Connection",
            "Expect",
            "Upgrade",
            "X",
        )
    ),
    st.sampled_from(
        ["", "0", "5", "-1", "99999999", "chunked", "image/png", "close", "100-continue", "h2c", "é"]
    ),
    max_size=4,
)


@st.composite
def requests(draw):
    body = draw(st.one_of(damaged(png()), st.binary(max_size=200), st.just(png())))
    names = {name.replace("-", "_"): value for name, value in draw(_HEADERS).items()}
    return request(draw(_METHODS), draw(_PATHS), body, **names)


CONTENTS = st.one_of(
    requests(),
    damaged(request("POST", "/classify", png())),
    damaged(png()).map(lambda body: request("POST", "/classify", body)),
    st.binary(max_size=300),
)


@pytest.mark.parametrize("examples", [30, pytest.param(400, marks=pytest.mark.slow)])
def test_requests(examples):
    """Each gets an answer of a known status or none; then the service works as before, and holds nothing."""
    with running(header_seconds=0.1, body_seconds=0.1, idle_seconds=1) as service:

        @settings(examples)
        @hypothesis.given(content=CONTENTS)
        def run(content):
            assert status(service.send(content)) in STATUSES

        run()
        assert status(service.classify()) == 200
        assert b"\nhsvit_body_bytes 0.0\n" in service.send(request("GET", "/metrics"))
    assert "Exception" not in service.log.getvalue() and '"exception"' not in service.log.getvalue()

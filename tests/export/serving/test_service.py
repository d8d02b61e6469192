"""The service without Ray: right classes by the groups that arrived, clear refusals of bad requests."""

import asyncio
import io
import json

import keras
import numpy as np
import pytest
from PIL import Image

pytest.importorskip("ray")

from starlette.datastructures import Headers

from export.serving import manifest
from export.serving.limits import DEFAULTS
from export.serving.node import Node, spread
from export.serving.service import Service
from tests.export.serving.local_nodes import LocalNode

pytestmark = [pytest.mark.tensorflow, pytest.mark.once, pytest.mark.slow]
DEADLINE = 5.0
PIXELS = np.random.default_rng(0).integers(0, 256, (16, 16, 1), "uint8")


def png():
    content = io.BytesIO()
    Image.fromarray(PIXELS[..., 0]).save(content, "PNG")
    return content.getvalue()


@pytest.fixture
def handles(sharded):
    """Two nodes that hold two shards each."""
    model = manifest.read(sharded.manifest)
    return [LocalNode(Node([model.shards[i] for i in held], model.input_range)) for held in spread(4, 2)]


@pytest.fixture
def service(sharded, handles):
    return Service(manifest.read(sharded.manifest), handles, [(0, 1), (2, 3)], DEADLINE)


def send(service, method="POST", path="/classify", body=b"", kind="image/png"):
    """(status, content, headers) of the response; a body may be a list of chunks."""
    chunks = body if isinstance(body, list) else [body]
    messages = [{"type": "http.request", "body": chunk, "more_body": True} for chunk in chunks]
    messages[-1]["more_body"] = False
    waiting, sent = iter(messages), []

    async def receive():
        for message in waiting:
            return message
        await asyncio.sleep(60)  # the client waits for the response

    async def answer(message):
        sent.append(message)

    headers = [(b"content-type", kind.encode())] if kind else []
    scope = {"type": "http", "method": method, "path": path, "headers": headers, "query_string": b""}
    asyncio.run(service(scope, receive, answer))
    start, *rest = sent
    content = b"".join(message["body"] for message in rest)
    return start["status"], json.loads(content), Headers(raw=start["headers"])


def expected(sharded, groups):
    tokens = np.concatenate([sharded.parts[group](PIXELS[np.newaxis]) for group in groups], axis=1)
    return np.asarray(keras.ops.softmax(sharded.head(tokens)))[0]


def probabilities_of(content):
    assert [entry["probability"] for entry in content["classes"]] == sorted(
        (entry["probability"] for entry in content["classes"]), reverse=True
    )
    return {int(entry["name"]): entry["probability"] for entry in content["classes"]}


def assert_classes(content, probabilities):
    found = probabilities_of(content)
    assert len(found) == 5 and np.argmax(probabilities) == next(iter(found))
    np.testing.assert_allclose(list(found.values()), probabilities[list(found)], atol=1e-5)


def test_all_groups(service, sharded):
    status, content, _ = send(service, body=png())
    assert status == 200
    assert_classes(content, expected(sharded, range(4)))
    assert (content["groups"], content["num_groups"]) == ([0, 1, 2, 3], 4)
    assert content["nodes"] == {"answered": [0, 1], "late": [], "lost": []}
    timings = content["timings_ms"]
    assert 0 < timings["slowest_shards"] < timings["nodes"] < timings["total"]


@pytest.mark.parametrize("absence", ["late", "lost"])
def test_some_groups(service, handles, sharded, absence):
    handles[0].lost, handles[0].delay = absence == "lost", 2 * DEADLINE
    service._deadline = 0.5 if absence == "late" else DEADLINE
    status, content, _ = send(service, body=png())
    assert status == 200
    assert_classes(content, expected(sharded, [2, 3]))
    assert content["groups"] == [2, 3]
    assert content["nodes"] == {"answered": [1], "late": [], "lost": [], absence: [0]}


def test_no_groups(service, handles):
    for handle in handles:
        handle.lost = True
    status, content, headers = send(service, body=png())
    assert (status, headers["retry-after"]) == (503, "1")
    assert content == {
        "error": "none of the 2 nodes answered within 5000 ms (0 late, 2 lost); "
        "lost ones are restarted: try again",
        "nodes": {"answered": [], "late": [], "lost": [0, 1]},
    }
    handles[1].lost = False
    assert send(service, body=png())[1]["groups"] == [2, 3]


def test_a_body_in_pieces(service):
    content = png()
    assert send(service, body=[content[:50], content[50:51], content[51:]])[0] == 200


@pytest.mark.parametrize(
    ("request_", "status", "message"),
    [
        ({"path": "/"}, 404, "there is no /: POST an image to /classify, or GET /health"),
        ({"method": "GET"}, 405, "/classify takes POST, not GET"),
        ({"method": "DELETE", "path": "/health"}, 405, "/health takes GET, not DELETE"),
        ({"kind": "text/html"}, 415, "Content-Type has to be image/png or image/jpeg; received text/html"),
        ({"kind": ""}, 415, "received none"),
        ({}, 400, "the body is empty"),
        ({"body": b"GIF89a"}, 400, "the body is no PNG or JPEG image"),
        ({"body": [bytes(DEFAULTS.body_bytes), b"\0"]}, 413, "the body has more than 10,485,760 bytes"),
    ],
)
def test_refusals(service, handles, request_, status, message):
    received, content, headers = send(service, **request_)
    assert received == status
    assert message in content["error"]
    if status == 405:
        assert f"takes {headers['allow']}," in message
    assert [handle.calls for handle in handles] == [0, 0]


def test_reading_stops_where_a_body_is_too_large(service):
    status, *_ = send(service, body=[bytes(DEFAULTS.body_bytes + 1), AssertionError("read on")])
    assert status == 413


def test_health(service, handles):
    status, content, _ = send(service, "GET", "/health", kind="")
    assert (status, content["status"], content["nodes_up"]) == (200, "ok", 2)
    assert content["nodes"][1]["groups"] == [2, 3] and content["nodes"][1]["pid"] > 0
    handles[0].lost = True
    status, content, _ = send(service, "GET", "/health", kind="")
    assert (status, content["status"], content["groups_up"]) == (200, "degraded", [2, 3])
    assert content["nodes"][0] == {"node": 0, "state": "lost", "groups": [0, 1]}
    handles[1].lost = True
    status, content, _ = send(service, "GET", "/health", kind="")
    assert (status, content["status"], content["groups_up"]) == (503, "down", [])


def test_shards_are_spread_evenly():
    assert spread(5, 2) == [[0, 1, 2], [3, 4]]
    assert spread(3, 3) == [[0], [1], [2]]
    for num_nodes in (0, 4):
        with pytest.raises(
            ValueError, match=f"num_nodes has to be from 1 to 3, the shards; received {num_nodes}"
        ):
            spread(3, num_nodes)

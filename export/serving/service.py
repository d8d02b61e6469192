"""Requests over HTTP: `POST /classify` an image, `GET /health`; answers are JSON.

Every request gets an answer: of all groups, of those whose nodes answered before the deadline, or 503 if none
did.
"""

import asyncio
import time

import numpy as np
from starlette.responses import JSONResponse

from export.serving.asking import Nodes
from export.serving.joining import Head, probabilities
from export.serving.pictures import FORMATS, MAX_BYTES, RefusedError, decode

BEST = 5  # classes in an answer
HEALTH_DEADLINE = 1.0  # seconds


class Service:
    """Answers requests by asking nodes; a deployment of Ray Serve.

    Args:
        manifest: `manifest.Manifest`; its shards are not looked at.
        handles: list of handles of `node.Node`.
        groups: list with the groups of each node, in the order of its tokens.
        deadline: float, seconds that nodes have for an image.
    """

    def __init__(self, manifest, handles, groups, deadline):
        self._model, self._shape = manifest.model, manifest.input.shape
        self._num_groups, self._names = manifest.num_groups, manifest.class_names
        self._head, self._nodes = Head(manifest.head), Nodes(handles)
        self._groups, self._deadline = groups, deadline
        self._routes = {"/classify": ("POST", self._classify), "/health": ("GET", self._health)}

    async def __call__(self, request):
        """Answers one request: a `starlette.responses.Response` to a `starlette.requests.Request`."""
        path = request.url.path
        if path not in self._routes:
            return _error(404, f"there is no {path}: POST an image to /classify, or GET /health")
        method, handler = self._routes[path]
        if request.method != method:
            return _error(405, f"{path} takes {method}, not {request.method}", Allow=method)
        try:
            return await handler(request)
        except RefusedError as refusal:
            return _error(refusal.status, str(refusal))

    async def _classify(self, request):
        start = time.perf_counter()
        body = await _body(request)
        received = time.perf_counter()
        # In a thread: a large image would hold up all other requests.
        pixels = (await asyncio.to_thread(decode, body, self._shape[1:]))[np.newaxis]
        decoded = time.perf_counter()
        answers = await self._nodes.ask(lambda node: node.tokens.remote(pixels), self._deadline)
        absent = {"late": answers.late, "lost": answers.lost}
        if not answers.arrived:
            return self._unavailable(absent)
        tokens, node_ms = zip(*answers.arrived.values(), strict=True)
        chances = probabilities(self._head(np.concatenate(tokens)))
        end = time.perf_counter()
        return JSONResponse(
            {
                "classes": self._best(chances),
                "groups": self._groups_of(answers.arrived),
                "num_groups": self._num_groups,
                "nodes": {"answered": sorted(answers.arrived), **absent},
                "timings_ms": {
                    "receiving": 1e3 * (received - start),
                    "decoding": 1e3 * (decoded - received),
                    "nodes": 1e3 * (end - decoded),
                    "slowest_shards": max(node_ms),
                    "total": 1e3 * (end - start),
                },
            }
        )

    async def _health(self, _):
        answers = await self._nodes.ask(lambda node: node.whereabouts.remote(), HEALTH_DEADLINE)
        groups = self._groups_of(answers.arrived)
        states = {node: "late" if node in answers.late else "lost" for node in range(len(self._groups))}
        states |= dict.fromkeys(answers.arrived, "up")
        status = "down" if not groups else "degraded" if len(groups) < self._num_groups else "ok"
        report = {
            "status": status,
            "model": self._model,
            "nodes_up": len(answers.arrived),
            "groups_up": groups,
            "nodes": [
                {"node": node, "state": state, "groups": self._groups[node], **answers.arrived.get(node, {})}
                for node, state in states.items()
            ],
        }
        return JSONResponse(report, 200 if groups else 503)

    def _unavailable(self, absent):
        counts = ", ".join(f"{len(nodes)} {what}" for what, nodes in absent.items())
        message = (
            f"none of the {len(self._groups)} nodes answered within {1e3 * self._deadline:g} ms ({counts}); "
            "lost ones are restarted: try again"
        )
        return _error(503, message, nodes={"answered": [], **absent}, **{"Retry-After": "1"})

    def _best(self, chances):
        best = np.argsort(-chances)[:BEST].tolist()
        names = self._names or [str(label) for label in range(len(chances))]
        return [{"name": names[label], "probability": float(chances[label])} for label in best]

    def _groups_of(self, nodes):
        return sorted(group for node in nodes for group in self._groups[node])


async def _body(request):
    """The body of a request, given up as soon as it is too large.

    Raises:
        RefusedError: it is no image by its type, too large, or empty.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in FORMATS:
        raise RefusedError(
            415, f"the header Content-Type has to be {' or '.join(FORMATS)}; received {kind or 'none'}"
        )
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BYTES:
            raise RefusedError(413, f"the body has more than {MAX_BYTES:,} bytes")
    if not body:
        raise RefusedError(400, "the body is empty: send the bytes of a PNG or JPEG image")
    return bytes(body)


def _error(status, message, nodes=None, **headers):
    content = {"error": message} | ({"nodes": nodes} if nodes else {})
    return JSONResponse(content, status, headers)

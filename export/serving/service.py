"""The HTTP service: `POST /classify` an image, `GET /health`; responses are JSON.

Every request gets a response: the classes by all groups, by those whose nodes met the deadline, or status 503
if none did.
"""

import asyncio
import time

import numpy as np
from starlette.responses import JSONResponse

from export.serving.head import Head, softmax
from export.serving.node_group import NodeGroup
from export.serving.uploads import FORMATS, MAX_BYTES, RefusedError, decode

TOP = 5  # classes in a response
HEALTH_DEADLINE = 1.0  # seconds


class Service:
    """Handles requests by calling nodes; a deployment of Ray Serve.

    Args:
        manifest: `manifest.Manifest`; its shards are not used.
        handles: list of handles of `node.Node`.
        groups: list with the groups of each node, in the order of its tokens.
        deadline: float, seconds to wait for the nodes, for each image.
    """

    def __init__(self, manifest, handles, groups, deadline):
        self._model, self._image_shape = manifest.model, manifest.image_shape
        self._num_groups, self._class_names = manifest.num_groups, manifest.class_names
        self._head, self._nodes = Head(manifest.head), NodeGroup(handles)
        self._groups, self._deadline = groups, deadline
        self._routes = {"/classify": ("POST", self._classify), "/health": ("GET", self._health)}

    async def __call__(self, request):
        """The `starlette.responses.Response` to a `starlette.requests.Request`."""
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
        # In a thread: decoding a large image would delay all other requests.
        pixels = (await asyncio.to_thread(decode, body, self._image_shape))[np.newaxis]
        decoded = time.perf_counter()
        results = await self._nodes.call(lambda node: node.tokens.remote(pixels), self._deadline)
        missing = {"late": results.late, "lost": results.lost}
        if not results.arrived:
            return self._unavailable(missing)
        tokens, node_ms = zip(*results.arrived.values(), strict=True)
        probabilities = softmax(self._head(np.concatenate(tokens)))
        end = time.perf_counter()
        return JSONResponse(
            {
                "classes": self._top_classes(probabilities),
                "groups": self._groups_of(results.arrived),
                "num_groups": self._num_groups,
                "nodes": {"answered": sorted(results.arrived), **missing},
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
        results = await self._nodes.call(lambda node: node.location.remote(), HEALTH_DEADLINE)
        groups = self._groups_of(results.arrived)
        states = dict.fromkeys(results.arrived, "up")
        states |= dict.fromkeys(results.late, "late") | dict.fromkeys(results.lost, "lost")
        status = "down" if not groups else "degraded" if len(groups) < self._num_groups else "ok"
        report = {
            "status": status,
            "model": self._model,
            "nodes_up": len(results.arrived),
            "groups_up": groups,
            "nodes": [
                {"node": node, "state": state, "groups": self._groups[node], **results.arrived.get(node, {})}
                for node, state in sorted(states.items())
            ],
        }
        return JSONResponse(report, 200 if groups else 503)

    def _unavailable(self, missing):
        counts = ", ".join(f"{len(nodes)} {state}" for state, nodes in missing.items())
        message = (
            f"none of the {len(self._groups)} nodes answered within {1e3 * self._deadline:g} ms ({counts}); "
            "lost ones are restarted: try again"
        )
        return _error(503, message, nodes={"answered": [], **missing}, **{"Retry-After": "1"})

    def _top_classes(self, probabilities):
        names = self._class_names or [str(label) for label in range(len(probabilities))]
        top = np.argsort(-probabilities)[:TOP].tolist()
        return [{"name": names[label], "probability": float(probabilities[label])} for label in top]

    def _groups_of(self, nodes):
        return sorted(group for node in nodes for group in self._groups[node])


async def _body(request):
    """The body of a request; reading stops as soon as it is too large.

    Raises:
        RefusedError: its type is no image's, or it is too large or empty.
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

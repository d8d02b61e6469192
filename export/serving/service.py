"""The HTTP service: `POST /classify` an image, `GET /health`, `/healthz` and `/metrics`.

Every request gets a response: the classes by all groups, by those whose nodes met the deadline, or status 503
if none did.
"""

import asyncio
import concurrent.futures
import time

import numpy as np
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from export.serving import metrics
from export.serving.bodies import Bodies
from export.serving.head import Head, softmax
from export.serving.limits import DEFAULTS
from export.serving.node_group import NodeGroup
from export.serving.uploads import RefusedError, decode

TOP = 5  # classes in a response
HEALTH_DEADLINE = 1.0  # seconds


class Service:
    """Handles requests by calling nodes; an ASGI application.

    Args:
        manifest: `manifest.Manifest`; its shards are not used.
        handles: list of handles of `node.Node`.
        groups: list with the groups of each node, in the order of its tokens.
        deadline: float, seconds to wait for the nodes, for each image.
        limits: `limits.Limits`.

    Attributes:
        limits: as given.
        metrics: `metrics.Metrics`.
        routes: dict from a path to its method and function.
    """

    def __init__(self, manifest, handles, groups, deadline, limits=DEFAULTS):
        self._model, self._image_shape = manifest.model, manifest.image_shape
        self._num_groups, self._class_names = manifest.num_groups, manifest.class_names
        self._head, self._nodes = Head(manifest.head), NodeGroup(handles)
        self._groups, self._deadline, self.limits = groups, deadline, limits
        self.metrics = metrics.Metrics()
        self._bodies = Bodies(limits, self.metrics)
        # Threads: decoding a large image would delay all other requests.
        self._decoders = concurrent.futures.ThreadPoolExecutor(limits.decoders)
        self._at_work = asyncio.Semaphore(limits.at_work)
        self._locating = None
        self.routes = {
            "/classify": ("POST", self._classify),
            "/health": ("GET", self._health),
            "/healthz": ("GET", self._healthz),
            "/metrics": ("GET", self._metrics),
        }

    async def __call__(self, scope, receive, send):
        request = Request(scope, receive)
        try:
            response = await self._response(request)
        except ClientDisconnect:
            return
        await response(scope, receive, send)

    async def _response(self, request):
        path = request.scope["path"]
        if path not in self.routes:
            return _error(404, f"there is no {path[:100]}: POST an image to /classify, or GET /health")
        method, handler = self.routes[path]
        if request.method != method:
            return _error(405, f"{path} takes {method}, not {request.method[:20]}", Allow=method)
        try:
            return await handler(request)
        except RefusedError as refusal:
            retry = {"Retry-After": "1"} if refusal.status == 503 else {}
            return _error(refusal.status, str(refusal), **retry)

    async def _classify(self, request):
        start = time.perf_counter()
        async with self._bodies.received(request) as body:
            received = time.perf_counter()
            await self._queue()
            try:
                if await request.is_disconnected():
                    raise ClientDisconnect
                return await self._answer(request, body, start, received)
            finally:
                self._at_work.release()

    async def _queue(self):
        """Waits until there are less than `limits.at_work` requests at work, and becomes one of them."""
        try:
            async with asyncio.timeout(self.limits.queue_seconds):
                await self._at_work.acquire()
        except TimeoutError:
            raise RefusedError(503, "too many images are at work: try again") from None

    async def _answer(self, request, body, start, received):
        decoded_image = asyncio.get_running_loop().run_in_executor(
            self._decoders, decode, body, self._image_shape, self.limits.pixels
        )
        pixels = (await decoded_image)[np.newaxis]
        decoded = time.perf_counter()
        results = await self._nodes.call(lambda node: node.tokens.remote(pixels), self._deadline)
        missing = {"late": results.late, "lost": results.lost}
        for result, nodes in ({"arrived": results.arrived} | missing).items():
            self.metrics.node_calls.labels(result).inc(len(nodes))
        request.scope.setdefault("fields", {}).update(nodes=sorted(results.arrived), **missing)
        if not results.arrived:
            return self._unavailable(missing)
        if len(results.arrived) < len(self._groups):
            self.metrics.incomplete.inc()
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
        results = await self._locate()
        states = dict.fromkeys(results.arrived, "up")
        states |= dict.fromkeys(results.late, "late") | dict.fromkeys(results.lost, "lost")
        groups = self._groups_of(results.arrived)
        report = {
            "status": self._status(results),
            "model": self._model,
            "nodes_up": len(results.arrived),
            "groups_up": groups,
            "nodes": [
                {"node": node, "state": state, "groups": self._groups[node], **results.arrived.get(node, {})}
                for node, state in sorted(states.items())
            ],
        }
        return JSONResponse(report, 200 if groups else 503)

    async def _healthz(self, _):
        results = await self._locate()
        return PlainTextResponse(f"{self._status(results)}\n", 200 if results.arrived else 503)

    async def _metrics(self, _):
        return Response(self.metrics.text(), media_type=metrics.CONTENT_TYPE)

    async def _locate(self):
        """The nodes' locations; who asks while another does gets the same, so that nodes are not flooded."""
        if self._locating is None or self._locating.done():
            call = self._nodes.call(lambda node: node.location.remote(), HEALTH_DEADLINE)
            self._locating = asyncio.ensure_future(call)
        return await asyncio.shield(self._locating)

    def _status(self, results):
        groups = self._groups_of(results.arrived)
        return "down" if not groups else "degraded" if len(groups) < self._num_groups else "ok"

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


def _error(status, message, nodes=None, **headers):
    content = {"error": message} | ({"nodes": nodes} if nodes else {})
    return JSONResponse(content, status, headers)

"""Receives the bodies of requests: each in limited time, all in limited memory."""

import asyncio
import contextlib

from export.serving.uploads import FORMATS, RefusedError

_NOW = 0.0  # by the event loop's clock


class Bodies:
    """The bodies that are in memory.

    Args:
        limits: `limits.Limits`.
        metrics: `metrics.Metrics`.
    """

    def __init__(self, limits, metrics):
        self._limits, self._metrics = limits, metrics
        self._bytes = 0
        self._unfinished = []  # timeouts of the bodies that are being received, the oldest first

    @contextlib.asynccontextmanager
    async def received(self, request):
        """Yields the body of a `starlette.requests.Request`, which counts as in memory in this context.

        Raises:
            RefusedError: it is of no image's type, empty, too large or too slow; or all bodies together are
                too large, and it is the one that has been unfinished for longest.
        """
        _check_headers(request, self._limits.body_bytes)
        body = bytearray()
        try:
            await self._receive(request, body)
            if not body:
                raise RefusedError(400, "the body is empty: send the bytes of a PNG or JPEG image")
            yield body
        finally:
            self._add(-len(body))

    async def _receive(self, request, body):
        timeout = asyncio.timeout(self._limits.body_seconds)
        self._unfinished.append(timeout)
        try:
            async with timeout:
                async for chunk in request.stream():
                    body += chunk
                    self._add(len(chunk))
                    if len(body) > self._limits.body_bytes:
                        raise _too_large(self._limits.body_bytes)
                    if self._bytes > self._limits.bodies_bytes:
                        self._unfinished[0].reschedule(_NOW)
        except TimeoutError:
            raise self._ended(timeout) from None
        finally:
            self._unfinished.remove(timeout)

    def _ended(self, timeout):
        """The refusal of a body that a timeout ended."""
        if timeout.when() == _NOW:
            self._metrics.bodies_ended.labels("crowded").inc()
            return RefusedError(503, "too many images are being sent at once: try again")
        self._metrics.bodies_ended.labels("slow").inc()
        return RefusedError(408, f"the body did not arrive within {self._limits.body_seconds:g} s")

    def _add(self, number):
        self._bytes += number
        self._metrics.body_bytes.set(self._bytes)


def _check_headers(request, most):
    """Refuses a request before anything of its body is read."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in FORMATS:
        raise RefusedError(
            415, f"the header Content-Type has to be {' or '.join(FORMATS)}; received {kind[:100] or 'none'}"
        )
    if int(request.headers.get("content-length", 0)) > most:  # the server has checked that it is a number
        raise _too_large(most)


def _too_large(most):
    return RefusedError(413, f"the body has more than {most:,} bytes")

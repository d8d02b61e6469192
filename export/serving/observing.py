"""Counts and logs every request of an ASGI application."""

import time

from export.serving import request_log


def observed(app, metrics, paths):
    """An ASGI application that does what `app` does.

    Args:
        app: ASGI application.
        metrics: `metrics.Metrics`.
        paths: the paths that are counted by their names.
    """

    async def application(scope, receive, send):
        start, seen = time.perf_counter(), {"status": None, "bytes": 0}

        async def receive_and_count():
            message = await receive()
            seen["bytes"] += len(message.get("body", b""))
            return message

        async def send_and_note(message):
            seen["status"] = message.get("status", seen["status"])
            await send(message)

        scope["fields"] = {}  # what the application adds to the line
        try:
            with metrics.under_way.track_inprogress():
                await app(scope, receive_and_count, send_and_note)
        finally:
            seconds = time.perf_counter() - start
            path = scope["path"] if scope["path"] in paths else "other"
            metrics.requests.labels(path, seen["status"] or "gone").inc()
            metrics.seconds.labels(path).observe(seconds)
            fields = {
                "client": (scope.get("client") or [None])[0],
                "method": scope["method"],
                "path": scope["path"],
                **seen,
                "ms": round(1e3 * seconds, 3),
                **scope["fields"],
            }
            request_log.requests.info("request", extra={"fields": fields})

    return application

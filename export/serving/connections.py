"""What uvicorn leaves unlimited: the number of connections, and how slowly a client sends or reads."""

from uvicorn.protocols.http.h11_impl import H11Protocol


def bounded(limits, metrics):
    """The protocol of a connection, for uvicorn's option `http`.

    Args:
        limits: `limits.Limits`.
        metrics: `metrics.Metrics`, which counts the connections that a limit ends.

    Returns:
        A subclass of uvicorn's `H11Protocol`.
    """

    class BoundedProtocol(H11Protocol):
        """A connection that is ended when its client takes too long, or when it is one too many."""

        _headers_timer = _unread_timer = None

        @property
        def is_unfinished(self):
            """Whether there is no request that has arrived wholly and is not answered yet."""
            return self._is_idle or self.cycle.more_body

        @property
        def _is_idle(self):
            """Whether there is no request whose headers have arrived and that is not answered yet."""
            return self.cycle is None or self.cycle.response_complete

        def connection_made(self, transport):
            super().connection_made(transport)
            self._await_headers()
            metrics.connections.set(len(self.connections))
            if len(self.connections) > limits.connections:
                others = [each for each in self.connections if each is not self and each.is_unfinished]
                min(others, key=lambda each: each.waits_since, default=self).end("crowded")

        def connection_lost(self, exc):
            _stop(self._headers_timer)
            _stop(self._unread_timer)
            super().connection_lost(exc)
            metrics.connections.set(len(self.connections))

        def data_received(self, data):
            super().data_received(data)
            if not self._is_idle:
                _stop(self._headers_timer)

        def on_response_complete(self):
            self._await_headers()
            super().on_response_complete()  # which begins the next request, if its headers are there already
            if not self._is_idle:
                _stop(self._headers_timer)

        def pause_writing(self):
            super().pause_writing()
            self._unread_timer = self.loop.call_later(limits.unread_seconds, self.end, "unread")

        def resume_writing(self):
            super().resume_writing()
            _stop(self._unread_timer)

        def end(self, reason):
            """Ends the connection at once, whatever waits to be sent."""
            metrics.connections_ended.labels(reason).inc()
            self.connections.discard(self)
            self.transport.abort()

        def _await_headers(self):
            self.waits_since = self.loop.time()
            _stop(self._headers_timer)
            self._headers_timer = self.loop.call_later(limits.header_seconds, self.end, "slow")

    return BoundedProtocol


def _stop(timer):
    if timer is not None:
        timer.cancel()

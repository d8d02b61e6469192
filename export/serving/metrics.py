"""Counters of the service, in the form of Prometheus."""

from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4 as CONTENT_TYPE
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

__all__ = ["CONTENT_TYPE", "Metrics"]
_SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)


class Metrics:
    """The metrics of one service, and of its process.

    Attributes:
        requests: by `path` and `status`. Paths that the service does not have count as "other", clients that
            left before their response as status "gone".
        seconds: by `path`, from a request's headers to the end of its response.
        under_way: requests now.
        connections: connections now.
        connections_ended: by `reason`: "slow", "unread" or "crowded", see `connections`.
        body_bytes: of bodies in memory now.
        bodies_ended: by `reason`: "slow" or "crowded".
        node_calls: by `result`: "arrived", "late" or "lost".
        incomplete: answers by some of the groups.
        log_lines_dropped: lines that the log could not take.
    """

    def __init__(self):
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        make = {"registry": self._registry, "namespace": "hsvit"}
        self.requests = Counter("requests", "Responses.", ["path", "status"], **make)
        self.seconds = Histogram(
            "request_seconds", "Time to the end of a response.", ["path"], buckets=_SECONDS, **make
        )
        self.under_way = Gauge("requests_under_way", "Requests that are not answered yet.", **make)
        self.connections = Gauge("connections", "Open connections.", **make)
        self.connections_ended = Counter(
            "connections_ended", "Connections that a limit ended.", ["reason"], **make
        )
        self.body_bytes = Gauge("body_bytes", "Bytes of bodies in memory.", **make)
        self.bodies_ended = Counter("bodies_ended", "Bodies that a limit ended.", ["reason"], **make)
        self.node_calls = Counter("node_calls", "Calls of nodes for an image.", ["result"], **make)
        self.incomplete = Counter("incomplete", "Answers by some of the groups.", **make)
        self.log_lines_dropped = Counter("log_lines_dropped", "Lines that the log could not take.", **make)

    def text(self):
        """All of them, as `GET /metrics` gives them; bytes."""
        return generate_latest(self._registry)

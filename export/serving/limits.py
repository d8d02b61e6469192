"""What clients may cost the service: connections, seconds and bytes; docs/horizontal.md explains them."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Limits:
    """Limits of the service, so that no client keeps others from their answers.

    Attributes:
        connections: int, open at once. One more ends the one that has sent no whole request for longest.
        header_bytes: int, of a request's line and headers.
        header_seconds: float, from the start of a connection or the last response to the end of the headers.
        idle_seconds: int, without a byte between a response and the next request.
        body_seconds: float, to send a body.
        body_bytes: int, of a body.
        bodies_bytes: int, of all bodies in memory. One more ends the body that is unfinished for longest.
        pixels: int, of an image.
        decoders: int, images that are decoded at once.
        at_work: int, requests that are decoded or at the nodes.
        queue_seconds: float, for which a request waits to be among those.
        unread_seconds: float, for which a client may leave a response unread.
        drain_seconds: int, for requests under way when the service stops.
    """

    connections: int = 512
    header_bytes: int = 16 * 2**10
    header_seconds: float = 10.0
    idle_seconds: int = 5
    body_seconds: float = 10.0
    body_bytes: int = 10 * 2**20
    bodies_bytes: int = 128 * 2**20
    pixels: int = 25_000_000
    decoders: int = 2
    at_work: int = 32
    queue_seconds: float = 10.0
    unread_seconds: float = 10.0
    drain_seconds: int = 20


DEFAULTS = Limits()

"""The service on a port, by uvicorn: within limits, guarded, observed, and drained at its end."""

import contextlib
import socket
import threading
import time

import uvicorn

from export.serving import access, connections, observing, request_log
from hsvit_runtime.errors import FileError

_BACKLOG = 128  # connections that the system keeps until they are accepted


def listener(host, port):
    """A socket that has an address for itself, and is not listened on yet.

    Raises:
        FileError: it is not free, or none of this machine's.
    """
    try:
        (family, kind, protocol, _, address), *_ = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        # Only for sockets that say that they are TCP does asyncio switch off Nagle's algorithm, by which the
        # body of a response would wait 40 ms for the client to acknowledge the headers.
        sock = socket.socket(family, kind, protocol)
    except OSError as error:
        raise FileError(f"cannot listen on {host}, port {port}: {error.strerror}") from error
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind(address)
    except OSError as error:
        sock.close()
        raise FileError(f"cannot listen on {host}, port {port}: {error.strerror}") from error
    return sock


def url(sock):
    """The URL of a `listener`."""
    host, port = sock.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


@contextlib.contextmanager
def running(service, sock, *, token=None, log_requests=True, log=None):
    """Answers requests while the context is open; at its end those under way get their responses first.

    Args:
        service: `service.Service`.
        sock: a `listener`.
        token: str, that clients have to know; None for none.
        log_requests: bool, whether each request is logged.
        log: text stream, for the log; standard error by default.

    Yields:
        str, the service's URL.
    """
    metrics, limits = service.metrics, service.limits
    app = observing.observed(access.guarded(service, token), metrics, service.routes)
    config = uvicorn.Config(
        app,
        http=connections.bounded(limits, metrics),
        ws="none",
        lifespan="off",
        loop="asyncio",
        interface="asgi3",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        backlog=_BACKLOG,
        h11_max_incomplete_event_size=limits.header_bytes,
        timeout_keep_alive=limits.idle_seconds,
        timeout_graceful_shutdown=limits.drain_seconds,
    )
    server, address = uvicorn.Server(config), url(sock)
    with request_log.written(metrics, log_requests, log):
        thread = threading.Thread(target=server.run, args=([sock],), daemon=True)
        thread.start()
        try:
            while not server.started and thread.is_alive():
                time.sleep(0.01)
            yield address
        finally:
            server.should_exit = True
            thread.join()

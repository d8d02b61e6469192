"""The service without Ray and without a trained model: its nodes are objects of this process."""

import contextlib
import dataclasses
import io
import socket
import threading

import numpy as np
from PIL import Image

from export.serving import server
from export.serving.limits import DEFAULTS
from export.serving.manifest import Manifest
from export.serving.service import Service
from tests.export.serving.local_nodes import LocalNode
from tests.runtime.litert.builder import Builder

CLASSES = ("ant", "bee", "cat")
IMAGE_SHAPE = (8, 8, 1)
_PATIENCE = 20.0  # seconds


class Bright:
    """A node of one group, whose token says which third of the brightness an image is of."""

    def tokens(self, pixels):
        return np.eye(3, dtype="float32")[[min(int(pixels.mean() / 86), 2)]] * 9, 1.0

    def location(self):
        return {"host": "here", "pid": 1}


def service(num_nodes=2, deadline=5.0, delay=0.0, **limits):
    """A `Service` of nodes of one group each; `limits` replace the defaults."""
    builder = Builder()
    token, logits = builder.tensor((1, 1, 3)), builder.tensor((1, 3))
    builder.op("RESHAPE", [token, builder.constant([1, 3], "int32")], [logits])
    manifest = Manifest(
        model="bright",
        preset="float32",
        class_names=CLASSES,
        data_set=None,
        num_groups=num_nodes,
        image_shape=IMAGE_SHAPE,
        input_range=(0.0, 255.0),
        groups=tuple((node,) for node in range(num_nodes)),
        shards=(),
        head=builder.content([token], [logits]),
    )
    handles = [LocalNode(Bright(), delay) for _ in range(num_nodes)]
    return Service(manifest, handles, manifest.groups, deadline, dataclasses.replace(DEFAULTS, **limits))


class Running:
    """A running service; `with running(...) as it`."""

    def __init__(self, service, port, log):
        self.service, self.port, self.log = service, port, log

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=_PATIENCE)

    def send(self, content):
        """Sends bytes over a connection of their own; returns the bytes that come back until its end."""
        with self.connect() as connection:
            with contextlib.suppress(ConnectionError):  # a server that refuses does not read on
                connection.sendall(content)
            return read(connection)

    def classify(self, body=None, **headers):
        return self.send(request("POST", "/classify", png() if body is None else body, **headers))


@contextlib.contextmanager
def running(num_nodes=2, *, token=None, deadline=5.0, delay=0.0, **limits):
    served, log = service(num_nodes, deadline, delay, **limits), io.StringIO()
    with (
        contextlib.closing(server.listener("127.0.0.1", 0)) as sock,
        server.running(served, sock, token=token, log=log) as url,
    ):
        yield Running(served, int(url.rpartition(":")[2]), log)


def request(method, path, body=b"", close=True, **headers):
    """The bytes of a request, after which the server closes the connection."""
    headers = {
        "Host": "here",
        "Content-Type": "image/png",
        "Content-Length": len(body),
        **({"Connection": "close"} if close else {}),
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode() + body


def read(connection):
    """What a connection gives until it ends, in whatever way."""
    content = b""
    with contextlib.suppress(ConnectionError):
        while received := connection.recv(2**16):
            content += received
    return content


def status(response):
    """The status of a response's bytes; None where there is none."""
    return int(response.split(b" ", 2)[1]) if response else None


def png(brightness=200, size=IMAGE_SHAPE[:2]):
    content = io.BytesIO()
    Image.fromarray(np.full(size, brightness, "uint8")).save(content, "PNG")
    return content.getvalue()


def at_once(functions):
    """The results of functions that threads call side by side."""
    results = [None] * len(functions)

    def run(number):
        results[number] = functions[number]()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(functions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(_PATIENCE)
    return results

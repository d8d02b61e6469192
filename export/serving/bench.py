"""Latency and throughput of the service, measured by its clients over HTTP."""

import http.client
import io
import itertools
import json
import threading
import time
import urllib.parse

import numpy as np
from PIL import Image

from command_line import tables
from hsvit_runtime.errors import InputError
from measuring import latency_statistics

CLIENTS = (1, 4)
WARMUP = 10  # requests


def measure(url, image_shape, seconds, token=None):
    """Sends the same image again and again, over connections that stay open.

    Args:
        url: str, of the service.
        image_shape: (height, width, channels) of the image to send.
        seconds: float, how long each number of clients sends.
        token: str, of the service; None if it asks for none.

    Returns:
        list with a dict for each number of clients:

        `clients`, `requests`: int
        `per_second`: float, responses with classes
        `latency_ms`: dict of `latency_statistics.summarize`, of the responses with classes
        `complete`: float, the share of requests that got the classes by all groups
        `unanswered`: float, the share of requests that got status 503, since no node met the deadline
        `samples`: dict of lists, ms, an entry for each response with classes. `latency_ms` is what the client
            measured. `service_ms` is the part of it within the service, `nodes_ms` the part of that from
            calling the nodes to the probabilities, and `shards_ms` the part of that in which the slowest node
            ran its shards.

    Raises:
        InputError: the service refuses the image, or no node ever meets the deadline.
    """
    image = _image_file(image_shape)
    headers = {"Content-Type": "image/png"} | ({"Authorization": f"Bearer {token}"} if token else {})
    _send_for(url, image, headers, requests=WARMUP)
    rows = []
    for clients in CLIENTS:
        start, received = time.perf_counter(), [[] for _ in range(clients)]
        threads = [
            threading.Thread(target=_send_for, args=(url, image, headers, responses, seconds))
            for responses in received
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        elapsed = time.perf_counter() - start
        rows.append(_row(clients, list(itertools.chain.from_iterable(received)), elapsed))
    return rows


def _send_for(url, image, headers, responses=None, seconds=0.0, requests=1):
    """Sends requests one after another; appends (status, ms, content) of each response."""
    place = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=60)
    end = time.perf_counter() + seconds
    while requests > 0 or time.perf_counter() < end:
        start = time.perf_counter()
        connection.request("POST", "/classify", image, headers)
        response = connection.getresponse()
        body = response.read()
        ms = 1e3 * (time.perf_counter() - start)
        requests -= 1
        if responses is not None:
            responses.append((response.status, ms, json.loads(body)))
    connection.close()


def _row(clients, responses, elapsed):
    statuses = [status for status, *_ in responses]
    if wrong := set(statuses) - {200, 503}:
        raise InputError(f"the service answered with HTTP status {sorted(wrong)}")
    classified = [(ms, content) for status, ms, content in responses if status == 200]
    if not classified:
        raise InputError("no node met the deadline, ever: allow more by --deadline_ms")
    latencies, contents = zip(*classified, strict=True)
    complete = [len(content["groups"]) == content["num_groups"] for content in contents]
    return {
        "clients": clients,
        "requests": len(responses),
        "per_second": len(classified) / elapsed,
        "latency_ms": latency_statistics.summarize(latencies),
        "complete": sum(complete) / len(responses),
        "unanswered": statuses.count(503) / len(responses),
        "samples": {
            "latency_ms": list(latencies),
            "service_ms": [content["timings_ms"]["total"] for content in contents],
            "nodes_ms": [content["timings_ms"]["nodes"] for content in contents],
            "shards_ms": [content["timings_ms"]["slowest_shards"] for content in contents],
        },
    }


def _image_file(image_shape):
    """A PNG file of noise."""
    pixels = np.random.default_rng(0).integers(0, 256, image_shape, "uint8")
    file = io.BytesIO()
    Image.fromarray(pixels[..., 0] if image_shape[-1] == 1 else pixels).save(file, "PNG")
    return file.getvalue()


def table(rows):
    """The rows of `measure` as text."""
    return tables.table(
        ["clients", "per second", "p50 ms", "p90 ms", "p99 ms", "all groups", "none"],
        [
            [
                row["clients"],
                f"{row['per_second']:.1f}",
                *(f"{row['latency_ms'][percentile]:.2f}" for percentile in ("p50", "p90", "p99")),
                f"{row['complete']:.1%}",
                f"{row['unanswered']:.1%}",
            ]
            for row in rows
        ],
    )

"""How long answers take and how many come in a second, as clients of the service see it."""

import http.client
import io
import json
import threading
import time
import urllib.parse

import numpy as np
from PIL import Image

from hsvit_runtime.errors import InputError
from measuring import latency_statistics

CLIENTS = (1, 4)
WARMUP = 10  # requests


def measure(url, image_shape, seconds):
    """Sends the same image again and again, over connections that stay open.

    Args:
        url: str, of the service.
        image_shape: (height, width, channels) of the image to send.
        seconds: float, how long each number of clients sends.

    Returns:
        list with a dict for each number of clients: `clients`, `requests`; `per_second` and `latency_ms`, see
        `latency_statistics.summarize`, of those that got classes; `complete`, the share that had all groups;
        `unanswered`, the share that no node answered in time; and `samples`, a dict of lists of ms of those
        that got classes: `latency_ms`, of which `service_ms` is the service's, of which `nodes_ms` is from
        asking the nodes to the joined answer, of which `shards_ms` is what the slowest node needed for its
        shards.

    Raises:
        ValueError: the service refuses the image, or no node ever answers in time.
    """
    picture = _picture(image_shape)
    _send_for(url, picture, requests=WARMUP)
    rows = []
    for clients in CLIENTS:
        start, sent = time.perf_counter(), [[] for _ in range(clients)]
        threads = [
            threading.Thread(target=_send_for, args=(url, picture, answers, seconds)) for answers in sent
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        elapsed = time.perf_counter() - start
        rows.append(_row(clients, [answer for answers in sent for answer in answers], elapsed))
    return rows


def _send_for(url, picture, answers=None, seconds=0.0, requests=1):
    """Sends requests one after another; adds (status, ms, the answer's content) of each."""
    place = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=60)
    end = time.perf_counter() + seconds
    while requests > 0 or time.perf_counter() < end:
        start = time.perf_counter()
        connection.request("POST", "/classify", picture, {"Content-Type": "image/png"})
        response = connection.getresponse()
        body = response.read()
        ms = 1e3 * (time.perf_counter() - start)
        requests -= 1
        if answers is not None:
            answers.append((response.status, ms, json.loads(body)))
    connection.close()


def _row(clients, answers, elapsed):
    statuses = [status for status, *_ in answers]
    if wrong := set(statuses) - {200, 503}:
        raise InputError(f"the service answered with HTTP status {sorted(wrong)}")
    classified = [(ms, content) for status, ms, content in answers if status == 200]
    if not classified:
        raise InputError("no node answered in time, ever: allow more by --deadline_ms")
    latencies, contents = zip(*classified, strict=True)
    complete = [len(content["groups"]) == content["num_groups"] for content in contents]
    return {
        "clients": clients,
        "requests": len(answers),
        "per_second": len(classified) / elapsed,
        "latency_ms": latency_statistics.summarize(latencies),
        "complete": sum(complete) / len(answers),
        "unanswered": statuses.count(503) / len(answers),
        "samples": {
            "latency_ms": list(latencies),
            "service_ms": [content["timings_ms"]["total"] for content in contents],
            "nodes_ms": [content["timings_ms"]["nodes"] for content in contents],
            "shards_ms": [content["timings_ms"]["slowest_shards"] for content in contents],
        },
    }


def _picture(image_shape):
    """A PNG file of noise."""
    pixels = np.random.default_rng(0).integers(0, 256, image_shape, "uint8")
    file = io.BytesIO()
    Image.fromarray(pixels[..., 0] if image_shape[-1] == 1 else pixels).save(file, "PNG")
    return file.getvalue()


def table(rows):
    """The rows in lines."""
    columns = {
        "clients": 7,
        "answers/s": 9,
        "p50 ms": 8,
        "p90 ms": 8,
        "p99 ms": 8,
        "all groups": 10,
        "none": 6,
    }
    lines = [" ".join(f"{title:>{width}}" for title, width in columns.items())]
    for row in rows:
        latency = row["latency_ms"]
        lines.append(
            f"{row['clients']:7} {row['per_second']:9.1f} {latency['p50']:8.2f} {latency['p90']:8.2f} "
            f"{latency['p99']:8.2f} {row['complete']:10.1%} {row['unanswered']:6.1%}"
        )
    return "\n".join(lines)

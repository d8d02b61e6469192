"""The command `export.serve` as a process with Ray's processes below it."""

import concurrent.futures
import contextlib
import http.client
import io
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import numpy as np
from PIL import Image

from tests.processes import descendants

PATIENCE = 60.0  # seconds; for processes to start on a busy machine


class Server:
    """`python -m export.serve` with four nodes, until the end of the context; then none of it is left."""

    def __init__(self, manifest, *options):
        self.port = free_port()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "export.serve", f"--manifest={manifest}", f"--port={self.port}", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.log = []
        self._reader = threading.Thread(target=self._read_log, daemon=True)
        self._reader.start()

    def __enter__(self):
        self.lines = [self.process.stdout.readline(), self.process.stdout.readline()]
        if "serving at" not in self.lines[1]:
            self.__exit__()
            raise AssertionError("".join(self.log))
        return self

    def __exit__(self, *_):
        left = descendants(self.process.pid)
        if not self.process.stdout.closed:  # else a test has stopped it
            self.stop(signal.SIGKILL)
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def stop(self, number):
        """Sends a signal; returns (status, standard output, lines of standard error that are no log)."""
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(number)
        with self.process.stdout, self.process.stderr:
            output = self.process.stdout.read()
            self._reader.join(PATIENCE)
        self.process.wait(PATIENCE)
        others = "".join(line for line in self.log if not line.startswith('{"time": '))
        return self.process.returncode, output, others

    def _read_log(self):
        self.log.extend(self.process.stderr)

    def request(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        with contextlib.closing(connection):
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            return response.status, json.loads(response.read())

    def classify(self):
        return self.request("POST", "/classify", IMAGE_FILE, {"Content-Type": "image/png"})

    def health(self):
        return self.request("GET", "/health")[1]

    def pids(self):
        return [node.get("pid") for node in self.health()["nodes"]]

    def wait_for_all(self):
        until(lambda: self.health()["status"] == "ok")

    @contextlib.contextmanager
    def load(self, clients=2):
        """Sends requests all the time; yields a growing list of (status, content) of the responses."""
        responses, stopped = [], threading.Event()

        def send():
            while not stopped.is_set():
                responses.append(self.classify())

        with concurrent.futures.ThreadPoolExecutor(clients) as pool:
            futures = [pool.submit(send) for _ in range(clients)]
            try:
                yield responses
            finally:
                stopped.set()
        for future in futures:
            future.result()  # raises if a request got no response


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.1)


def _png():
    content = io.BytesIO()
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (16, 16), "uint8")).save(content, "PNG")
    return content.getvalue()


IMAGE_FILE = _png()

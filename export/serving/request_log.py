"""A log of requests: one JSON object a line, written by a thread of its own.

A reader of the log that stops reading must not stop the service: lines that find the queue full are counted
and dropped.
"""

import contextlib
import datetime
import json
import logging
import logging.handlers
import queue
import sys
import threading

_QUEUE = 1000  # lines
_PATIENCE = 2.0  # seconds, for the last lines to be written
_LONGEST = 200  # characters of a text that a client sent
requests = logging.getLogger("hsvit.requests")


@contextlib.contextmanager
def written(metrics, with_requests=True, stream=None):
    """Writes the log of the service and of uvicorn while the context is open.

    Args:
        metrics: `metrics.Metrics`, which counts dropped lines.
        with_requests: bool, whether there is a line for each request.
        stream: text stream; standard error by default.
    """
    lines = queue.Queue(_QUEUE)
    writer = threading.Thread(target=_write, args=(lines, stream or sys.stderr), daemon=True)
    writer.start()
    handler = _ToQueue(lines, metrics)
    loggers = [logging.getLogger("uvicorn"), requests]
    for logger in loggers:
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.WARNING)
    if with_requests:
        requests.setLevel(logging.INFO)
    try:
        yield
    finally:
        for logger in loggers:
            logger.handlers, logger.propagate = [], True
        with contextlib.suppress(queue.Full):
            lines.put(None, timeout=_PATIENCE)
        writer.join(_PATIENCE)


class _ToQueue(logging.handlers.QueueHandler):
    def __init__(self, lines, metrics):
        super().__init__(lines)
        self._metrics = metrics

    def prepare(self, record):
        return _line(record)

    def enqueue(self, line):
        try:
            self.queue.put_nowait(line)
        except queue.Full:
            self._metrics.log_lines_dropped.inc()


def _line(record):
    """A record as JSON: `time`, `level`, `event`, and what it was logged with."""
    content = {
        "time": datetime.datetime.fromtimestamp(record.created, datetime.UTC).isoformat("T", "milliseconds"),
        "level": record.levelname.lower(),
        "event": record.getMessage().strip(),
        **getattr(record, "fields", {}),
    }
    if record.exc_info and record.exc_info[1] is not None:
        content["exception"] = logging.Formatter().formatException(record.exc_info)
    return json.dumps({key: value[:_LONGEST] if key == "path" else value for key, value in content.items()})


def _write(lines, stream):
    while (line := lines.get()) is not None:
        with contextlib.suppress(OSError, ValueError):  # closed by its reader
            print(line, file=stream, flush=True)

"""Numbers for TensorBoard, in its own file format, written without TensorFlow."""

import pathlib
import socket
import time


class EventFile:
    """A new event file, complete after each call.

    Args:
        folder: existing folder, for TensorBoard's `--logdir`.
    """

    def __init__(self, folder):
        self._path = pathlib.Path(folder) / f"events.out.tfevents.{time.time():.6f}.{socket.gethostname()}"
        self._append(file_version="brain.Event:2")

    def add(self, step, values):
        """Adds a point to some curves.

        Args:
            step: int, where on the horizontal axis.
            values: dict of numbers by tag; `loss/train` and `loss/validation` are shown in one chart.
        """
        from tensorboard.compat.proto.summary_pb2 import Summary

        points = [Summary.Value(tag=tag, simple_value=value) for tag, value in values.items()]
        self._append(step=step, summary=Summary(value=points))

    def _append(self, **fields):
        # TensorBoard's EventFileWriter would import TensorFlow wherever it is installed.
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.summary.writer.record_writer import RecordWriter

        with self._path.open("ab") as file:
            RecordWriter(file).write(Event(wall_time=time.time(), **fields).SerializeToString())

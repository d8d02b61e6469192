"""Numbers for TensorBoard, in its own file format, written without TensorFlow."""

import socket
import time


class EventFile:
    """A new event file.

    Args:
        folder: existing folder for TensorBoard's `--logdir`.
    """

    def __init__(self, folder):
        # TensorBoard's EventFileWriter would import TensorFlow wherever it is installed.
        from tensorboard.summary.writer.record_writer import RecordWriter

        name = f"events.out.tfevents.{time.time():.6f}.{socket.gethostname()}"
        self._records = RecordWriter((folder / name).open("wb"))
        self._write(file_version="brain.Event:2")

    def add(self, step, values):
        """Adds a point to some curves.

        Args:
            step: int, where on the horizontal axis.
            values: dict of numbers by tag; `loss/train` and `loss/test` are shown side by side.
        """
        from tensorboard.compat.proto.summary_pb2 import Summary

        points = [Summary.Value(tag=tag, simple_value=value) for tag, value in values.items()]
        self._write(step=step, summary=Summary(value=points))

    def close(self):
        self._records.close()

    def _write(self, **fields):
        from tensorboard.compat.proto.event_pb2 import Event

        self._records.write(Event(wall_time=time.time(), **fields).SerializeToString())
        self._records.flush()

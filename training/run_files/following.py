"""The run of a process that trains along: its files are written by another process, the first of several."""

import io
import pathlib
import tempfile

from training.run_files.run_directory import RunDirectory, rows_in


class FollowedRun(RunDirectory):
    """Goes through the epochs of a run as the process does that writes its files, and writes none.

    Args:
        path: folder of the run, on the machine of the first process.
        content: bytes of its `last.keras`, none where there is none.
    """

    def __init__(self, path, content):
        super().__init__(path)
        self._content = content

    def finished_epochs(self):
        if not self._content:
            return 0
        with self._naming_damage():
            return len(rows_in(io.BytesIO(self._content)))

    def start(self, config, model, metric):
        self._metric = metric
        with tempfile.TemporaryDirectory() as folder:
            self.last = pathlib.Path(folder) / self.last.name
            if self._content:
                self.last.write_bytes(self._content)
            self._restore(model)

    def finish_epoch(self, model, row, best_model):
        self.rows.append(row)
        if best_model and self.best_row() is row:
            best_model()  # in which all processes take part

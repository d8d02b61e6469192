"""Keeps the reports that browsers send: each is checked, of limited size, and named by us."""

import datetime
import pathlib
import secrets

from hsvit_runtime import files, json_files
from hsvit_runtime.errors import InputError, MissingFileError
from measuring import benchmark_report

MOST_BYTES = 4 * 2**20  # a report of ten pairs has a twentieth of it
MOST_REPORTS = 1000


class Collector:
    """Writes reports into a folder."""

    def __init__(self, folder):
        """
        Args:
            folder: path of the folder; it is made if it is missing.

        Raises:
            OSError: it cannot be made.
        """
        self._folder = pathlib.Path(folder)
        if not self._folder.parent.is_dir():
            raise MissingFileError(f"cannot write to {folder}: there is no folder {self._folder.parent}")
        self._folder.mkdir(exist_ok=True)

    def receive(self, body):
        """Checks a report and writes it.

        Args:
            body: bytes, JSON.

        Returns:
            (path, report): where it was written, and the dict.

        Raises:
            InputError: it is no report, or there are too many already.
        """
        if len(body) > MOST_BYTES:
            raise InputError(f"a report may have {MOST_BYTES} bytes, this one has {len(body)}")
        if sum(1 for _ in self._folder.glob("web-*.json")) >= MOST_REPORTS:
            raise InputError(f"{self._folder} holds {MOST_REPORTS} reports, no more are taken")
        report = json_files.parse(body, "what was sent")
        benchmark_report.check(report)
        now = datetime.datetime.now(datetime.UTC)
        path = self._folder / f"web-{now:%Y%m%d-%H%M%S}-{secrets.token_hex(4)}.json"
        files.write_json(path, report)
        return path, report

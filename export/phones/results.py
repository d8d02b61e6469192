"""Reports of phones with what a report cannot know, one file each; `result.schema.json` describes them."""

import hashlib
import json
import pathlib
import re

from hsvit_runtime import files, json_files
from hsvit_runtime.errors import InputError, MissingFileError
from measuring import benchmark_report, schemas

FORM_VERSION = 1
ABOUT = ("contributor", "room_celsius", "case", "phone_tests", "notes")

_SCHEMA = pathlib.Path(__file__).parents[2] / "docs" / "phones" / "result.schema.json"


def add(folder, report, about):
    """Writes a result.

    Args:
        folder: path, which gets a folder `results` if it has none.
        report: dict, a benchmark report of a phone.
        about: dict from each name in `ABOUT` to its value, see the schema.

    Returns:
        path of the new file.

    Raises:
        InputError: the report is of no phone or there already, or a value is not allowed.
        OSError: the file cannot be written.
    """
    folder = pathlib.Path(folder)
    if not folder.is_dir():
        raise MissingFileError(f"there is no folder {folder}: run this in the repository, or name --folder")
    result = {"form_version": FORM_VERSION, **about, "report": report}
    _check(result)
    path = folder / "results" / _name(report)
    if path.exists():
        raise InputError(f"this report is there already, {path}")
    path.parent.mkdir(exist_ok=True)
    files.write_json(path, result)
    return path


def read_all(folder):
    """All results, those of a phone beside each other.

    Args:
        folder: path with a folder `results`.

    Returns:
        list of dicts, which follow the schema.

    Raises:
        InputError: a file is no result, or a report is there twice.
    """
    found = {}
    for path in sorted(pathlib.Path(folder, "results").glob("*.json")):
        try:
            result = json_files.read(path)
            _check(result)
        except InputError as error:
            raise InputError(f"{path} is no result of a phone: {error}") from error
        twin = found.setdefault(_hash(result["report"]), (path, result))
        if twin[0] != path:
            raise InputError(f"{path} has the report of {twin[0]}")
    return [result for _, result in found.values()]


def _check(result):
    schemas.check(result, _SCHEMA)
    benchmark_report.check(result["report"])
    if not result["report"]["device"]["name"]:
        raise InputError("its report names no device: it was measured on a computer, not on a phone")


def _name(report):
    """A name for the file: the phone, the day, and the beginning of the report's hash."""
    phone = re.sub(r"[^a-z0-9]+", "_", report["device"]["name"].lower()).strip("_")[:60] or "phone"
    return f"{phone}-{day(report)}-{_hash(report)[:8]}.json"


def day(report):
    """str, the day on which it was measured, such as "2026-01-02"."""
    return (report["device"]["before"]["time"] or "undated")[:10]


def _hash(report):
    return hashlib.sha256(json.dumps(report, sort_keys=True).encode()).hexdigest()

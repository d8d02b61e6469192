"""A file of JSON lines that only grows: each result is kept, and computed once."""

import json
import pathlib

from hsvit_runtime import input_files, json_files
from hsvit_runtime.errors import InputError


class Records:
    """Rows in a file, each written as soon as it is known.

    Args:
        path: path of the .jsonl file; made with the first row.
        schema: dict, the JSON schema of a row.

    Attributes:
        rows: list of dicts.

    Raises:
        InputError: a line is no such row. A last line without an end was left by a killed process and is
            removed.
    """

    def __init__(self, path, schema):
        self.path = pathlib.Path(path)
        self.rows = []
        if not self.path.exists():
            return
        content = input_files.read(self.path, may_be_empty=True)
        whole = content[: content.rfind(b"\n") + 1]
        try:
            self.rows = json_files.parse_lines(whole, schema, self.path)
        except InputError as error:
            raise InputError(f"{error}. Remove the line, or the file") from error
        if whole != content:
            self.path.write_bytes(whole)

    def append(self, row):
        """Adds a row, also to the file."""
        with self.path.open("a") as file:
            file.write(json.dumps(row) + "\n")
        self.rows.append(row)


def canonical(content):
    """JSON of `content` that is the same for the same content."""
    return json.dumps(content, sort_keys=True)

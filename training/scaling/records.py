"""A file of JSON lines that only grows: each result is kept, and computed once."""

import json
import pathlib

from hsvit_runtime.errors import InputError


class Records:
    """Rows in a file, each written as soon as it is known.

    Args:
        path: path of the .jsonl file; made with the first row.

    Attributes:
        rows: list of dicts.

    Raises:
        ValueError: a line is no JSON. A last line without an end was left by a killed process and is removed.
    """

    def __init__(self, path):
        self.path = pathlib.Path(path)
        text = self.path.read_text() if self.path.is_file() else ""
        whole = text[: text.rfind("\n") + 1]
        try:
            self.rows = [json.loads(line) for line in whole.splitlines()]
        except json.JSONDecodeError as error:
            raise InputError(f"{self.path} is damaged: {error}. Remove the line, or the file") from error
        if whole != text:
            self.path.write_text(whole)

    def append(self, row):
        """Adds a row, also to the file."""
        with self.path.open("a") as file:
            file.write(json.dumps(row) + "\n")
        self.rows.append(row)


def canonical(content):
    """JSON of `content` that is the same for the same content."""
    return json.dumps(content, sort_keys=True)

"""What a command may write to: a new file, or one of the kind that it writes itself."""

import dataclasses
import os
import pathlib
from collections.abc import Callable

from hsvit_runtime import json_files
from hsvit_runtime.errors import FileError, MissingFileError

_PNG = b"\x89PNG\r\n\x1a\n"
PAGE_MARK = b'<meta name="generator" content="hsvit_keras">'
_PAGE_HEAD = 4096  # bytes, in which the mark stands


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of file.

    Attributes:
        name: str, as in "the file there is no report".
        suffix: str, what its name ends in.
        is_one: function from the path of a file to whether it is of the kind.
    """

    name: str
    suffix: str
    is_one: Callable


def json_with(*keys):
    """The kind of a JSON report: an object that has these keys."""

    def is_one(path):
        return json_files.read_if_sound(path, {"type": "object", "required": list(keys)}) is not None

    return Kind(f"report with {' and '.join(map(repr, keys))}", ".json", is_one)


PICTURE = Kind("PNG picture", ".png", lambda path: _head(path, len(_PNG)) == _PNG)
PAGE = Kind("page of this package", ".html", lambda path: PAGE_MARK in _head(path, _PAGE_HEAD))


def check(path, kind, reads=()):
    """Raises an error unless a command may write a file.

    Args:
        path: str or path of the file to write; None for none.
        kind: `Kind` of that file. An empty file counts as one.
        reads: paths of files that the command reads.

    Raises:
        FileError: the name's end is another, the command reads the file, or it exists and is of another kind.
        MissingFileError: there is no folder for it.
    """
    if path is None:
        return
    path = pathlib.Path(path)
    if path.suffix != kind.suffix:
        raise FileError(f"the output's name has to end in {kind.suffix}; received {path}")
    if not path.parent.is_dir():
        raise MissingFileError(f"cannot write {path}: there is no folder {path.parent}")
    if not path.exists():
        return
    if any(os.path.exists(other) and os.path.samefile(path, other) for other in reads):
        raise FileError(f"cannot write {path}: the command reads it; choose another output")
    if path.is_dir():
        raise FileError(f"cannot write {path}: it is a folder, a file name is needed")
    if not path.is_file():
        raise FileError(f"cannot write {path}: it is no ordinary file")
    if path.stat().st_size and not kind.is_one(path):
        raise FileError(
            f"cannot write {path}: the file there is no {kind.name} and would be lost; choose another output"
        )


def _head(path, count):
    with open(path, "rb") as file:
        return file.read(count)

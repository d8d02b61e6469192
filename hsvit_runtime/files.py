"""Files that are whole or not there: written beside their place, then renamed into it."""

import contextlib
import glob
import json
import os
import pathlib

from hsvit_runtime.errors import FileError, MissingFileError


@contextlib.contextmanager
def replacing(path):
    """Gives a temporary path beside `path`; renamed to `path` at the end, removed on any error.

    Args:
        path: str or path. Keeps its suffix in the temporary name, since savers look at it.

    Yields:
        path, a hidden file in the same folder.

    Raises:
        OSError: the folder is missing or not writable, or `path` is a folder.
    """
    path = pathlib.Path(path)
    if path.is_dir():
        raise FileError(f"cannot write {path}: it is a folder, a file name is needed")
    if not path.parent.is_dir():
        raise MissingFileError(f"cannot write {path}: there is no folder {path.parent}")
    _remove_leftovers(path)
    temporary = path.with_name(f".{path.stem}.{os.getpid()}.part{path.suffix}")
    try:
        temporary.touch()
    except OSError as error:
        raise FileError(f"cannot write {path}: {error.strerror} in its folder") from error
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _remove_leftovers(path):
    """Removes the temporary files of processes that were killed."""
    for leftover in path.parent.glob(f".{glob.escape(path.stem)}.*.part{path.suffix}"):
        process = leftover.name.split(".")[-3]
        if process.isdigit() and not pathlib.Path(f"/proc/{process}").exists():
            leftover.unlink(missing_ok=True)


def write_json(path, content):
    """Writes `content` as indented JSON to `path`."""
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(content, indent=2) + "\n")

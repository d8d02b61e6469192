"""Atomic writing: a temporary file or folder beside the wanted one is renamed when it is complete."""

import contextlib
import glob
import json
import os
import pathlib
import tempfile

from hsvit_runtime.errors import FileError, MissingFileError


@contextlib.contextmanager
def replacing(path):
    """Yields a temporary path; the file is renamed to `path` at the end, or removed after an error.

    Args:
        path: str or path of the file to write.

    Yields:
        path of a hidden file in the same folder, with the same suffix, on which the format may depend.

    Raises:
        FileError: the folder does not exist or is not writable, or `path` is a folder.
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
    """Removes temporary files for `path` whose process has ended."""
    for leftover in path.parent.glob(f".{glob.escape(path.stem)}.*.part{path.suffix}"):
        process = leftover.name.split(".")[-3]
        if process.isdigit() and not pathlib.Path(f"/proc/{process}").exists():
            leftover.unlink(missing_ok=True)


def write_json(path, content):
    """Writes `content` as indented JSON to `path`, atomically."""
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(content, indent=2) + "\n")


@contextlib.contextmanager
def replacing_folder(path, marker):
    """Yields a temporary folder that is renamed to `path` at the end, or removed after an error.

    Args:
        path: str or path of the folder to write.
        marker: str, the file that tells a folder of its kind, such as "bundle.json"; no other folder that is
            there already is replaced.

    Yields:
        path of an empty folder.

    Raises:
        FileError: the parent folder does not exist, or `path` exists and has no `marker`.
    """
    path = pathlib.Path(path)
    if not path.parent.is_dir():
        raise MissingFileError(f"cannot write {path}: there is no folder {path.parent}")
    if path.exists() and not (path / marker).is_file():
        raise FileError(f"cannot write {path}: it is there already, and holds no {marker}")
    with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as room:
        made = pathlib.Path(room, "new")
        made.mkdir()
        yield made
        if path.exists():
            path.rename(pathlib.Path(room, "old"))
        made.rename(path)

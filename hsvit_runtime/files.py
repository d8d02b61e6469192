"""Atomic writing: a temporary file or folder beside the wanted one is renamed when it is complete."""

import contextlib
import errno
import glob
import json
import os
import pathlib
import shutil

from hsvit_runtime.errors import FileError, InputError, MissingFileError

_FULL = tuple(map(os.strerror, (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)))


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
        with _naming(path, temporary):
            yield temporary
            temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def _naming(path, temporary):
    """Names `path` in errors of the system about what is written for it."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:  # HDF5 has the system's words in errors of its own
        known = isinstance(error, OSError) and error.errno and error.filename in (None, str(temporary))
        found = error.strerror if known else next((text for text in _FULL if text in str(error)), None)
        if found is None or isinstance(error, BrokenPipeError):
            raise
        raise FileError(f"cannot write {path}: {found}") from error


def _remove_leftovers(path):
    """Removes temporary files and folders for `path` whose process has ended."""
    for leftover in path.parent.glob(f".{glob.escape(path.stem)}.*.part{glob.escape(path.suffix)}"):
        process = leftover.name.removesuffix(path.suffix).split(".")[-2]
        if not process.isdigit() or pathlib.Path(f"/proc/{process}").exists():
            continue
        if leftover.is_dir():
            shutil.rmtree(leftover, ignore_errors=True)
        else:
            leftover.unlink(missing_ok=True)


def write_json(path, content):
    """Writes `content` as indented JSON to `path`, atomically."""
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(content, indent=2) + "\n")


def make_folder(path):
    """Makes a folder, and those above it that are missing.

    Args:
        path: str or path.

    Returns:
        list of paths, those that were made, the innermost first; for `remove_empty`.

    Raises:
        FileError: it cannot be made.
    """
    path = pathlib.Path(path)
    made = [folder for folder in (path, *path.parents) if not folder.exists()]
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot make the folder {path}: {error.strerror}") from error
    return made


def remove_empty(folders):
    """Removes folders that hold nothing, the innermost first."""
    with contextlib.suppress(OSError):  # what is not empty stays, and so do those above it
        for folder in folders:
            folder.rmdir()


@contextlib.contextmanager
def making_folder(path):
    """Makes a folder as `make_folder` does; after an error it goes again unless there is something in it."""
    made = make_folder(path)
    try:
        yield
    except BaseException:
        remove_empty(made)
        raise


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
    _remove_leftovers(path)
    room = path.with_name(f".{path.stem}.{os.getpid()}.part{path.suffix}")
    made = room / "new"
    try:
        with _naming(path, made):
            made.mkdir(parents=True)
            yield made
            if path.exists():
                path.rename(room / "old")
            made.rename(path)
    finally:
        shutil.rmtree(room, ignore_errors=True)

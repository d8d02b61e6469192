"""Files that others hand in: ordinary ones that can be read, since a device or a pipe may never end."""

import errno
import os
import pathlib
import stat

from hsvit_runtime.errors import FileError, MissingFileError

_MISSING = os.strerror(errno.ENOENT)


def check(path, kind="file", most=None, may_be_empty=False):
    """Raises an error unless a file can be read.

    Args:
        path: str or path.
        kind: str, what it should be, for the error, such as "model file".
        most: int, bytes that it may have at most; None for any number.
        may_be_empty: bool.

    Returns:
        `pathlib.Path` of it.

    Raises:
        MissingFileError: it is not there.
        FileError: it is a folder, no ordinary file, empty, too large, or may not be read.
    """
    path = pathlib.Path(path)
    if (reason := why_not(path, kind, most, may_be_empty)) is None:
        return path
    if reason == _MISSING:
        raise MissingFileError(f"there is no {kind} {path}")
    raise FileError(f"cannot read {path}: {reason}")


def why_not(path, kind="file", most=None, may_be_empty=False):
    """Why a file cannot be read, as text; None where it can. Arguments as of `check`."""
    try:
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            return f"it is a folder, a {kind} is needed"
        if not stat.S_ISREG(status.st_mode):
            return "it is no ordinary file"
        with open(path, "rb"):
            pass
    except OSError as error:
        return os.strerror(error.errno)
    except ValueError as error:  # a zero byte in the name
        return str(error)
    if not status.st_size and not may_be_empty:
        return f"it is empty, a {kind} is needed"
    if most is not None and status.st_size > most:
        return f"it has {status.st_size:,} bytes; at most {most:,} are read"
    return None


def read(path, kind="file", most=None, may_be_empty=False):
    """The bytes of a file; arguments and errors as of `check`."""
    path = check(path, kind, most, may_be_empty)
    try:
        return path.read_bytes()
    except OSError as error:
        raise FileError(f"cannot read {path}: {os.strerror(error.errno)}") from error

"""Files that others hand in: ordinary ones that can be read, since a device or a pipe may never end."""

import os
import pathlib
import stat

from hsvit_runtime.errors import FileError, MissingFileError


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
    try:
        status = path.stat()
        if stat.S_ISREG(status.st_mode):
            with path.open("rb"):
                pass
    except FileNotFoundError:
        raise MissingFileError(f"there is no {kind} {path}") from None
    except OSError as error:
        raise FileError(f"cannot read {path}: {os.strerror(error.errno)}") from error
    except ValueError as error:  # a zero byte in the name
        raise FileError(f"cannot read {str(path)!r}: {error}") from error
    if stat.S_ISDIR(status.st_mode):
        raise FileError(f"cannot read {path}: it is a folder, a {kind} is needed")
    if not stat.S_ISREG(status.st_mode):
        raise FileError(f"cannot read {path}: it is no ordinary file")
    if not status.st_size and not may_be_empty:
        raise FileError(f"cannot read {path}: it is empty, a {kind} is needed")
    if most is not None and status.st_size > most:
        raise FileError(f"{path} has {status.st_size / 1e6:,.0f} MB; at most {most / 1e6:,.0f} are read")
    return path


def read(path, kind="file", most=None, may_be_empty=False):
    """The bytes of a file; arguments and errors as of `check`."""
    path = check(path, kind, most, may_be_empty)
    try:
        return path.read_bytes()
    except OSError as error:
        raise FileError(f"cannot read {path}: {os.strerror(error.errno)}") from error

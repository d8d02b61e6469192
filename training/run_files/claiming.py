"""A file that one process holds at a time; the system lets go of it however the process ends."""

import contextlib
import dataclasses
import fcntl
import io
import os
import pathlib


@dataclasses.dataclass(frozen=True)
class Claim:
    """What `claim` gives; a context, at whose end others may claim, and the file is gone."""

    file: io.TextIOWrapper
    path: pathlib.Path

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Ends the claim."""
        if not self.file.closed:
            release(self.path)
            self.file.close()


def claim(path):
    """Claims what a file stands for.

    Args:
        path: path of the file, made where it is not there.

    Returns:
        `Claim`; None where another process holds it.
    """
    while True:
        file = path.open("w")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            return None
        if _is_there(file.fileno(), path):
            return Claim(file, path)
        file.close()


def claim_for_process(path):
    """Claims what a file stands for until the process ends or calls `release`; it may do so repeatedly.

    Args:
        path: path of the file, made where it is not there.

    Returns:
        bool, whether no other process holds it.
    """
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)  # stays open: closing it would be a release
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            os.close(descriptor)
            return False
        if _is_there(descriptor, path):
            return True
        os.close(descriptor)


def release(path):
    """Ends what `claim_for_process` began, and removes the file."""
    with contextlib.suppress(FileNotFoundError):
        path.unlink()


def _is_there(descriptor, path):
    """Whether an open file is still the one of a path: whoever held it may just have removed it."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False

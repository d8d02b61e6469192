"""A file that one process holds at a time; the system lets go of it however the process ends."""

import contextlib
import fcntl
import os


def claim(path):
    """Claims what a file stands for.

    Args:
        path: path of the file, made where it is not there.

    Returns:
        The open file, whose end is the end of the claim; None where another process holds it.
    """
    file = path.open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    return file


def claim_for_process(path):
    """Claims what a file stands for until the process ends or calls `release`; it may do so repeatedly.

    Args:
        path: path of the file, made where it is not there.

    Returns:
        bool, whether no other process holds it.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)  # stays open: closing it would be a release
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        os.close(descriptor)
        return False
    return True


def release(path):
    """Ends what `claim_for_process` began, and removes the file."""
    with contextlib.suppress(FileNotFoundError):
        path.unlink()

"""A file that one process holds at a time; the system lets go of it however the process ends."""

import fcntl


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

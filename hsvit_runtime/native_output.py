"""Holds back what native libraries write to standard error."""

import contextlib
import os
import tempfile


@contextlib.contextmanager
def quietly():
    """Context in which output to standard error is held back, and shown only after an exception.

    For native libraries that log while they load, which no setting turns off.
    """
    with tempfile.TemporaryFile() as held, open(os.dup(2), "wb") as stderr:
        os.dup2(held.fileno(), 2)
        try:
            yield
        except BaseException:
            held.seek(0)
            stderr.write(held.read())
            raise
        finally:
            os.dup2(stderr.fileno(), 2)

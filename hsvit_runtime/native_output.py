"""What native libraries write to standard error, held back."""

import contextlib
import os
import tempfile


@contextlib.contextmanager
def quietly():
    """Shows what is written to standard error only if it ends in an exception.

    For native libraries that log as they load or start, which no setting stops.
    """
    with tempfile.TemporaryFile() as held, open(os.dup(2), "wb") as shown:
        os.dup2(held.fileno(), 2)
        try:
            yield
        except BaseException:
            held.seek(0)
            shown.write(held.read())
            raise
        finally:
            os.dup2(shown.fileno(), 2)

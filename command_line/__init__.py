"""What every command needs: how it starts and ends, tables, plots.

Ctrl-C while a command imports its modules ends it at once, in one line.
"""

import os
import signal
import sys

_COMMANDS = ("export", "training")  # packages whose modules are commands


def end_at_once(*_):
    """A handler of Ctrl-C while nothing is to be cleaned up: native imports lose exceptions."""
    os.write(2, b"interrupted; nothing was written\n")
    os._exit(130)


_spec = getattr(sys.modules.get("__main__"), "__spec__", None)
if _spec is not None and _spec.name.partition(".")[0] in _COMMANDS:
    signal.signal(signal.SIGINT, end_at_once)

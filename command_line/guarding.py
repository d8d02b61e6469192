"""A command in a process of its own, guarded by the one that was started: however it ends, one line says so.

Native libraries that connect machines end a process at once when another one has gone, with pages of
messages. These are held back (`--verbosity=1` shows them), and the guard tells in one line what happened.
"""

import os
import signal
import sys
import threading

from absl import logging

_ORDERLY, _CONNECTED = b".", b"c"
_KILLED = "this process was killed; start the command again to go on"
_pipe = None  # by which a guarded process tells its guard how far it is


def start(not_found, lost):
    """Forks: returns in the guarded process, and in the guard waits for it and ends as it does.

    Args:
        not_found: str, the line if it ends by itself before it was `connected`.
        lost: str, the line if it ends by itself later.
    """
    global _pipe
    from_child, to_guard = os.pipe()
    alive, keep_alive = os.pipe()
    child = os.fork()
    if child:
        os.close(to_guard)
        os.close(alive)
        _wait(child, from_child, not_found, lost)
    os.close(from_child)
    os.close(keep_alive)
    _pipe = to_guard
    os.setpgid(0, 0)  # Ctrl-C reaches the guard, which passes it on
    threading.Thread(target=_end_with_guard, args=(alive,), daemon=True).start()
    if logging.get_verbosity() < logging.DEBUG:
        _hold_native_messages_back()


def connected():
    """Tells the guard, if there is one, that the other machines were found."""
    if _pipe is not None:
        os.write(_pipe, _CONNECTED)


def is_guarded():
    """Whether this process has a guard."""
    return _pipe is not None


def end(status):
    """Ends a guarded process, which has said why, at once: other machines may not be there to wait for."""
    sys.stdout.flush()
    os.write(_pipe, _ORDERLY)
    os._exit(status)


def end_as_lost():
    """Ends a guarded process at once; its guard says why."""
    sys.stdout.flush()
    os._exit(1)


def _wait(child, pipe, not_found, lost):
    """What the guard does."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: os.kill(child, number))
    told = b""
    while part := os.read(pipe, 16):
        told += part
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if _ORDERLY in told:
        os._exit(status)
    line = _KILLED if status == -signal.SIGKILL else lost if _CONNECTED in told else not_found
    print(f"error: {line}", file=sys.stderr, flush=True)
    os._exit(1)


def _end_with_guard(pipe):
    """Kills this process once the guard has gone, which alone holds the other end."""
    os.read(pipe, 1)
    os.kill(os.getpid(), signal.SIGKILL)


def _hold_native_messages_back():
    """Leaves standard output and error to Python."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for name, number in (("stdout", 1), ("stderr", 2)):
        setattr(sys, name, os.fdopen(os.dup(number), "w", buffering=1))
        os.dup2(nowhere, number)

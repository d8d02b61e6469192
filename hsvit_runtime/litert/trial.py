"""Tries `.tflite` files in a process of their own, so that a file on which LiteRT crashes ends no command."""

import pathlib
import signal
import subprocess
import sys

from hsvit_runtime.errors import InputError
from hsvit_runtime.litert import native_trial

TIMEOUT_SECONDS = 300


def check_runs(paths):
    """Raises an error if LiteRT crashes on a file, or does not come to an end.

    Args:
        paths: list of str or path; those that are no `.tflite` files, or not there, are left to others.

    Raises:
        InputError: it names the file.
    """
    paths = [str(path) for path in map(pathlib.Path, paths) if path.suffix == ".tflite" and path.is_file()]
    if not paths:
        return
    command = [sys.executable, "-P", native_trial.__file__, *paths]
    limit = TIMEOUT_SECONDS * len(paths)
    try:
        tried = subprocess.run(command, capture_output=True, timeout=limit)
    except subprocess.TimeoutExpired as expired:
        raise InputError(f"{_last(expired.stdout)} does not end in LiteRT within {limit} seconds") from None
    if tried.returncode < 0:
        name, file = signal.Signals(-tried.returncode).name, _last(tried.stdout)
        raise InputError(f"LiteRT crashes on {file} ({name}): the file is damaged, or too large")


def _last(printed):
    return (printed or b"the file").decode(errors="replace").splitlines()[-1]

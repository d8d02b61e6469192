"""Errors that users can correct themselves. Commands print them in one line, other errors with a traceback.

Each class also derives from the matching built-in error, so that callers of the library can catch that one.
"""

_SHOWN = 8  # problems that a message names in full; the rest is counted


class InputError(ValueError):
    """An argument, a setting or the content of a file is wrong."""


class FileError(InputError, OSError):
    """A file or a folder cannot be used."""


class MissingFileError(FileError, FileNotFoundError):
    """A file or a folder does not exist."""


class MissingPackageError(InputError, ImportError):
    """An optional package is not installed, or cannot be imported."""


def listed(problems):
    """The first of several problems in one line, and how many there are beyond.

    Args:
        problems: list of str.
    """
    more = len(problems) - _SHOWN
    return "; ".join([*problems[:_SHOWN], *([f"and {more} more"] if more > 0 else [])])

"""Errors that users can correct themselves. Commands print them as one line, other errors with a traceback.

Each class also derives from the matching built-in error, so that callers of the library can catch that one.
"""


class InputError(ValueError):
    """An argument, a setting or the content of a file is wrong."""


class FileError(InputError, OSError):
    """A file or a folder cannot be used."""


class MissingFileError(FileError, FileNotFoundError):
    """A file or a folder does not exist."""


class MissingPackageError(InputError, ImportError):
    """An optional package is not installed, or cannot be imported."""

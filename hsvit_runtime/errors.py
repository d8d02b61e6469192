"""What the user did wrong: commands show these errors as one line, and any other with its traceback.

Each is also the built-in error that fits, so that callers of the library can catch that one.
"""


class InputError(ValueError):
    """An argument, a setting or the content of a file is not as it has to be."""


class FileError(InputError, OSError):
    """A file or a folder cannot be used."""


class MissingFileError(FileError, FileNotFoundError):
    """A file or a folder is not there."""


class MissingPackageError(InputError, ImportError):
    """An optional package is not installed, or does not start."""

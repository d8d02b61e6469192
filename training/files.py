"""Files that are whole or not there: written beside their place, then renamed into it."""

import contextlib
import json
import os
import pathlib
import tempfile


@contextlib.contextmanager
def replacing(path):
    """Gives a temporary path beside `path`; renamed to `path` at the end, removed on any error.

    Args:
        path: str or path. Keeps its suffix in the temporary name, since savers look at it.

    Raises:
        OSError: the folder is missing or not writable, or `path` is a folder.
    """
    path = pathlib.Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"cannot write {path}: it is a folder, a file name is needed")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"cannot write {path}: there is no folder {path.parent}")
    try:
        handle, name = tempfile.mkstemp(path.suffix, f".{path.stem}.", path.parent)
    except OSError as error:
        raise type(error)(f"cannot write {path}: {error.strerror} in its folder") from error
    os.close(handle)
    temporary = pathlib.Path(name)
    try:
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_json(path, content):
    """Writes `content` as indented JSON to `path`."""
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(content, indent=2) + "\n")

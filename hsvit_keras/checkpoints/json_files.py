"""`read_json`: the JSON files that lie beside weights."""

from hsvit_runtime import json_files
from hsvit_runtime.errors import InputError


def read_json(path):
    """The dict in a JSON file.

    Args:
        path: `pathlib.Path`.

    Raises:
        InputError: the file is damaged, or holds no object.
        MissingFileError: it is not there.
    """
    content = json_files.read(path)
    if not isinstance(content, dict):
        raise InputError(f"{path} holds a {type(content).__name__}; an object with named entries is needed")
    return content

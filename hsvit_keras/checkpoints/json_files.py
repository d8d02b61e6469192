"""`read_json`: the JSON files that lie beside weights."""

import json

from hsvit_runtime.errors import InputError, MissingFileError


def read_json(path):
    """The dict in a JSON file.

    Args:
        path: `pathlib.Path`.

    Raises:
        InputError: the file is damaged, or holds no object.
        MissingFileError: it is not there.
    """
    if not path.is_file():
        raise MissingFileError(f"there is no file {path}")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{path} is damaged: {error}") from error
    if not isinstance(content, dict):
        raise InputError(f"{path} holds a {type(content).__name__}; an object with named entries is needed")
    return content

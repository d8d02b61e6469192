"""`read_json`: the JSON files that lie beside weights."""

from hsvit_runtime import json_files
from hsvit_runtime.errors import InputError


def read_json(path, schema=None):
    """The dict in a JSON file.

    Args:
        path: `pathlib.Path`.
        schema: dict, the JSON schema of its entries, or None.

    Raises:
        InputError: the file is damaged, holds no object, or an entry is not as the schema has it.
        MissingFileError: it is not there.
    """
    content = json_files.read(path)
    if not isinstance(content, dict):
        raise InputError(f"{path} holds a {type(content).__name__}; an object with named entries is needed")
    if schema is not None:
        json_files.check(content, schema, path)
    return content

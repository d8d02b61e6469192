"""Checks what a file says against its JSON schema."""

from hsvit_runtime import json_files
from hsvit_runtime.errors import InputError


def check(content, schema):
    """Raises `InputError` with the first fault unless `content` follows a schema.

    Args:
        content: what was read from JSON.
        schema: path of the schema.
    """
    fault = json_files.first_fault(content, json_files.read(schema))
    if fault is not None:
        where = ".".join(map(str, fault.absolute_path)) or "the top"
        raise InputError(f"it does not follow {schema.name}: at {where}, {fault.message[:200]}")

"""Checks what a file says against its JSON schema."""

import json

from hsvit_runtime.errors import InputError


def check(content, schema):
    """Raises `InputError` with the first fault unless `content` follows a schema.

    Args:
        content: what was read from JSON.
        schema: path of the schema.
    """
    import jsonschema

    validator = jsonschema.Draft202012Validator(json.loads(schema.read_text(encoding="utf-8")))
    fault = jsonschema.exceptions.best_match(validator.iter_errors(content))
    if fault is not None:
        where = ".".join(map(str, fault.absolute_path)) or "the top"
        raise InputError(f"it does not follow {schema.name}: at {where}, {fault.message[:200]}")

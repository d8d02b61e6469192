"""The one reader of JSON files, which anybody may have written: of limited size, without NaN, by a schema."""

import json
import math

from hsvit_runtime import input_files
from hsvit_runtime.errors import InputError

MOST_BYTES = 512 * 2**20
_LONGEST = 200  # characters of a value that a message repeats


def read(path, schema=None, kind=None):
    """Reads a file.

    Args:
        path: str or path of a JSON file in UTF-8.
        schema: dict, a JSON schema; None for any content.
        kind: str, what a file of the schema is, for the error; None where its name says so.

    Returns:
        What it holds: dict, list, str, number, bool or None.

    Raises:
        InputError: it is no JSON, holds NaN or infinity, is nested too deeply, or does not follow the schema,
            which is told by the path to the fault.
        FileError: it is no ordinary file, too large or cannot be read.
        MissingFileError: it is not there.
    """
    content = parse(input_files.read(path, most=MOST_BYTES, may_be_empty=True), path)
    if schema is not None:
        check(content, schema, path if kind is None else f"{path} is no {kind}")
    return content


def read_if_sound(path, schema):
    """What a file holds that is only a saving of work, such as an earlier result; None if it is not sound."""
    try:
        return read(path, schema)
    except InputError:
        return None


def read_lines(path, schema):
    """What the lines of a file hold, each JSON by the schema; arguments and errors as of `read`."""
    return parse_lines(input_files.read(path, most=MOST_BYTES, may_be_empty=True), schema, path)


def parse_lines(content, schema, where):
    """What lines of bytes hold, see `read_lines`; errors name the line of `where`, a str or path."""
    rows = []
    for number, line in enumerate(content.splitlines(), start=1):
        if line.strip():
            rows.append(parse(line, f"line {number} of {where}"))
            check(rows[-1], schema, f"line {number} of {where}")
    return rows


def parse(content, where):
    """What a text holds; errors begin with `where`, see `read`.

    Args:
        content: bytes, in UTF-8 with or without a byte order mark.
        where: str or path, what the text is.
    """
    try:
        return json.loads(
            content.decode("utf-8-sig"), parse_constant=_refuse, parse_float=_finite, parse_int=_whole
        )
    except UnicodeDecodeError as error:
        raise InputError(f"{where} is no JSON: it is not written in UTF-8, see byte {error.start}") from error
    except json.JSONDecodeError as error:
        raise InputError(
            f"{where} is no JSON: {error.msg.lower()} at line {error.lineno}, column {error.colno}"
        ) from error
    except RecursionError:
        raise InputError(f"{where} is nested too deeply") from None
    except ValueError as error:
        raise InputError(f"{where} holds {error}") from None


def check(content, schema, where):
    """Raises `InputError` with the first fault unless `content` follows a JSON schema; see `read`."""
    if (fault := first_fault(content, schema)) is not None:
        place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in fault.absolute_path)
        raise InputError(f"{where}: {place.lstrip('.') or 'the whole'} is wrong: {_flat(fault.message)}")


def first_fault(content, schema):
    """The fault of jsonschema that explains best why `content` does not follow a schema, or None."""
    import jsonschema

    return jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(schema).iter_errors(content))


def _flat(message):
    message = " ".join(message.split())
    return message if len(message) <= _LONGEST else f"...{message[-_LONGEST:]}"


def _refuse(word):
    raise ValueError(f"{word}, which is no number of JSON")


def _finite(digits):
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"{digits[:40]}, which is too large for a number")
    return value


def _whole(digits):
    _finite(digits)
    return int(digits)

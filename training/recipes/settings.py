"""Settings as a command line has them: text that means a number, None, True, a list or text."""

import ast

from hsvit_runtime.errors import InputError


def value_of(text):
    """Numbers, None, True, lists; several with commas between; all else is text."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return [value_of(part) for part in text.split(",")] if "," in text else text


def settings_of(texts):
    """The settings in texts such as `"batch_size=64"`.

    Args:
        texts: list of str.

    Returns:
        dict from name to value.

    Raises:
        InputError: one of them is no such thing.
    """
    for text in texts:
        if not text.partition("=")[1]:
            raise InputError(f"--setting takes a name and a value, as in batch_size=64; received {text!r}")
    return {name: value_of(value) for name, _, value in (text.partition("=") for text in texts)}

"""What the values of a config may be: the parts that a schema is made of, each a check and its words.

    SCHEMA = Table({"epochs": integer(1), "optimizer": choice("adamw", "sgd"), "frozen": or_none(NAME)})
    SCHEMA.check(values, "config.")  # else: config.epochs has to be an integer of at least 1; received 0

Values are plain: numbers, text, None, lists and dicts, as `plain` makes them of a config.
"""

import dataclasses
import math
from collections.abc import Callable

from ml_collections import ConfigDict

from hsvit_runtime.errors import InputError

_LONGEST = 200  # characters of a value that a message repeats
_DEEPEST = 50  # levels of tables and sequences


@dataclasses.dataclass(frozen=True)
class Rule:
    """What one value may be.

    Attributes:
        words: str, which follow "has to be".
        is_right: function from a plain value to whether it is so.
    """

    words: str
    is_right: Callable[[object], bool]

    def check(self, value, name):
        """Raises `InputError` that names a wrong value by `name`."""
        if not self.is_right(value):
            raise InputError(f"{name} has to be {self.words}; received {shown(value)}")


@dataclasses.dataclass(frozen=True)
class Table:
    """A dict of known keys.

    Attributes:
        entries: dict from key to what its value may be.
        optional: tuple of str, the keys that may be left out.
        source: str, where a whole table comes from, for the message about a missing key.
    """

    entries: dict
    optional: tuple = ()
    source: str = ""

    def check(self, value, name):
        """Raises `InputError` that names the first key that is unknown, missing or has a wrong value."""
        place = "the config" if name == "config" else name
        if not isinstance(value, dict):
            raise InputError(f"{name} has to be a table of settings; received {shown(value)}")
        check_known(value, self.entries, place)
        for key, rule in self.entries.items():
            if key in value:
                rule.check(value[key], f"{name}.{key}")
            elif key not in self.optional:
                raise InputError(f"{place} has no {key!r}{self.source}")


@dataclasses.dataclass(frozen=True)
class Mapping:
    """A dict from any names, at least one, to values of one rule; `words` say what it is."""

    words: str
    rule: object

    def check(self, value, name):
        """As that of `Rule`."""
        if not isinstance(value, dict) or not value:
            raise InputError(f"{name} has to be {self.words}; received {shown(value)}")
        for key, entry in value.items():
            self.rule.check(entry, f"{name}[{key!r}]")


def number(words, is_right):
    """A finite number for which `is_right`."""
    return Rule(f"a number {words}", lambda value: is_number(value) and is_right(value))


def integer(least, most):
    """An integer between two."""
    return Rule(f"an integer from {least} to {most}", lambda value: is_integer(value, least, most))


def sequence(words, is_right, least=0):
    """A list of at least so many items, for each of which `is_right`."""
    return Rule(
        words, lambda value: isinstance(value, list) and len(value) >= least and all(map(is_right, value))
    )


def choice(*known):
    """One of several texts."""
    return Rule(f"one of {', '.join(known)}", lambda value: isinstance(value, str) and value in known)


def or_none(rule):
    """What a rule says, or None."""
    return Rule(f"{rule.words}, or None", lambda value: value is None or rule.is_right(value))


def is_number(value):
    """Whether a value is a finite int or float."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond every float
        return False


def is_integer(value, least, most):
    """Whether a value is an int between two."""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def is_name(value):
    """Whether a value is text and not empty."""
    return isinstance(value, str) and bool(value)


def is_finite(value):
    """Whether all numbers in a value are finite."""
    if isinstance(value, dict):
        return all(map(is_finite, value.values()))
    if isinstance(value, list):
        return all(map(is_finite, value))
    return not isinstance(value, int | float) or isinstance(value, bool) or is_number(value)


def is_named_table(value):
    """Whether a value is a pair of a name and a table of arguments without NaN and infinity."""
    return (
        isinstance(value, list)
        and len(value) == 2
        and is_name(value[0])
        and isinstance(value[1], dict)
        and is_finite(value[1])
    )


NAME = Rule("a name", is_name)
FLAG = Rule("True or False", lambda value: isinstance(value, bool))
ARGUMENTS = Rule(
    "a table of arguments, with finite numbers", lambda value: isinstance(value, dict) and is_finite(value)
)
SEED = integer(0, 2**32 - 1)


def check_known(table, known, place):
    """Raises `InputError` if a table has another key."""
    for key in table:
        if key not in known:
            from hsvit_keras.models.registry import suggest  # it imports Keras, which takes seconds

            raise InputError(f"{place} has an unknown key {key!r}; {suggest(key, list(known))}")


def shown(value):
    """A value in a message: one line of limited length."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # Python does not write an integer of thousands of digits
        text = "an integer of thousands of digits"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def plain(config, example):
    """Gives a config as nested dicts, lists, numbers and text: what its JSON file holds.

    Args:
        config: `ConfigDict`.
        example: str, a config of its kind, for the error.

    Raises:
        InputError: there is none, it is no `ConfigDict`, or it holds something else.
    """
    if config is None:
        raise InputError(f"--config is needed: a file such as training/configs/{example}.py")
    if not isinstance(config, ConfigDict):
        raise InputError(
            f"a config has to be a ConfigDict, as in training/configs/{example}.py; received {shown(config)}"
        )
    return _plain(config.to_dict(), "config", 0)


def _plain(value, name, depth):
    if depth > _DEEPEST:
        raise InputError(f"{name[:_LONGEST]}... is nested too deeply")
    if isinstance(value, dict | ConfigDict):
        for key in value:
            if not isinstance(key, str):
                raise InputError(f"{name} has the key {shown(key)}; keys are names")
        return {key: _plain(entry, f"{name}.{key}", depth + 1) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry, f"{name}[{place}]", depth + 1) for place, entry in enumerate(value)]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise InputError(f"{name} has to be a number, text, None, a list or a table; received {shown(value)}")

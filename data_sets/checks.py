"""Checks of arguments that are numbers."""

from hsvit_runtime.errors import InputError


def check_between(low, high, **arguments):
    """Raises `InputError` unless all arguments are numbers from `low` to `high`."""
    for name, value in arguments.items():
        if not _is_number(value) or not low <= value <= high:
            raise InputError(f"{name} has to be a number from {low} to {high}; received {value!r}")


def check_share(**arguments):
    """Raises `InputError` unless all arguments are numbers of more than 0 and at most 1."""
    for name, value in arguments.items():
        if not _is_number(value) or not 0 < value <= 1:
            raise InputError(f"{name} has to be a number, more than 0 and at most 1; received {value!r}")


def check_range(low, high, **arguments):
    """Raises `InputError` unless all arguments are pairs of numbers, above `low`, up to `high`, in order."""
    for name, value in arguments.items():
        is_pair = isinstance(value, tuple | list) and len(value) == 2 and all(map(_is_number, value))
        if not is_pair or not low < value[0] <= value[1] <= high:
            raise InputError(
                f"{name} has to be a pair of numbers in order, more than {low} and at most {high}; "
                f"received {value!r}"
            )


def _is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool)

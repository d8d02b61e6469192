"""Parameters of a test, few of which run in `make test`."""

import pytest


def slow_but(fast, values):
    """`values` as parameters, all but those in `fast` marked slow."""
    return [value if value in fast else pytest.param(value, marks=pytest.mark.slow) for value in values]

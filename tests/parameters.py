"""Parameters of a test, few of which run in `make test`."""

import pytest


def exhaustive_but(kept, values):
    """`values` as parameters, all but those in `kept` left to `make test-exhaustive`."""
    return [value if value in kept else pytest.param(value, marks=pytest.mark.exhaustive) for value in values]


def slow_but(fast, values):
    """`values` as parameters, all but those in `fast` marked slow."""
    return [value if value in fast else pytest.param(value, marks=pytest.mark.slow) for value in values]

"""What holds whatever a command is given: one line or an answer, no file lost, none left, and in time.

`fuzzed(fast=10, slow=200, given=...)` makes two tests of one: a few examples, always the same, and many for
`make test-slow`, the same in every run, too.
"""

import contextlib
import hashlib
import io
import os
import pathlib
import time

import hypothesis
import pytest

from command_line import commands
from hsvit_runtime.errors import InputError

_LONGEST = 1000  # characters of a message


def fuzzed(fast, slow, **strategies):
    """A decorator of a test that takes what strategies draw.

    Args:
        fast: int, examples of the fast test; 0 for none.
        slow: int, examples of the slow one.
        **strategies: of Hypothesis, by the names of the test's arguments.
    """

    def decorate(function):
        few = [pytest.param(fast, id="few")] if fast else []
        many = pytest.param(slow, id="many", marks=pytest.mark.slow)
        return pytest.mark.parametrize("examples", [*few, many])(_runs(function, strategies))

    return decorate


def settings(examples):
    """Settings of Hypothesis: so many examples, in every run the same, without the minutes of shrinking."""
    return hypothesis.settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )


def _runs(function, strategies):
    """A test of the fixtures `tmp_path` and `examples` that calls `function` with many examples."""

    def test(tmp_path, examples):
        number = iter(range(10**9))

        @settings(examples)
        @hypothesis.given(**strategies)
        def run(**drawn):
            folder = tmp_path / str(next(number))
            folder.mkdir()
            function(folder, **drawn)

        run()

    test.__name__, test.__doc__ = function.__name__, function.__doc__
    return test


def assert_answers(call, folder, seconds=20.0):
    """Calls a function, which may refuse what it is given.

    Args:
        call: function without arguments; a command, or what one reads with.
        folder: path; nothing in it may be changed, and nothing may be left where the function refuses.
        seconds: float, that it may take.

    Returns:
        str, the one line of a refusal; None where there is none.
    """
    before, start = _contents(folder), time.monotonic()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        refusal = _refusal(call)
    taken, after = time.monotonic() - start, _contents(folder)
    assert taken < seconds, f"took {taken:.1f} s"
    assert {path: after.get(path) for path in before} == before, "files changed"
    if refusal is not None:
        assert refusal.strip() and "\n" not in refusal and len(refusal) < _LONGEST, repr(refusal)
        assert after == before, f"left {sorted(after.keys() - before.keys())}"
    return refusal


def _refusal(call):
    """What the command would print as its one line; any other error is a traceback, and is raised."""
    try:
        call()
    except (InputError, OSError) as error:
        if not isinstance(error, InputError) and error.filename is None:
            raise
        return commands._message(error)
    return None


def _contents(folder):
    """dict from each path in a folder to the hash of what it holds."""
    found = {}
    for root, folders, names in os.walk(folder):
        for name in folders:
            found[pathlib.Path(root, name)] = None
        for name in names:
            path = pathlib.Path(root, name)
            found[path] = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None
    return found

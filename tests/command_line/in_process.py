"""Commands in the process of a test: no interpreter and no Keras have to start."""

import sys

import pytest
from absl import flags


def call(command, *arguments):
    """Calls `command.main` with flags, as `python -m` does, and raises what it raises.

    Args:
        command: module with `define_flags` and `main`.
        *arguments: the command line; words that are no flags are passed to `main`.
    """
    argv = ["command", *map(str, arguments)]
    known = set(flags.FLAGS)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "argv", argv)  # where config files look for their values
            command.define_flags()
            flags.FLAGS.set_gnu_getopt(True)
            _, *words = flags.FLAGS(argv)
            return command.main(words)
    finally:
        for name in set(flags.FLAGS) - known:
            delattr(flags.FLAGS, name)
        flags.FLAGS.unparse_flags()

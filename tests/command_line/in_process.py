"""Commands in the process of a test: no interpreter and no Keras have to start."""

import sys
import warnings

import pytest
from absl import flags


def call(command, *arguments):
    """Calls `command.main` with flags, as `python -m` does, and raises what it raises.

    Args:
        command: module with `define_flags` and `main`.
        *arguments: the command line; words that are no flags are passed to `main`.
    """
    argv = ["command", *map(str, arguments)]
    before, own = set(flags.FLAGS), set()
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "argv", argv)  # where config files look for their values
            words = _parse(command, argv)
        own = set(flags.FLAGS) - before  # libraries that `main` imports may define others, which stay
        return command.main(words)
    finally:
        for name in own or set(flags.FLAGS) - before:
            delattr(flags.FLAGS, name)
        flags.FLAGS.unparse_flags()


def _parse(command, argv):
    with warnings.catch_warnings():  # ml_collections reads config files in the old way
        warnings.filterwarnings("ignore", message="the load_module", category=DeprecationWarning)
        command.define_flags()
        flags.FLAGS.set_gnu_getopt(True)
        _, *words = flags.FLAGS(argv)
        return words

"""Commands without a process of their own, which would take seconds to import everything again."""

from absl import flags


def run(command, *options):
    """Runs `main` of a command under its flags; what it raises comes through.

    Args:
        command: module such as `export.benchmark`.
        *options: texts such as "--samples=4", and the argument of a command that takes one.
    """
    before = set(flags.FLAGS)
    command.define_flags()
    try:
        arguments = flags.FLAGS([command.__name__, *map(str, options)])[1:]
        return command.main(arguments)
    finally:
        for name in set(flags.FLAGS) - before:
            delattr(flags.FLAGS, name)
        flags.FLAGS.unparse_flags()

"""`--config`: a Python file of settings, which the command line may change, as in `--config.epochs=3`."""

import sys

from absl import flags


def define(default, meaning, **options):
    """Defines `--config`.

    Args:
        default: str, path of the file that is used where none is named; None for none.
        meaning: str, for `--help`.
        **options: those of `ml_collections.config_flags.DEFINE_config_file`.
    """
    from ml_collections import config_flags

    try:  # a default is read at once, with its changes of the command line
        config_flags.DEFINE_config_file("config", default, meaning, **options)
    except Exception as error:  # the file is Python, which may raise anything
        sys.exit(error_line(error))


def check():
    """Ends the process if `--config` names a file that is not there, which shows at the first use alone."""
    if "config" not in flags.FLAGS:
        return
    try:
        hasattr(flags.FLAGS.config, "to_dict")
    except OSError as error:
        sys.exit(error_line(error))


def error_line(error):
    """In one line, why the config file, or a change of one of its values, cannot be used."""
    title = "unknown key" if isinstance(error, AttributeError) else "cannot be used"
    while error.args and isinstance(error.args[-1], Exception):  # the library wraps what happened
        error = error.args[-1]
    reason = str(error.args[0]) if isinstance(error, AttributeError | KeyError) and error.args else str(error)
    if isinstance(error, OSError):  # the last of the lines about what was tried
        reason = reason.strip().splitlines()[-1]
    return f"error: --config: {title}: {' '.join(reason.split()) or type(error).__name__}"

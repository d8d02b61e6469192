"""How every command of the package starts, and how it ends on bad input."""

import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

from absl import app, logging


def run(main):
    """Runs `main(argv)` under absl flags.

    Bad input (`ValueError`, `OSError`, a missing optional package) ends the process with one line
    on standard error and status 1; `--verbosity=1` adds the traceback.
    """

    def guarded(argv):
        if len(argv) > 1:
            sys.exit(f"error: unexpected argument {argv[1]!r}; options are written --name=value")
        try:
            return main(argv)
        except (ValueError, OSError, ImportError) as error:
            logging.debug("where it happened", exc_info=True)
            sys.exit(f"error: {error}")

    app.run(guarded)


def require_backend(*allowed):
    """Raises `ValueError` unless Keras runs on one of the backends `allowed`."""
    import keras

    backend = keras.backend.backend()
    if backend not in allowed:
        names = " or ".join(allowed)
        raise ValueError(
            f"this needs Keras on {names}, and Keras runs on {backend}: "
            f"set the environment variable KERAS_BACKEND={allowed[0]}"
        )

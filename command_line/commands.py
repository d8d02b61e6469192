"""How every command of the package starts, and how it ends on bad input."""

import atexit
import contextlib
import gc
import importlib
import os
import re
import signal
import sys
from logging import getLogger

from hsvit_runtime.errors import InputError, MissingPackageError

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

from absl import app, flags, logging

from command_line import guarding
from hsvit_runtime.native_output import quietly


def run(main, uses_keras=True, argument=None, first=None):
    """Runs `main(arguments)` under absl flags.

    What the user did wrong (`InputError`, or an `OSError` that names a file) ends the process with one line
    on standard error and status 1; `--verbosity=1` adds the traceback. Any other exception is a bug and
    shows its traceback. Ctrl-C ends the process with status 130.

    Args:
        main: function that takes the list of arguments that are no flags.
        uses_keras: bool, whether to import Keras first, without the messages of its native libraries.
        argument: str, what the one argument is that the command takes; by default it takes none.
        first: function without arguments, called before Keras is imported.
    """

    def guarded(argv):
        arguments = argv[1:]
        if argument and len(arguments) != 1:
            sys.exit(f"error: needs one {argument}; options are written --name=value; received {arguments}")
        if arguments and not argument:
            sys.exit(f"error: unexpected argument {arguments[0]!r}; options are written --name=value")
        try:
            if first:
                first()
            if uses_keras:
                import_keras()
                _prepare_loading()
            return main(arguments)
        except (InputError, OSError) as error:
            if not isinstance(error, InputError) and error.filename is None:
                raise
            logging.debug("where it happened", exc_info=True)
            sys.exit(f"error: {_message(error)}")
        except KeyboardInterrupt:
            print("interrupted; nothing half-written was left", file=sys.stderr)
            sys.exit(130)

    if uses_keras:
        flags.DEFINE_list("import", [], "Modules that define classes of models, to import first.")
        flags.DEFINE_bool("unsafe", False, "Allow Lambda layers of model files, whose code runs with them.")
    _raise_on(signal.SIGINT, KeyboardInterrupt())
    _raise_on(signal.SIGTERM, SystemExit(143))  # so that temporary files are removed
    logging.set_verbosity(logging.WARNING)
    flags.FLAGS.set_gnu_getopt(True)  # options may stand behind the argument
    for stream in filter(None, (sys.stdout, sys.stderr)):  # None where it is closed
        stream.reconfigure(errors="backslashreplace")  # names of classes and files, in any locale
    try:
        app.run(guarded, flags_parser=_parse_flags)
    except SystemExit as end:
        _leave(end.code)


def _prepare_loading():
    """Imports what `--import` names, and allows Lambda layers where `--unsafe` says so."""
    import keras

    for name in flags.FLAGS["import"].value:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name and not f"{name}.".startswith(f"{error.name}."):
                raise
            raise InputError(f"--import names {name!r}, but there is no such module here") from error
    if flags.FLAGS.unsafe:
        keras.config.enable_unsafe_deserialization()


def _message(error):
    """The error in one line; Python's own errors about files as "name: reason"."""
    if isinstance(error, InputError):
        return str(error)
    return f"{error.filename}: {error.strerror}"


def _raise_on(signal_number, error):
    """Raises `error` when the signal comes.

    Within a callback of the garbage collector, where Python would drop it, the handler runs again later.
    """

    def handler(_, frame):
        callbacks = [getattr(callback, "__code__", None) for callback in gc.callbacks]
        if frame is None or frame.f_code not in callbacks:
            raise error
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 0.05)

    signal.signal(signal_number, handler)


def _leave(code):
    """Ends the process as `sys.exit(code)` does, but leaves its memory to the system.

    After an interrupted training, TensorFlow's threads still ask Python for batches, and would wait forever
    while the interpreter shuts down.
    """
    if isinstance(code, str):
        print(code, file=sys.stderr)
        code = 1
    if guarding.is_guarded():
        guarding.end(code or 0)
    atexit._run_exitfuncs()
    with contextlib.suppress(OSError):  # a reader that has left, as in `... | head`
        sys.stdout.flush()
    os._exit(code or 0)


def _parse_flags(argv):
    """absl's own parsing, with one line instead of two where a flag is wrong or missing."""
    app.define_help_flags()
    try:
        return flags.FLAGS(argv)
    except flags.Error as error:
        missing = re.search(r"flag (--\w+)=None: Flag --\w+ must have a value", str(error))
        message = f"{missing[1]} is needed" if missing else " ".join(str(error).split())
        sys.exit(f"error: {message}; --help lists the options")


def import_keras():
    """Imports Keras without the messages of its native libraries.

    Raises:
        ImportError: Keras cannot start on its backend; the message names it and what would be right.
    """
    try:
        with quietly():
            import keras
        # What models here are written for; keras.json in the user's home may say otherwise.
        keras.config.set_image_data_format("channels_last")
        keras.config.set_floatx("float32")
        getLogger("tensorflow").setLevel("ERROR")  # it warns of many models in a process
    except (ImportError, ValueError) as error:
        raise MissingPackageError(
            f"Keras cannot start on KERAS_BACKEND={os.environ.get('KERAS_BACKEND', 'tensorflow')}: {error}; "
            "this runs on tensorflow or jax: set the environment variable KERAS_BACKEND=tensorflow"
        ) from error


def show_progress(what, done, total):
    """Shows on a terminal that `done` of `total` steps, each a `what`, are done."""
    if sys.stderr.isatty():
        print(f"\r{what} {done} of {total}", end="\n" if done == total else "", file=sys.stderr, flush=True)


def numbers(name, texts):
    """The value of a flag that takes one number, or one for each channel.

    Args:
        name: str, the flag's name, for the error.
        texts: list of str.

    Returns:
        float, or list of float where there are several.

    Raises:
        ValueError: one of them is no number.
    """
    try:
        values = [float(text) for text in texts]
    except ValueError:
        raise InputError(f"--{name} takes numbers separated by commas; received {','.join(texts)}") from None
    return values[0] if len(values) == 1 else values


def integers(name, texts):
    """The value of a flag that takes several integers; arguments and errors as those of `numbers`."""
    try:
        return [int(text) for text in texts]
    except ValueError:
        raise InputError(f"--{name} takes integers separated by commas; received {','.join(texts)}") from None

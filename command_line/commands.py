"""How every command of the package starts, and how it ends on bad input."""

import atexit
import contextlib
import errno
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

from command_line import bounded, end_at_once, guarding
from hsvit_runtime.native_output import quietly

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


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
            if guarding.is_guarded():
                _clean_up_when_stopped()
            if uses_keras:
                import_keras()
                _prepare_loading()
            _clean_up_when_stopped()
            return main(arguments)
        except BrokenPipeError:  # a reader that has left, as in `... | head`
            sys.stdout = _nowhere()
            sys.exit(141)
        except (InputError, OSError) as error:
            if not isinstance(error, InputError) and error.filename is None and error.errno not in _FULL:
                raise
            logging.debug("where it happened", exc_info=True)
            sys.exit(f"error: {_message(error)}")
        except KeyboardInterrupt:
            print("interrupted; nothing half-written was left", file=sys.stderr)
            sys.exit(130)

    if uses_keras:
        bounded.names("import", [], "Modules that define classes of models, to import first.")
        flags.DEFINE_bool("unsafe", False, "Allow Lambda layers of model files, whose code runs with them.")
    _open_standard_streams()
    signal.signal(signal.SIGINT, end_at_once)
    logging.set_verbosity(logging.WARNING)
    flags.FLAGS.set_gnu_getopt(True)  # options may stand behind the argument
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # names of classes and files, in any locale
    try:
        app.run(guarded, flags_parser=_parse_flags)
    except SystemExit as end:
        _leave(end.code)


def _open_standard_streams():
    """Opens standard input, output and error where they are closed: a file would take their number."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdout = sys.stdout or _nowhere()
    sys.stderr = sys.stderr or _nowhere()


def _nowhere():
    return os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")


def _clean_up_when_stopped():
    """From here on there may be temporary files, which go with the exceptions that the signals become."""
    _raise_on(signal.SIGINT, KeyboardInterrupt())
    _raise_on(signal.SIGTERM, SystemExit(143))


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
    if error.filename is None:  # what is written for a file has its name, see `hsvit_runtime.files`
        return f"cannot write standard output: {error.strerror}"
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
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        pass
    except OSError as error:
        if not code:
            print(f"error: {_message(error)}", file=sys.stderr)
            code = 1
    os._exit(code or 0)


def _parse_flags(argv):
    """absl's own parsing, with one line instead of two where a flag is wrong or missing."""
    app.define_help_flags()
    with refusing_flags():
        return flags.FLAGS(argv)


# Of Python and absl, which do not say what would be right.
_SAID = (
    (r"invalid literal for int\(\) with base \d+: .*", "an integer is needed"),
    (r"could not convert string to float: .*", "a number is needed"),
    (r"\('Non-boolean argument to boolean flag', .*\)", "true or false is needed"),
)


@contextlib.contextmanager
def refusing_flags():
    """Ends the process with one line where a flag within the block is wrong or missing."""
    try:
        yield
    except (flags.Error, KeyError, TypeError, ValueError, AttributeError) as error:  # the others of --config
        logging.debug("where it happened", exc_info=True)
        message = " ".join(str(error).split())
        for theirs, ours in _SAID:
            message = re.sub(theirs, ours, message)
        message = re.sub("^flag (?=--)", "", message)
        if missing := re.search(r"^(--\w+)=None: Flag --\w+ must have a value", message):
            message = f"{missing[1]} is needed"
        if not isinstance(error, flags.Error):
            message = f"--config: {message}"
        help_ = "" if message.startswith("--config") else "; --help lists the options"
        sys.exit(f"error: {message[:1000]}{help_}")


def refuse_useless(where, *names):
    """Raises `InputError` if a flag of `names` was given, which means nothing `where`, in words."""
    for name in names:
        if flags.FLAGS[name].present:
            raise InputError(f"--{name} means nothing {where}")


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

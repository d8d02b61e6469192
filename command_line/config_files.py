"""The flag `--config`: a Python file whose `get_config()` returns a `ConfigDict`, and changes of its values.

A config file is a program and is run: it may compute what it likes. Whatever goes wrong in it, or in a change
such as `--config.epochs=ten`, is one line.
"""

import pathlib
import re
import runpy
import sys
import traceback

from absl import flags
from ml_collections import ConfigDict, config_flags

from command_line import commands
from hsvit_runtime.errors import InputError

FLAGS = flags.FLAGS


def define_flag(text, default=None):
    """Defines `--config`, and a flag for each change of it that is on the command line, new keys among them.

    Args:
        text: str, what the file holds, for the help.
        default: path of the file that is read where none is given.
    """
    config_flags.DEFINE_config_file("config", None, text, lock_config=False, accept_new_attributes=True)
    FLAGS["config"].parser = _Parser()
    if default is not None:
        with commands.refusing_flags():
            FLAGS.set_default("config", str(default))


class _Parser(flags.ArgumentParser):
    """Reads a file; that of ml_collections tells what is wrong in up to 53 lines."""

    def parse(self, path):
        config = _load(path)
        for argument in sys.argv:
            if change := re.match(r"--?(?:no)?config\.([^=]+)", argument):
                _prepare_place(config, change[1])
        return config


def _load(path):
    """What `get_config` of a file returns; what stands behind a colon in `path` is its argument."""
    path, *arguments = path.split(":", 1)
    if not pathlib.Path(path).is_file():
        raise InputError("there is no such file")
    try:
        config = runpy.run_path(path, run_name="config")["get_config"](*arguments)
    except SystemExit as error:
        raise InputError("the file ends the process instead of giving a config") from error
    except Exception as error:
        raise InputError(_reason(error, path)) from error
    if not isinstance(config, ConfigDict):
        raise InputError(f"get_config() has to return a ConfigDict; it returns {repr(config)[:100]}")
    return config


def _reason(error, path):
    """In a few words, why a config file cannot be used, and where in it."""
    if isinstance(error, KeyError) and error.args == ("get_config",):
        return "the file defines no get_config()"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    said = " ".join(str(error).split()) or type(error).__name__
    return f"{said} (line {lines[-1]})" if lines else said


def _prepare_place(config, place):
    """Sees to it that the tables are there that a change such as `model_arguments.depth` is in.

    Raises:
        InputError: one of them is missing, or is no table.
    """
    *tables, last = place.split(".")
    name = "config"
    for table in tables:
        _as_table(config, table)
        if table not in config or not isinstance(config[table], ConfigDict):
            raise InputError(f"--config.{place} is no value of the config: {name} has no table {table!r}")
        config, name = config[table], f"{name}.{table}"
    _as_table(config, last)


def _as_table(config, key):
    """Makes a table of a dict that a file has assigned, so that its values can be changed."""
    if isinstance(value := config.get(key), dict):
        with config.ignore_type():
            config[key] = ConfigDict(value)

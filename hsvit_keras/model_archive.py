"""A `.keras` file before Keras opens it: it is whole, asks for what it can hold, and imports no stranger.

Keras builds what the config in the file says before it looks at the weights, and imports the packages that it
names. So a config that lies would take hours or all memory, and one that names a package beside the script
would run it.
"""

import importlib.util
import math
import pathlib
import re
import sys
import sysconfig
import zipfile

from hsvit_runtime import json_files
from hsvit_runtime.errors import InputError

# Packages beside itself that Keras imports when the config of a model names them.
_IMPORTED = ("keras_cv", "keras_hub", "keras_nlp")
_CONFIG = "config.json"
_WEIGHTS = re.compile(r"model\.weights\.(h5|npz|json)$")  # the last is the index of several files
_LARGEST_CONFIG = 64 * 2**20  # bytes
_LONGEST_SEQUENCE = 1000  # layers of a Sequential, which Keras builds anew with each of them
_SMALL = 2**20  # bytes of a member that may be compressed by any factor
_MOST_SHRUNK = 100  # times that a member may be larger than the file; Keras does not compress
_BYTES_OF_A_BLOCK = 512  # at least, in the file of weights
_OURS = "hsvit_keras.models."
_SIZES = ("units", "filters", "kernel_size", "input_dim", "output_dim", "num_heads", "key_dim", "value_dim")


def read_config(path):
    """The config in a `.keras` file, checked.

    Args:
        path: path of an ordinary file.

    Returns:
        dict.

    Raises:
        InputError: it is no archive of a model, or its config asks for what it should not.
    """
    if not zipfile.is_zipfile(path):
        raise InputError(f"{path} is damaged or no Keras model: it is no zip archive, or was cut short")
    try:
        with zipfile.ZipFile(path) as archive:
            members = {member.filename: member.file_size for member in archive.infolist()}
            _check_members(path, members)
            content = archive.read(_CONFIG)
    except (zipfile.BadZipFile, OSError, EOFError, RuntimeError, NotImplementedError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path} is damaged or no Keras model: {' '.join(str(error).split())}") from error
    config = json_files.parse(content, f"{path} is damaged or no Keras model: its {_CONFIG}")
    if not isinstance(config, dict) or not isinstance(config.get("config"), dict):
        raise InputError(f"{path} is damaged or no Keras model: its {_CONFIG} describes no layers")
    weights = sum(size for name, size in members.items() if not name.endswith(".json"))
    for entry in _entries(config):
        if fault := _fault(entry, weights):
            raise InputError(f"{path} is damaged or no Keras model: {fault}")
    _check_imports(path, {str(entry.get("module")).partition(".")[0] for entry in _entries(config)})
    return config


def _check_members(path, members):
    for kind, is_there in ((_CONFIG, _CONFIG in members), ("weights", any(map(_WEIGHTS.match, members)))):
        if not is_there:
            raise InputError(f"{path} is damaged or no Keras model: the archive has no {kind}")
    most = dict.fromkeys(members, max(_SMALL, _MOST_SHRUNK * path.stat().st_size))
    most[_CONFIG] = min(most[_CONFIG], _LARGEST_CONFIG)
    for name, size in members.items():
        if size > most[name]:
            shown = f"{size / 1e6:,.0f} MB"
            raise InputError(f"{path} is damaged or no Keras model: its {name} would have {shown}")


def _entries(content):
    """All objects within JSON, the outer ones first."""
    waiting = [content]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            yield one
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one


def _fault(entry, weights):
    """What an entry of a config asks for that so many bytes of weights cannot hold; None if nothing."""
    settings, name = entry.get("config"), entry.get("class_name")
    if not isinstance(settings, dict):
        return None
    layers = settings.get("layers")
    if name == "Sequential" and isinstance(layers, list) and len(layers) > _LONGEST_SEQUENCE:
        return f"its Sequential has {len(layers):,} layers, and at most {_LONGEST_SEQUENCE:,} are built"
    is_ours = str(entry.get("module")).startswith(_OURS)
    sizes = {key: _integers(settings.get(key)) for key in (settings if is_ours else _SIZES)}
    for key, numbers in sizes.items():
        is_depth = is_ours and ("depth" in key or "layers" in key or "blocks" in key)
        most = weights // _BYTES_OF_A_BLOCK if is_depth else weights
        if key != "seed" and any(number > most for number in numbers):
            return _too_few(name, [key], settings, weights)
    product = [] if is_ours else sizes["filters"] + sizes["kernel_size"]
    if product and math.prod(product) > weights:
        return _too_few(name, ["filters", "kernel_size"], settings, weights)
    return None


def _too_few(name, keys, settings, weights):
    shown = " and ".join(f"{key}={settings.get(key)!r}" for key in keys)
    return f"{name} has {shown}, for which its weights are too few ({weights:,} bytes)"


def _integers(value):
    """The integers that a setting is, or has."""
    values = value if isinstance(value, list) else [value]
    return [number for number in values if isinstance(number, int) and not isinstance(number, bool)]


def _check_imports(path, packages):
    """Raises `InputError` if loading would import a package that is not among the installed ones."""
    installed = [pathlib.Path(sysconfig.get_path(name)).resolve() for name in ("purelib", "platlib")]
    for package in packages.intersection(_IMPORTED):
        if package in sys.modules:  # somebody has asked for it
            continue
        found = importlib.util.find_spec(package)
        if found is None or found.origin is None:
            continue
        place = pathlib.Path(found.origin).resolve()
        if not any(place.is_relative_to(folder) for folder in installed):
            raise InputError(
                f"{path} needs the package {package!r}, which lies in {place.parent} and is not installed: "
                f"if you trust it, import it first, in commands by --import={package}"
            )

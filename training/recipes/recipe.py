"""A training config, checked and as plain values, before anything is built from it."""

import json

from data_sets.crops import CentreCrop
from hsvit_runtime.errors import InputError, MissingFileError
from training.configs import hsvit_base

DTYPES = ("float32", "mixed_bfloat16", "mixed_float16")

# Which numbers are right for a key, in words and as a check.
_RANGES = {
    "batch_size": ("at least 1", lambda value: value >= 1),
    "epochs": ("at least 1", lambda value: value >= 1),
    "train_images": ("at least 1, or None for all", lambda value: value is None or value >= 1),
    "learning_rate": ("more than 0", lambda value: value > 0),
    "warmup_epochs": ("at least 0", lambda value: value >= 0),
    "weight_decay": ("at least 0", lambda value: value >= 0),
    "label_smoothing": ("in [0, 1)", lambda value: 0 <= value < 1),
    "views": ("at least 1", lambda value: value >= 1),
    "seed": ("at least 0", lambda value: value >= 0),
    "num_workers": ("at least 0", lambda value: value >= 0),
    "dtype": (f"one of {', '.join(DTYPES)}", lambda value: value in DTYPES),
}


def plain(config):
    """Gives a config as nested dicts, lists, numbers and strings: what its JSON file holds.

    Args:
        config: `ConfigDict` with the keys of `training/configs/hsvit_base.py`.

    Raises:
        ValueError: a key is unknown or missing, or a value is out of its range.
        FileNotFoundError: the config file is not there.
    """
    if config is None:
        raise InputError("--config is needed: a file such as training/configs/digits.py")
    try:
        values = json.loads(json.dumps(config.to_dict()))
    except OSError as error:  # a file that is not there shows at the first use of what was in it
        raise MissingFileError(f"--config: cannot be used: {str(error).splitlines()[-1].strip()}") from error
    known = tuple(hsvit_base.get_config())
    for key in values:
        if key not in known:
            from hsvit_keras.models.registry import suggest  # it imports Keras, which takes seconds

            raise InputError(f"the config has an unknown key {key!r}; {suggest(key, known)}")
    for key in known:
        if key not in values:
            raise InputError(f"the config has no {key!r}; start it from hsvit_base.get_config()")
    check(values)
    return values


def check(values):
    """Raises `ValueError` if a value of a plain config is out of its range."""
    for key, (words, is_right) in _RANGES.items():
        if not is_right(values[key]):
            raise InputError(f"config.{key} has to be {words}; received {values[key]!r}")
    _check_validation(values["validation"])
    _check_evaluation_crop(values["evaluation_crop"])
    if values["warmup_epochs"] >= values["epochs"]:
        raise InputError(
            f"config.warmup_epochs has to be less than epochs; received "
            f"warmup_epochs={values['warmup_epochs']}, epochs={values['epochs']}"
        )


def _check_validation(value):
    is_share = isinstance(value, dict) and value.keys() == {"share", "seed"}
    if value != "test" and not (is_share and 0 < value["share"] < 1 and value["seed"] >= 0):
        raise InputError(
            "config.validation has to be a share between 0 and 1 of the training part with a seed, such as "
            f"{{'share': 0.1, 'seed': 0}}, or 'test'; received {value!r}"
        )


def _check_evaluation_crop(value):
    try:
        CentreCrop(**value)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"config.evaluation_crop has to be a dict of share and interpolation; received {value!r}: {error}"
        ) from error


def differences(one, other, prefix=""):
    """Names what differs between two plain configs: list of (key, value of one, value of other)."""
    found = []
    for key in sorted({*one, *other}):
        ours, theirs = one.get(key), other.get(key)
        if isinstance(ours, dict) and isinstance(theirs, dict):
            found += differences(ours, theirs, f"{prefix}{key}.")
        elif ours != theirs:
            found.append((f"{prefix}{key}", ours, theirs))
    return found

"""A training config, checked and as plain values, before anything is built from it."""

import json
import math

from data_sets.crops import CentreCrop
from hsvit_runtime.errors import InputError, MissingFileError
from training.configs import hsvit_base

DTYPES = ("float32", "mixed_bfloat16", "mixed_float16")


def _number(words, is_right):
    return f"a number {words}", lambda value: _is_number(value) and is_right(value)


def _integer(minimum):
    return f"an integer of at least {minimum}", lambda value: _is_integer(value, minimum)


def _sequence(words, is_right):
    return words, lambda value: isinstance(value, list) and all(map(is_right, value))


def _choice(*known):
    return f"one of {', '.join(known)}", lambda value: value in known


def _or_none(rule):
    words, is_right = rule
    return f"{words}, or None", lambda value: value is None or is_right(value)


def _is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_integer(value, minimum):
    return isinstance(value, int) and not isinstance(value, bool) and value >= minimum


def _is_frozen_part(pair):
    if not isinstance(pair, list) or len(pair) != 2:
        return False
    part, epochs = pair
    return (_is_integer(part, 1) or (isinstance(part, str) and part)) and (
        epochs is None or _is_integer(epochs, 1)
    )


_TEXT = ("a name", lambda value: isinstance(value, str) and value)
_RANGE = (
    "two different numbers, of black and of white",
    lambda value: (
        isinstance(value, list) and len(value) == 2 and all(map(_is_number, value)) and value[0] != value[1]
    ),
)
_FLAG = ("True or False", lambda value: isinstance(value, bool))

# What is right for a key, in words and as a check: how a model is trained, in every table that says it.
_TRAINING = {
    "batch_size": _integer(1),
    "epochs": _integer(1),
    "learning_rate": _number("above 0", lambda value: value > 0),
    "warmup_epochs": _integer(0),
    "weight_decay": _number("of at least 0", lambda value: value >= 0),
    "label_smoothing": _number("in [0, 1)", lambda value: 0 <= value < 1),
    "optimizer": _choice("adamw", "adam", "sgd"),
    "epsilon": _number("above 0", lambda value: value > 0),
    "momentum": _number("in [0, 1)", lambda value: 0 <= value < 1),
    "nesterov": _FLAG,
    "schedule": _choice("cosine", "cosine_by_epoch", "step_decay"),
    "warmup_learning_rate": _number("of at least 0", lambda value: value >= 0),
    "min_learning_rate": _number("of at least 0", lambda value: value >= 0),
    "decay_epochs": _sequence("a sequence of integers of at least 1", lambda value: _is_integer(value, 1)),
    "decay_factor": _number("above 0", lambda value: value > 0),
    "decay_kernels_only": _FLAG,
    "layer_decay": _number("above 0 and at most 1", lambda value: 0 < value <= 1),
    "frozen": _sequence(
        "a sequence of pairs of a part (a pattern of layers' names, a depth of at least 1, or 'trunk') and a "
        "number of epochs of at least 1, or None",
        _is_frozen_part,
    ),
    "clip_norm": _or_none(_number("above 0", lambda value: value > 0)),
    "ema_momentum": _or_none(_number("in [0, 1)", lambda value: 0 <= value < 1)),
    "train_images": _or_none(_integer(1)),
    "views": _integer(1),
    "seed": _integer(0),
    "num_workers": _integer(0),
    "dtype": _choice(*DTYPES),
    "jit": _or_none(_FLAG),
    "class_weights": _or_none(_choice("balanced")),
    "patience": _or_none(_integer(1)),
    "image_shape": _or_none(
        (
            "(height, width, channels), three integers of at least 1, of clips with their frames in front",
            lambda value: (
                isinstance(value, list)
                and len(value) in (3, 4)
                and all(_is_integer(number, 1) for number in value)
            ),
        )
    ),
}
# What besides a whole recipe has to say.
_RECIPE = {
    "model": _TEXT,
    "model_arguments": ("a table of arguments", lambda value: isinstance(value, dict)),
    "data": _TEXT,
    "init": _or_none(_TEXT),
    "init_input_range": _or_none(_RANGE),
    "image_model": _or_none(_TEXT),
    "mean": _or_none(_sequence("a sequence of numbers", _is_number)),
    "std": _or_none(
        _sequence("a sequence of numbers above 0", lambda value: _is_number(value) and value > 0)
    ),
}
_DISTILLATION = {
    "teachers": _sequence("a sequence of paths", lambda value: isinstance(value, str)),
    "teacher_input_range": _or_none(_RANGE),
    "alpha": _number("in [0, 1]", lambda value: 0 <= value <= 1),
    "temperature": _number("above 0", lambda value: value > 0),
    "hard": _FLAG,
    "features": _sequence(
        "a sequence of pairs of layers' names", lambda value: isinstance(value, list) and len(value) == 2
    ),
    "feature_weight": _number("of at least 0", lambda value: value >= 0),
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
    _check_known(values, known, "the config")
    for key in known:
        if key not in values:
            raise InputError(f"the config has no {key!r}; start it from hsvit_base.get_config()")
    _check_values(values, _RECIPE)
    check(values)
    return values


def check(values):
    """Raises `ValueError` if a value of a plain config is of another type or out of its range."""
    _check_values(values, _TRAINING)
    distillation = values["distillation"]
    if not isinstance(distillation, dict):
        raise InputError(f"config.distillation has to be a table of settings; received {distillation!r}")
    _check_known(distillation, tuple(_DISTILLATION), "config.distillation")
    for key in _DISTILLATION:
        if key not in distillation:
            raise InputError(f"config.distillation has no {key!r}")
    _check_values(distillation, _DISTILLATION, "distillation.")
    _check_validation(values["validation"])
    _check_evaluation_crop(values["evaluation_crop"])
    if values["warmup_epochs"] >= values["epochs"]:
        raise InputError(
            f"config.warmup_epochs has to be less than epochs; received "
            f"warmup_epochs={values['warmup_epochs']}, epochs={values['epochs']}"
        )
    for key in ("warmup_learning_rate", "min_learning_rate"):
        if values[key] > values["learning_rate"]:
            raise InputError(
                f"config.{key} has to be at most learning_rate; received {key}={values[key]}, "
                f"learning_rate={values['learning_rate']}"
            )


def _check_known(table, known, place):
    for key in table:
        if key not in known:
            from hsvit_keras.models.registry import suggest  # it imports Keras, which takes seconds

            raise InputError(f"{place} has an unknown key {key!r}; {suggest(key, known)}")


def _check_values(table, rules, prefix=""):
    """Raises `ValueError` if a value is not as its rule says; `plain` names keys that are missing."""
    for key, (words, is_right) in rules.items():
        if key in table and not is_right(table[key]):
            raise InputError(f"config.{prefix}{key} has to be {words}; received {table[key]!r}")


def _check_validation(value):
    is_share = isinstance(value, dict) and value.keys() == {"share", "seed"}
    if value != "test" and not (
        is_share and _is_number(value["share"]) and 0 < value["share"] < 1 and _is_integer(value["seed"], 0)
    ):
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

"""A training config, checked and as plain values, before anything is built from it."""

from data_sets.crops import CentreCrop
from hsvit_runtime.errors import InputError
from training.recipes.rules import (
    ARGUMENTS,
    FLAG,
    NAME,
    SEED,
    Rule,
    Table,
    choice,
    integer,
    is_integer,
    is_name,
    is_named_table,
    is_number,
    number,
    or_none,
    sequence,
)
from training.recipes.rules import plain as as_plain

DTYPES = ("float32", "mixed_bfloat16", "mixed_float16")
_MANY = 10**6  # epochs, or images of a batch: more is a slip of the hand
_IMAGES = 10**9
_SIDE = 2**14  # pixels of an image's side, and channels


def _is_frozen_part(pair):
    if not isinstance(pair, list) or len(pair) != 2:
        return False
    part, epochs = pair
    return (is_integer(part, 1, _MANY) or is_name(part)) and (epochs is None or is_integer(epochs, 1, _MANY))


def _is_range(value):
    return isinstance(value, list) and len(value) == 2 and all(map(is_number, value)) and value[0] != value[1]


def _is_image_shape(value):
    return (
        isinstance(value, list) and len(value) in (3, 4) and all(is_integer(side, 1, _SIDE) for side in value)
    )


def _is_validation(value):
    is_share = isinstance(value, dict) and value.keys() == {"share", "seed"}
    return value == "test" or (
        is_share and is_number(value["share"]) and 0 < value["share"] < 1 and SEED.is_right(value["seed"])
    )


def _is_pair_of_names(value):
    return isinstance(value, list) and len(value) == 2 and all(map(is_name, value))


class _EvaluationCrop:
    """What `CentreCrop` takes."""

    def check(self, value, name):
        try:
            CentreCrop(**value)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"{name} has to be a dict of share and interpolation; received {value!r}: {error}"
            ) from error


RANGE = Rule("two different numbers, of black and of white", _is_range)
DISTILLATION = Table(
    {
        "teachers": sequence("a sequence of paths", is_name),
        "teacher_input_range": or_none(RANGE),
        "alpha": number("in [0, 1]", lambda value: 0 <= value <= 1),
        "temperature": number("above 0 and at most 1000", lambda value: 0 < value <= 1000),
        "hard": FLAG,
        "features": sequence("a sequence of pairs of layers' names", _is_pair_of_names),
        "feature_weight": number("from 0 to 1e6", lambda value: 0 <= value <= 1e6),
    }
)
AUGMENTATION = sequence(
    "a sequence of pairs of an operation's name and a dict of its arguments, with finite numbers, such as "
    "(('RandomFlip', {'mode': 'horizontal'}),)",
    is_named_table,
)
# How a model is trained: in every table that says it.
TRAINING = {
    "batch_size": integer(1, _MANY),
    "epochs": integer(1, _MANY),
    "learning_rate": number("above 0 and at most 1000", lambda value: 0 < value <= 1000),
    "warmup_epochs": integer(0, _MANY),
    "weight_decay": number("from 0 to 1000", lambda value: 0 <= value <= 1000),
    "label_smoothing": number("in [0, 1)", lambda value: 0 <= value < 1),
    "optimizer": choice("adamw", "adam", "sgd"),
    "epsilon": number("above 0 and at most 1", lambda value: 0 < value <= 1),
    "momentum": number("in [0, 1)", lambda value: 0 <= value < 1),
    "nesterov": FLAG,
    "schedule": choice("cosine", "cosine_by_epoch", "step_decay"),
    "warmup_learning_rate": number("of at least 0", lambda value: value >= 0),
    "min_learning_rate": number("of at least 0", lambda value: value >= 0),
    "decay_epochs": sequence(
        f"a sequence of integers from 1 to {_MANY}", lambda value: is_integer(value, 1, _MANY)
    ),
    "decay_factor": number("above 0 and at most 1000", lambda value: 0 < value <= 1000),
    "decay_kernels_only": FLAG,
    "layer_decay": number("above 0 and at most 1", lambda value: 0 < value <= 1),
    "frozen": sequence(
        "a sequence of pairs of a part (a pattern of layers' names, a depth of at least 1, or 'trunk') and a "
        "number of epochs of at least 1, or None",
        _is_frozen_part,
    ),
    "clip_norm": or_none(number("above 0", lambda value: value > 0)),
    "ema_momentum": or_none(number("in [0, 1)", lambda value: 0 <= value < 1)),
    "train_images": or_none(integer(1, _IMAGES)),
    "views": integer(1, 1000),
    "seed": SEED,
    "num_workers": integer(0, 256),
    "dtype": choice(*DTYPES),
    "jit": or_none(FLAG),
    "class_weights": or_none(choice("balanced")),
    "patience": or_none(integer(1, _MANY)),
    "image_shape": or_none(
        Rule(
            f"(height, width, channels), three integers from 1 to {_SIDE}, of clips with frames in front",
            _is_image_shape,
        )
    ),
    "augmentation": AUGMENTATION,
    "distillation": DISTILLATION,
    "validation": Rule(
        "a share between 0 and 1 of the training part with a seed, such as {'share': 0.1, 'seed': 0}, or "
        "'test'",
        _is_validation,
    ),
    "evaluation_crop": _EvaluationCrop(),
}
RECIPE = Table(
    {
        "model": NAME,
        "model_arguments": ARGUMENTS,
        "data": NAME,
        "init": or_none(NAME),
        "init_input_range": or_none(RANGE),
        "image_model": or_none(NAME),
        "mean": or_none(sequence("a sequence of numbers", is_number)),
        "std": or_none(
            sequence("a sequence of numbers above 0", lambda value: is_number(value) and value > 0)
        ),
        **TRAINING,
    },
    source="; start it from hsvit_base.get_config()",
)


def plain(config):
    """Gives a training config as nested dicts, lists, numbers and strings: what its JSON file holds.

    Args:
        config: `ConfigDict` with the keys of `training/configs/hsvit_base.py`.

    Raises:
        ValueError: a key is unknown or missing, or a value is of another type or out of its range.
    """
    values = as_plain(config, "digits")
    RECIPE.check(values, "config")
    check_rates(values, "config")
    return values


def check_rates(values, name):
    """Raises `ValueError` if settings of the learning rate contradict each other."""
    if values["warmup_epochs"] >= max(values["epochs"], 1):
        raise InputError(
            f"{name}.warmup_epochs has to be less than epochs; received "
            f"warmup_epochs={values['warmup_epochs']}, epochs={values['epochs']}"
        )
    for key in ("warmup_learning_rate", "min_learning_rate"):
        if values[key] > values["learning_rate"]:
            raise InputError(
                f"{name}.{key} has to be at most learning_rate; received {key}={values[key]}, "
                f"learning_rate={values['learning_rate']}"
            )


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

"""The chain of steps that a config or the command line asks for, checked before anything is computed."""

import dataclasses
import shlex

from command_line import model_data
from hsvit_keras.models.registry import suggest
from hsvit_runtime.errors import InputError
from training.compressing.steps import ARGUMENTS, PARTS, STEPS
from training.configs import compress_base
from training.recipes import recipe
from training.recipes.rules import NAME, Table, integer, is_named_table, or_none, plain, sequence
from training.recipes.settings import value_of

# What a training may have otherwise, but not one within a step: its schedules need all layers and all epochs.
_ALL_TO_THE_END = {"frozen": [], "layer_decay": 1.0, "patience": None, "class_weights": None}
CHAIN = sequence(
    "a sequence of at least one pair of a step's name and a dict of its arguments, with finite numbers, such "
    "as (('slim', {'groups': 8}), ('quantize', {}))",
    is_named_table,
    least=1,
)
_DISTILLATION = Table(
    {**recipe.DISTILLATION.entries, "teachers": or_none(recipe.DISTILLATION.entries["teachers"])}
)
# Settings of training, of all steps or of one; a step of 0 epochs does not train.
_TRAINING = {key: rule for key, rule in recipe.TRAINING.items() if key in compress_base.get_config()} | {
    "epochs": integer(0, 10**6)
}
_OF_ALL_STEPS = {
    "steps": CHAIN,
    "data": or_none(NAME),
    "input_range": or_none(recipe.RANGE),
    "distillation": _DISTILLATION,
}
COMPRESSION = Table({**_TRAINING, **_OF_ALL_STEPS})


@dataclasses.dataclass(frozen=True)
class Step:
    """One step.

    Attributes:
        name: str, one of `STEPS`.
        arguments: dict, what the step is given.
        values: plain config of training within the step; its `epochs` may be 0.
    """

    name: str
    arguments: dict
    values: dict

    def __str__(self):
        return " ".join([self.name, *(f"{name}={value}" for name, value in self.arguments.items())])


def parse_step(text):
    """A pair of a step's name and its arguments from a text such as `"slim groups=8 score=taylor"`.

    Raises:
        ValueError: the text is no such thing, or has an argument twice.
    """
    try:
        name, *settings = shlex.split(text)
        pairs = [setting.split("=", 1) for setting in settings]
        arguments = {key: value_of(value) for key, value in pairs}
    except ValueError:
        raise InputError(
            f"--step takes a name and arguments, as in --step='slim groups=8 epochs=20'; received {text!r}"
        ) from None
    for key in arguments:
        if (given := [value for name, value in pairs if name == key])[1:]:
            raise InputError(f"--step={text!r} has {key} more than once, {' and '.join(given)}")
    return name, arguments


def chain(config, description, image_shape):
    """The steps of a config.

    Args:
        config: `ConfigDict` with the keys of `training/configs/compress_base.py`.
        description: `hsvit_runtime.description.Description` of the model.
        image_shape: (height, width, channels) of the model's images.

    Returns:
        list of `Step`.

    Raises:
        ValueError: a step, an argument or a setting is unknown, missing, out of range or out of order.
    """
    values = plain_chain(config)
    steps = checked_steps(values)
    own = {
        "data": model_data.data_set_of(description, values["data"], "--config.data"),
        "input_range": list(
            model_data.input_range_of(description, values["input_range"], "--config.input_range")
        ),
        "image_shape": list(image_shape),
    }
    if description.resizing is not None:
        own["resizing"] = description.resizing.to_json()
    return [dataclasses.replace(step, values={**step.values, **own}) for step in steps]


def with_teachers(steps, task):
    """The steps with their teachers: where no setting names any, the original, if the task can have one."""
    default = ["original"] if task.learns_from_teachers else []
    return [_with_teachers(step, default) for step in steps]


def _with_teachers(step, default):
    distillation = step.values["distillation"]
    if distillation["teachers"] is not None:
        return step
    return dataclasses.replace(
        step, values={**step.values, "distillation": {**distillation, "teachers": default}}
    )


def plain_chain(config):
    """The config of a compression as plain values.

    Raises:
        ValueError: a key is unknown or missing, or a value is of another type or out of its range.
    """
    values = plain(config, "compress_digits")
    if not values.get("steps", True):
        raise InputError("there is nothing to do: name steps with --step, or in the config")
    COMPRESSION.check(values, "config")
    return values


def checked_steps(values):
    """The steps of a plain config, without what only a model says.

    Raises:
        ValueError: a step, an argument or a setting is unknown, missing, out of range or out of order.
    """
    values = {**values, **_ALL_TO_THE_END}
    pairs = values.pop("steps")
    steps = [_step(name, arguments, values) for name, arguments in pairs]
    _check_order([step.name for step in steps])
    return steps


def _step(name, arguments, values):
    if name not in STEPS:
        raise InputError(f"there is no step {name!r}; {suggest(name, STEPS)}")
    title, distillation, own = f"step {name!r}", dict(values["distillation"]), {}
    trainable = {key: rule for key, rule in _TRAINING.items() if key not in _OF_ALL_STEPS}
    trainable |= _DISTILLATION.entries
    for key, value in arguments.items():
        if key in distillation:
            distillation[key] = value = _as_list(value) if key in ("teachers", "features") else value
        elif key in trainable:
            values = {**values, key: value}
        elif key in ARGUMENTS[name]:
            own[key] = value
        else:
            known = [*ARGUMENTS[name], *sorted(trainable)]
            raise InputError(f"{title} has no argument {key!r}; {suggest(key, known)}")
        (trainable | ARGUMENTS[name])[key].check(value, f"{title}: {key}")
    recipe.check_rates(values, title)
    if name == "slim" and not own.keys() & PARTS:
        raise InputError(
            f"{title} removes nothing: it needs one of {', '.join(PARTS)}, as in 'slim groups=8'"
        )
    if name == "prune" and not values["epochs"]:
        raise InputError(f"{title} trains while it prunes: it needs at least 1 of epochs")
    return Step(name, own, {**values, "distillation": distillation})


def _check_order(names):
    """Raises an error about a wrong order at once, not after hours of training."""
    if "quantize" in names:
        after = names[names.index("quantize") + 1 :]
        for name in ("slim", "quantize"):
            if name in after:
                raise InputError(f"step {name!r} cannot follow 'quantize': received {', '.join(names)}")


def _as_list(value):
    return list(value) if isinstance(value, list | tuple) else [value] if value else []

"""The chain of steps that a config or the command line asks for, checked before anything is computed."""

import dataclasses
import json
import shlex

from command_line import model_data
from hsvit_keras.models.registry import suggest
from hsvit_runtime.errors import InputError
from training.compressing.steps import STEPS, arguments_of
from training.configs import compress_base
from training.recipes import recipe
from training.recipes.settings import value_of

# What a training may have otherwise, but not one within a step: its schedules need all layers and all epochs.
_ALL_TO_THE_END = {"frozen": [], "layer_decay": 1.0, "patience": None, "class_weights": None}


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
        ValueError: the text is no such thing.
    """
    try:
        name, *settings = shlex.split(text)
        return name, {key: value_of(value) for key, value in (setting.split("=", 1) for setting in settings)}
    except ValueError:
        raise InputError(
            f"--step takes a name and arguments, as in --step='slim groups=8 epochs=20'; received {text!r}"
        ) from None


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
    values = json.loads(json.dumps(config.to_dict()))
    _check_keys(values)
    pairs = values.pop("steps")
    if not pairs:
        raise InputError("there is nothing to do: name steps with --step, or in the config")
    values["data"] = model_data.data_set_of(description, values["data"], "--config.data")
    low, high = model_data.input_range_of(description, values["input_range"], "--config.input_range")
    values |= {"input_range": [low, high], "image_shape": list(image_shape), **_ALL_TO_THE_END}
    if description.resizing is not None:
        values["resizing"] = description.resizing.to_json()
    steps = [_step(name, dict(arguments), values) for name, arguments in pairs]
    _check_order([step.name for step in steps])
    return steps


def _step(name, arguments, values):
    if name not in STEPS:
        raise InputError(f"there is no step {name!r}; {suggest(str(name), STEPS)}")
    distillation = dict(values["distillation"])
    own = {}
    of_all_steps = {"steps", "data", "input_range", "distillation"}
    trainable = {*compress_base.get_config(), *distillation} - of_all_steps
    for key, value in arguments.items():
        if key in distillation:
            distillation[key] = _as_list(value) if key in ("teachers", "features") else value
        elif key in trainable:
            values = {**values, key: value}
        elif key in arguments_of(name):
            own[key] = value
        else:
            known = [*arguments_of(name), *sorted(trainable)]
            raise InputError(f"step {name!r} has no argument {key!r}; {suggest(key, known)}")
    values = {**values, "distillation": distillation}
    recipe.check({**values, "epochs": values["epochs"] or 1} if type(values["epochs"]) is int else values)
    if name == "prune" and not values["epochs"]:
        raise InputError("step 'prune' trains while it prunes: it needs at least 1 of epochs")
    return Step(name, own, values)


def _check_order(names):
    """Raises an error about a wrong order at once, not after hours of training."""
    if "quantize" in names:
        after = names[names.index("quantize") + 1 :]
        for name in ("slim", "quantize"):
            if name in after:
                raise InputError(f"step {name!r} cannot follow 'quantize': received {', '.join(names)}")


def _check_keys(settings):
    known = list(compress_base.get_config())
    for key in settings:
        if key not in known:
            raise InputError(f"the config has an unknown key {key!r}; {suggest(key, known)}")


def _as_list(value):
    return list(value) if isinstance(value, list | tuple) else [value] if value else []

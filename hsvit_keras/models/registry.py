"""Named variants of the families: `register_model`, `create_model`, `list_models`."""

import dataclasses
import difflib
import fnmatch
import inspect
from collections.abc import Callable

from hsvit_keras.models.image_model import COMMON_ARGUMENTS, as_plain
from hsvit_runtime.errors import InputError

_VARIANTS = {}
# What other packages build, which may not be installed: made by name, and not listed with our own.
_BORROWED = {}
_SUGGESTED = 40  # names in a message; a model may have hundreds of layers


@dataclasses.dataclass(frozen=True)
class Variant:
    """One registered model: its class and its constructor arguments.

    `arguments` is a function of the input shape, since papers change strides with the size of the image.
    """

    model_class: type
    input_shape: tuple
    num_classes: int
    arguments: Callable[[tuple], dict]


def register_model(name, model_class, *, input_shape, num_classes, arguments, is_borrowed=False):
    """Registers a variant.

    Args:
        name: str, `family_variant` in lower case.
        model_class: class whose constructor takes `input_shape`, `num_classes`, `name` and the rest.
        input_shape: default (height, width, channels), in pixels.
        num_classes: int, default number of classes.
        arguments: dict of the other constructor arguments, or a function from an input shape to it.
        is_borrowed: bool, whether another package builds it; `list_models` leaves it out then.

    Raises:
        ValueError: there is a model of this name.
    """
    if name in _VARIANTS or name in _BORROWED:
        raise InputError(f"a model named {name!r} is registered already")
    of_shape = arguments if callable(arguments) else lambda shape: arguments
    (_BORROWED if is_borrowed else _VARIANTS)[name] = Variant(
        model_class, tuple(input_shape), num_classes, of_shape
    )


def list_models(pattern="*"):
    """Names of the registered models of this package, sorted.

    Args:
        pattern: str with shell wildcards, such as `"hsvit*"`.

    Returns:
        List of str.
    """
    return sorted(fnmatch.filter(_VARIANTS, pattern))


def create_model(name, *, input_shape=None, num_classes=None, **overrides):
    """Makes a registered model with fresh weights.

    Args:
        name: str, one of `list_models()`.
        input_shape: (height, width, channels) in pixels; the variant's own by default.
        num_classes: int; the variant's own by default.
        **overrides: any other constructor argument of the variant's class, or of all models: `head=None`
            gives named features in place of logits, `mean` and `std` make a model of pixels, `class_names`
            and `data_set` are saved with it, see `ImageModel`.

    Returns:
        A `keras.Model` from images `(batch, height, width, channels)` to the logits of its head:
        `(batch, num_classes)` for classification, `(batch, height, width, num_classes)` for segmentation;
        with `head=None` to a dict of features, whose names are in the docstring of the class.

    Raises:
        ValueError: there is no such model, or an argument has a value that does not fit.
        TypeError: there is no such argument.
    """
    check_arguments(name, overrides)
    variant = registered(name)
    input_shape = variant.input_shape if input_shape is None else as_plain(input_shape)
    return variant.model_class(
        input_shape=input_shape,
        num_classes=variant.num_classes if num_classes is None else as_plain(num_classes),
        name=name,
        **variant.arguments(input_shape)
        | {argument: as_plain(value) for argument, value in overrides.items()},
    )


def registered(name):
    """The `Variant` of a name.

    Raises:
        ValueError: there is no such model.
    """
    known = {**_VARIANTS, **_BORROWED}
    if name not in known:
        raise InputError(f"there is no model {name!r}; {suggest(str(name), known)}")
    return known[name]


def check_arguments(name, arguments):
    """Raises `ValueError` if there is no such model, and `TypeError` if it lacks an argument."""
    own = inspect.signature(registered(name).model_class).parameters
    known = [*(argument for argument in own if argument != "kwargs"), *COMMON_ARGUMENTS]
    for argument in arguments:
        if argument not in known:
            raise TypeError(f"{name} has no argument {argument!r}; {suggest(argument, known)}")


def resized_arguments(arguments, old, new):
    """What a registered model has otherwise for images of another size, such as the strides of its pooling.

    Args:
        arguments: dict, the constructor arguments of a model, whose `name` may be a registered one.
        old: (height, width, channels) of its images.
        new: (height, width, channels).

    Returns:
        dict of the arguments that change; those that are not the variant's own stay.
    """
    variant = _VARIANTS.get(arguments["name"])
    if variant is None:
        return {}
    own, resized = ({name: as_plain(v) for name, v in variant.arguments(s).items()} for s in (old, new))
    return {name: value for name, value in resized.items() if arguments[name] == own[name] != value}


def suggest(word, known):
    """A hint for an unknown `word`: the closest of the known ones, or what there is."""
    if close := difflib.get_close_matches(word, known, n=1):
        return f"did you mean {close[0]!r}?"
    names, more = sorted(known), len(known) - _SUGGESTED
    return f"there are {', '.join(names[:_SUGGESTED])}{f' and {more} more' if more > 0 else ''}"

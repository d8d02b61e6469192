"""Which data a command prepares for a model: what the model says, or what flags say where it says nothing."""

import math

from absl import flags

from command_line import bounded
from data_sets.catalog import DATASETS
from hsvit_runtime.errors import InputError


def define_flags():
    """Defines `--data`, `--data_dir` and `--input_range`."""
    flags.DEFINE_string("data", None, f"Data set, by default the model's own: {', '.join(DATASETS)}.")
    bounded.data_dir()
    bounded.numbers(
        "input_range",
        None,
        "Values of a black and of a white pixel in the model's input, such as 0,255 or -1,1; needed only for "
        "a model that does not say them.",
        -1e6,
        1e6,
        count=2,
    )


def data_set_of(description, named=None, option="--data"):
    """The name of the data set to use.

    Args:
        description: `hsvit_runtime.description.Description` of the model.
        named: str, what the user asks for, or None.
        option: str, how the user names it, for the error.

    Returns:
        str.

    Raises:
        InputError: neither says it.
    """
    if named is None and description.data_set is None:
        raise InputError(
            f"the model does not say its data set: name it by {option}, one of {', '.join(DATASETS)}"
        )
    return description.data_set if named is None else named


def are_pixels(shape):
    """Whether a shape is that of images (batch, height, width, channels) or of clips (batch, frames, ...)."""
    return len(shape) in (4, 5)


def check_takes_images(model, otherwise=""):
    """Raises `InputError` unless a model has one input, images or clips of one size.

    Args:
        model: `keras.Model`.
        otherwise: str, what to do with a model of others, for the end of the message.
    """
    shapes = [tuple(tensor.shape) for tensor in model.inputs]
    if len(shapes) != 1 or not are_pixels(shapes[0]) or None in shapes[0][1:]:
        raise InputError(
            f"{model.name!r} has to take images (batch, height, width, channels) of one size, or clips with "
            f"frames in front of the height, and its inputs are {shapes}{otherwise}"
        )


def check_has_one_output(model):
    """Raises `InputError` if a model has several outputs."""
    if len(model.outputs) != 1:
        shapes = [tuple(tensor.shape) for tensor in model.outputs]
        raise InputError(f"{model.name!r} has to give one output, and its outputs are {shapes}")


def input_range_of(description, given=None, option="--input_range"):
    """The values that a black and a white pixel have in a model's input.

    Args:
        description: `hsvit_runtime.description.Description` of the model.
        given: sequence of numbers, or of texts as a flag gives them; None where the user says nothing.
        option: str, how the user says them, for the error.

    Returns:
        (low, high), two different floats.

    Raises:
        InputError: neither says them, they contradict each other, or `given` is no range.
    """
    if given is None and description.input_range is None:
        raise InputError(
            "the model does not say which values its pixels have: give those of black and white by "
            f"{option}, such as 0,255 or 0,1 or -1,1"
        )
    said = description.input_range
    values = said if given is None else _numbers(given)
    if len(values) != 2 or values[0] == values[1]:
        raise InputError(f"{option} takes two different numbers, such as 0,255; received {_shown(given)}")
    values = tuple(map(float, values))
    if said is not None and values != tuple(map(float, said)):
        raise InputError(
            f"{option}={_shown(given)} contradicts the model, whose pixels are from {_shown(said)}"
        )
    return values


def _numbers(given):
    """Finite numbers of a sequence, or of texts; nothing where one of them is none."""
    try:
        values = [float(one) for one in given]
    except (TypeError, ValueError):
        return ()
    return values if all(map(math.isfinite, values)) else ()


def input_range_of_file(model, given=None, option="--input_range"):
    """The values that a black and a white pixel have in the input of a model that is run.

    Args:
        model: `hsvit_runtime.runnable.Runnable` with one input, images.
        given: what the user says for models that do not say it, see `input_range_of`.
        option: str, how the user says it, for the error.

    Returns:
        (low, high), two different floats: what the model says, else what the user says; but an integer input
        that could not hold them takes what its own levels represent, the bytes of an image.

    Raises:
        InputError: neither says them, or `given` is no range.
    """
    levels = model.inputs[0].limits
    description = model.description
    if description.input_range is None and given is None and levels is not None:
        return levels
    values = input_range_of(description, given if description.input_range is None else None, option)
    return values if levels is None or _are_near(values, levels) else levels


def _are_near(values, levels):
    """Whether two ranges differ by less than a quarter: calibration does not see every white pixel."""
    tolerance = 0.25 * (levels[1] - levels[0])
    return all(abs(value - level) <= tolerance for value, level in zip(values, levels, strict=True))


def _shown(values):
    return ",".join(value if isinstance(value, str) else f"{value:g}" for value in values)

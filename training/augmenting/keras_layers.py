"""Keras' own layers that change images: what their arguments may be, and each as a function of a generator.

The layers take many a wrong value without a word, and fail with the first batch or train on images that
nobody meant. What their arguments mean goes by their names, which are the same in all of them.
"""

import inspect
import re
import warnings

import keras
import numpy as np

from hsvit_runtime.errors import InputError
from training.fitting.seeds import draw_states, seed_states
from training.recipes.rules import FLAG, Rule, integer, is_integer, is_number, number, or_none

_LONGEST_REASON = 200  # characters


def _is_number_or_pair(value):
    pair = value if isinstance(value, list | tuple) else [value, value]
    return len(pair) == 2 and all(map(is_number, pair))


def _is_range(value):
    return isinstance(value, list | tuple) and _is_number_or_pair(value) and value[0] < value[1]


def _is_kernel_size(value):
    sides = value if isinstance(value, list | tuple) else [value, value]
    return len(sides) == 2 and all(is_integer(side, 1, _SIDE) for side in sides)


_SIDE = 2**14  # pixels
_STRENGTH = Rule("a number, or two numbers that it lies between", _is_number_or_pair)
_STEPS = integer(1, 100)
_RULES = {
    **dict.fromkeys(("factor", "scale", "sigma"), _STRENGTH),
    **dict.fromkeys(("x_factor", "y_factor", "height_factor", "width_factor"), _STRENGTH),
    **dict.fromkeys(("addition_factor", "threshold_factor"), _STRENGTH),
    **{f"{kind}_factor": _STRENGTH for kind in ("brightness", "contrast", "saturation", "hue")},
    "value_range": Rule("two numbers, the lower one first", _is_range),
    "alpha": number("above 0 and at most 1000", lambda value: 0 < value <= 1000),
    "fill_value": number("from 0 to 255", lambda value: 0 <= value <= 255),
    "kernel_size": Rule(f"an integer from 1 to {_SIDE}, or two of them", _is_kernel_size),
    **dict.fromkeys(("height", "width", "max_number"), integer(1, _SIDE)),
    **dict.fromkeys(("num_chains", "chain_depth"), _STEPS),
    "bins": integer(2, 65_536),
    **dict.fromkeys(("all_ops", "crop_to_aspect_ratio", "pad_to_aspect_ratio", "antialias"), FLAG),
}
# What no table of an augmentation says: images are channels-last, and the generator decides everything.
_NOT_TAKEN = ("seed", "data_format", "kwargs", "name", "dtype")


def layers():
    """dict from name to class of Keras' layers that change images."""
    return {
        name: known
        for name, known in vars(keras.layers).items()
        if hasattr(known, "get_random_transformation")
    }


def arguments_of(layer_class):
    """The names of the arguments that a table may give a layer."""
    return [name for name in inspect.signature(layer_class).parameters if name not in _NOT_TAKEN]


class KerasLayer:
    """One of Keras' layers as a compiled pure function of its data and its random states.

    Args:
        name: str, one of `layers`.
        arguments: dict.

    Call arguments:
        data: dict of `Task.augmentable`.
        rng: `numpy.random.Generator` that decides everything.

    Returns:
        A dict of the same keys and shapes.

    Raises:
        TypeError, ValueError: an argument is unknown, or has a value that the layer does not take.
    """

    def __init__(self, name, arguments):
        self.name, layer_class = name, layers()[name]
        known = inspect.signature(layer_class).parameters
        for key, value in arguments.items():
            if key not in arguments_of(layer_class):
                raise InputError(f"there is no argument {key!r}")
            rule = _RULES.get(key)  # interpolation and fill_mode are checked by Keras
            if rule is not None:
                (or_none(rule) if known[key].default is None else rule).check(value, key)
        self._layer = layer_class(**arguments)
        self._states = seed_states(self._layer)
        self._compiled = _compile(self._stateless)

    def __call__(self, data, rng):
        data = _as_floats(data)
        changed = self._compiled(data, draw_states(self._states, rng))
        self._check_shape(data, changed)
        return changed

    def try_out(self, data):
        """Raises `InputError` if the layer does not take such data, of which it computes nothing."""
        data = _as_floats(data)
        try:
            changed = _traced(self._compiled, self._stateless, data, [state.value for state in self._states])
        except Exception as error:  # they fail in any way
            shape = data["images"].shape[1:]
            raise InputError(
                f"augmentation: {self.name} does not work on images {shape}: {_reason(error)}"
            ) from error
        self._check_shape(data, changed)

    def _check_shape(self, data, changed):
        before, after = data["images"].shape, tuple(changed["images"].shape)
        if before != after:
            raise InputError(
                f"augmentation has to keep the shape of the images; {self.name} "
                f"made {after[1:]} of {before[1:]}"
            )

    def _stateless(self, data, values):
        with (
            keras.StatelessScope(list(zip(self._states, values, strict=True))),
            warnings.catch_warnings(),
        ):
            # MixUp asks for 64-bit indices, which JAX does not have by default.
            warnings.filterwarnings("ignore", "Explicitly requested dtype int64")
            if isinstance(self._layer, keras.layers.RandomGrayscale):  # of all it alone takes no dict
                return {**data, "images": self._layer(data["images"])}
            return self._layer(dict(data))


def _reason(error):
    """What an error of a layer says, without Keras' words around it and its sequences for terminals."""
    said = re.search(r"\x1b\[1m(.*?)\x1b\[0m", str(error), re.DOTALL)
    return " ".join((said[1] if said else str(error)).split())[:_LONGEST_REASON]


def _as_floats(data):
    return {**data, "images": np.asarray(data["images"], np.float32)}


def _compile(function):
    backend = keras.backend.backend()
    if backend == "jax":
        import jax

        return jax.jit(function)
    if backend == "tensorflow":
        import tensorflow as tf

        return tf.function(function, autograph=False)
    return function


def _traced(compiled, function, *arguments):
    """What a function gives, with shapes in place of values where the backend can say them."""
    backend = keras.backend.backend()
    if backend == "jax":
        import jax

        return jax.eval_shape(function, *arguments)
    if backend == "tensorflow":
        return compiled.get_concrete_function(*arguments).structured_outputs
    return function(*arguments)

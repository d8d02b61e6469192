"""What all families have in common: a Functional graph that remembers the arguments it was built from."""

import contextlib

import keras
import numpy as np


class ImageClassifier(keras.Model):
    """A Functional graph from images to logits, saved as the arguments of its constructor.

    Args:
        build: function from the image, a KerasTensor `(batch, height, width, channels)`, to the logits.
        arguments: dict with every argument of the subclass's constructor, see `constructor_arguments`.
            Each becomes an attribute, but for those that a model has already under that name
            (`input_shape`, `dtype`, `name`).
    """

    def __init__(self, build, arguments, **kwargs):
        with _layers_of(arguments["dtype"]):
            image = keras.Input(arguments["input_shape"], name="image")
            logits = build(image)
        super().__init__(inputs=image, outputs=logits, name=arguments["name"], **kwargs)
        self._arguments = arguments
        for name, value in arguments.items():
            if not hasattr(ImageClassifier, name):
                setattr(self, name, value)

    def get_config(self):
        return {**self._arguments, "dtype": self._arguments["dtype"].name, "trainable": self.trainable}


def constructor_arguments(scope):
    """The arguments of a constructor as plain values, the dtype as a policy.

    Args:
        scope: `locals()`, as the first thing that a constructor calls.
    """
    arguments = {name: value for name, value in scope.items() if name not in ("self", "kwargs", "__class__")}
    arguments["dtype"] = keras.dtype_policies.get(arguments["dtype"] or keras.config.dtype_policy())
    return {name: as_plain(value) for name, value in arguments.items()}


def as_plain(value):
    """NumPy's numbers as Python's, lists and arrays as tuples; anything else as it is."""
    value = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
    return tuple(value) if isinstance(value, list) else value


@contextlib.contextmanager
def _layers_of(policy):
    """Layers made inside have this dtype policy."""
    outer = keras.config.dtype_policy()
    keras.config.set_dtype_policy(policy)
    try:
        yield
    finally:
        keras.config.set_dtype_policy(outer)

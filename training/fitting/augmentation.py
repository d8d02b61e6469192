"""Random changes of training images by Keras' own layers, as a function of a random generator alone.

The layers keep no state between batches: their random states are passed in with each batch. So the same
generator gives the same images in any order, in any thread and after a restart. Each layer is compiled by
itself and runs on the accelerator where JAX has one.
"""

import warnings

import keras
import numpy as np

from hsvit_keras.models.registry import suggest
from hsvit_runtime.errors import InputError
from training.fitting.seeds import draw_states, seed_states


class Augmentation:
    """What `data_sets.batches` takes as `augment`; turns labels into the targets of a task's loss as well.

    Args:
        table: sequence of (name of a Keras layer, dict of its arguments), applied in this order to
            pixels of 0 to 255: `[("RandomFlip", {"mode": "horizontal"}), ("MixUp", {"alpha": 0.2})]`.
            An empty one only turns labels into targets.
        task: `hsvit_keras.tasks.Task` that the labels are for.
        num_classes: int.

    Call arguments:
        images: array `(batch, height, width, channels)`, from 0 to 255.
        labels: int array `(batch, ...)`.
        rng: `numpy.random.Generator` that decides everything.

    Returns:
        (float32 images of the same shape, from 0 to 255; targets of the task's loss).

    Raises:
        ValueError: there is no such layer, it does not take the arguments, or it resizes images.
    """

    def __init__(self, table, task, num_classes):
        self._task, self._num_classes = task, num_classes
        self._transforms = [_Transform(_layer(*_name_and_arguments(entry))) for entry in table]

    def __call__(self, images, labels, rng):
        data = self._task.augmentable(images.astype(np.float32), labels, self._num_classes)
        self._check(data)
        for transform in self._transforms:
            data = transform(data, rng)
        return np.asarray(data["images"]), np.asarray(self._task.targets(data))

    def _check(self, data):
        if "segmentation_masks" in data and "MixUp" in [transform.name for transform in self._transforms]:
            raise InputError("augmentation: MixUp averages labels, and classes of a mask have no average")


class _Transform:
    """One layer as a compiled pure function of its data and its random states."""

    def __init__(self, layer):
        self.name = type(layer).__name__
        self._layer = layer
        self._states = seed_states(layer)
        self._compiled = _compile(self._stateless)

    def __call__(self, data, rng):
        changed = self._compiled(data, draw_states(self._states, rng))
        before, after = data["images"].shape, tuple(changed["images"].shape)
        if before != after:
            raise InputError(
                f"augmentation has to keep the shape of the images; {self.name} "
                f"made {after[1:]} of {before[1:]}"
            )
        return changed

    def _stateless(self, data, values):
        with (
            keras.StatelessScope(list(zip(self._states, values, strict=True))),
            warnings.catch_warnings(),
        ):
            # MixUp asks for 64-bit indices, which JAX does not have by default.
            warnings.filterwarnings("ignore", "Explicitly requested dtype int64")
            return self._layer(dict(data))


def _compile(function):
    backend = keras.backend.backend()
    if backend == "jax":
        import jax

        return jax.jit(function)
    if backend == "tensorflow":
        import tensorflow as tf

        return tf.function(function, autograph=False)
    return function


def _name_and_arguments(entry):
    try:
        name, arguments = entry
        return name, dict(arguments)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"each element of augmentation has to be a pair of a layer's name and a dict of its "
            f"arguments, such as ('RandomFlip', {{'mode': 'horizontal'}}); received {entry!r}"
        ) from error


def _layer(name, arguments):
    known = [
        known
        for known, layer_class in vars(keras.layers).items()
        if hasattr(layer_class, "get_random_transformation")
    ]
    if name not in known:
        raise InputError(
            f"augmentation: Keras has no layer {name!r} that changes images; {suggest(str(name), known)}"
        )
    try:
        return getattr(keras.layers, name)(**arguments)
    except (TypeError, ValueError, NotImplementedError) as error:
        raise InputError(f"augmentation: {name} does not take {arguments!r}: {error}") from error

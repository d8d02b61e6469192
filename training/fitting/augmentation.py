"""Random changes of training images as a function of a random generator alone.

They are made by Keras' own layers, and by operations of `training.augmenting` where those layers do otherwise
than papers and their programs. Neither keeps state between batches: the layers' random states are passed in
with each batch. So the same generator gives the same images in any order, in any thread and after a restart.
Each layer is compiled by itself and runs on the accelerator where JAX has one.
"""

import inspect

import numpy as np

from data_sets.crops import RandomPartOrWhole, RandomResizedCrop, RandomShorterSide
from hsvit_keras.models.registry import suggest
from hsvit_runtime.errors import InputError
from training.augmenting import keras_layers
from training.augmenting.erasing import RandomErasing
from training.augmenting.flipping import RandomFlip
from training.augmenting.keras_layers import KerasLayer
from training.augmenting.mixing import MixUpOrCutMix
from training.augmenting.policies import Policy, RandAugment, RandAugmentIncreasing, TrivialAugmentWide

_CROPS = (RandomResizedCrop, RandomPartOrWhole, RandomShorterSide)
# These come before layers of Keras of the same name.
_OPERATIONS = {
    operation.__name__: operation
    for operation in (
        *_CROPS,
        RandomFlip,
        RandAugment,
        RandAugmentIncreasing,
        TrivialAugmentWide,
        RandomErasing,
        MixUpOrCutMix,
    )
}
_OF_COLOURS = {policy.__name__ for policy in (RandAugment, RandAugmentIncreasing, TrivialAugmentWide)}
_AVERAGE_LABELS = {"MixUp", "MixUpOrCutMix"}
_MIXING_LAYERS = {"MixUp", "CutMix"}  # of Keras, which mix any image with any other
# What may be done to images with boxes: it moves these with them, or leaves all where it is.
_KEEP_BOXES = {
    *("RandomResizedCrop", "RandomPartOrWhole", "RandomFlip", "RandomErasing"),
    *("AutoContrast", "RandomBrightness", "RandomColorDegeneration", "RandomColorJitter", "RandomContrast"),
    *("RandomGaussianBlur", "RandomGrayscale", "RandomHue", "RandomInvert", "RandomPosterization"),
    *("RandomSaturation", "RandomSharpness", "Solarization"),
}


class Augmentation:
    """What `data_sets.batches` takes as `augment`; turns labels into the targets of a task's loss as well.

    Args:
        table: sequence of (name of an operation, dict of its arguments), applied in this order to pixels of
            0 to 255: `[("RandomFlip", {"mode": "horizontal"}), ("RandAugment", {"magnitude": 9})]`. The
            operations are the classes of `training.augmenting`, and Keras' layers that change images;
            random crops, which are made as images are read, can only come first. An empty table only
            turns labels into targets.
        task: `hsvit_keras.tasks.Task` that the labels are for.
        num_classes: int.

    Attributes:
        crop: a random crop of `data_sets.crops`, what `data_sets.batches` takes as `crop`; None if there is
            none in the table.

    Call arguments:
        images: array `(batch, height, width, channels)`, or of clips `(batch, frames, height, width,
            channels)`, all frames of which are changed alike, from 0 to 255.
        labels: array `(batch, ...)` of a data set's labels.
        rng: `numpy.random.Generator` that decides everything.
        rows: int array of the images' places that are there, all by default. The others are black, and what
            takes long is left out for them.

    Returns:
        (float32 images of the same shape; targets of the task's loss).

    Raises:
        ValueError: there is no such operation, it does not take the arguments, or it resizes images.
    """

    def __init__(self, table, task, num_classes):
        self._task, self._num_classes = task, num_classes
        self.crop, self._transforms = read_table(table)
        self._names = [name for name, _ in table]

    def __call__(self, images, labels, rng, rows=None):
        data = self._task.augmentable(images, labels, self._num_classes)
        self._check(data)
        for transform in self._transforms:
            data = transform(data, rng, rows) if isinstance(transform, Policy) else transform(data, rng)
        changed = self._task.images(data, images.shape)
        return np.asarray(changed, np.float32), np.asarray(self._task.targets(data))

    def reads(self, rows, batch):
        """The places of the images from which those at `rows` are made.

        Args:
            rows: int array of places in a batch.
            batch: int, images in it.
        """
        for name in reversed(self._names):
            if name == MixUpOrCutMix.__name__:
                rows = np.union1d(rows, MixUpOrCutMix.partners(rows, batch))
            elif name in _MIXING_LAYERS:
                return np.arange(batch)
        return rows

    def try_out(self, image_shape, labels):
        """Says at once what does not fit.

        Args:
            image_shape: (height, width, channels) of the images, or (frames, ...) of clips.
            labels: some of the data set's.

        Raises:
            ValueError: an operation does not take such images or labels.
        """
        black = np.zeros((len(labels), *image_shape), np.uint8)
        data = self._task.augmentable(black, labels, self._num_classes)
        self._check(data)
        for transform in self._transforms:
            if isinstance(transform, KerasLayer):
                transform.try_out(data)
            else:
                transform(data, np.random.default_rng(0))

    def _check(self, data):
        for name in self._names:
            if name in _OF_COLOURS and data["images"].shape[-1] > 3:
                raise InputError(f"augmentation: {name} changes colours of images, not of clips")
            if name in _AVERAGE_LABELS and "segmentation_masks" in data:
                raise InputError(f"augmentation: {name} averages labels, which masks of classes do not allow")
            if "box_labels" in data and name not in _KEEP_BOXES:
                raise InputError(
                    f"augmentation: {name} would leave boxes where they were; of images with boxes there are "
                    f"{', '.join(sorted(_KEEP_BOXES))}"
                )


def read_table(table):
    """Makes the operations of an augmentation.

    Args:
        table: sequence of pairs, see `Augmentation`.

    Returns:
        (random crop or None, list of functions `(data, rng) -> data`).

    Raises:
        ValueError: an entry is wrong.
    """
    made = [_made(*_name_and_arguments(entry)) for entry in table]
    crop = made.pop(0) if made and isinstance(made[0], _CROPS) else None
    if late := next((operation for operation in made if isinstance(operation, _CROPS)), None):
        name = type(late).__name__
        raise InputError(f"augmentation: {name} is made as images are read and has to come first")
    return crop, made


def _name_and_arguments(entry):
    try:
        name, arguments = entry
        if not isinstance(name, str):
            raise TypeError("an operation is named by text")
        return name, dict(arguments)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"each element of augmentation has to be a pair of an operation's name and a dict of its "
            f"arguments, such as ('RandomFlip', {{'mode': 'horizontal'}}); received {entry!r}"
        ) from error


def _made(name, arguments):
    """The operation of an entry: a function (data, rng) -> data, or a crop."""
    layers = keras_layers.layers()
    if name not in _OPERATIONS and name not in layers:
        raise InputError(
            f"augmentation: there is no operation {name!r}, and Keras has no layer {name!r} that changes "
            f"images; {suggest(str(name), {**layers, **_OPERATIONS})}"
        )
    try:
        return _OPERATIONS[name](**arguments) if name in _OPERATIONS else KerasLayer(name, arguments)
    except (TypeError, ValueError, NotImplementedError) as error:
        takes = (
            inspect.signature(_OPERATIONS[name]).parameters
            if name in _OPERATIONS
            else keras_layers.arguments_of(layers[name])
        )
        raise InputError(
            f"augmentation: {name} does not take {arguments!r}: {error}; its arguments are {', '.join(takes)}"
        ) from error

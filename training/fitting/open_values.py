"""What a config leaves open: the model that is trained on, and what images or that model decide."""

import pathlib

import numpy as np

from command_line.model_data import input_range_of
from data_sets import load_dataset, sample_images
from data_sets.image_sizes import typical_shape
from hsvit_runtime.errors import InputError

# The sizes of images that HSViT's paper trains at, but for ImageNet's; the largest that images fill is taken.
_SIDES = (32, 64, 128)
_SAMPLE = 1000  # images that statistics are taken of


def load_source(values):
    """The model that a config trains on, its `init`; None where it trains from scratch.

    Raises:
        InputError: it is no model, or does not say which values its pixels have, like the config.
        MissingFileError: there is no such file.
    """
    if values["init"] is None:
        return None
    from hsvit_keras.layers.model_description import description_of

    source = load_any(values["init"])
    input_range_of(description_of(source), values["init_input_range"], "config.init_input_range")
    return source


def load_any(path):
    """The model of a .keras file or of a checkpoint folder of the library transformers."""
    from hsvit_keras.checkpoints import from_transformers
    from hsvit_keras.model_files import load_model

    path = pathlib.Path(path)
    return from_transformers(path) if path.is_dir() else load_model(path)


def complete(values, source, data_dir):
    """A config without anything that is open.

    Args:
        values: plain config.
        source: `keras.Model` that is trained on, or None.
        data_dir: folder of the data set, or None.

    Returns:
        plain config. With a source, its `model` is the source's name, `image_shape` has its channels, and
        `mean` and `std` are None, as the source has its own.
    """
    if source is not None:
        shape = _shape_for(source, values)
        return {**values, "model": source.name, "image_shape": shape, "mean": None, "std": None}
    if None not in (values["image_shape"], values["mean"], values["std"]):
        return values
    train_set = load_dataset(values["data"], "train", data_dir)
    values = dict(values)
    if values["image_shape"] is None:
        values["image_shape"] = found_shape(train_set)
    if values["mean"] is None or values["std"] is None:
        mean, std = _statistics(train_set, values["image_shape"])
        values["mean"] = mean if values["mean"] is None else values["mean"]
        values["std"] = std if values["std"] is None else values["std"]
    print(", ".join(f"{key} {values[key]}" for key in ("image_shape", "mean", "std")))
    return values


def _shape_for(source, values):
    height, width, channels = source.input_shape[1:]
    sides = values["image_shape"][:2] if values["image_shape"] else (height, width)
    if None in sides:
        raise InputError(
            f"config.image_shape has to be (height, width, {channels}): {source.name} takes any size"
        )
    return [*sides, channels]


def found_shape(dataset):
    """[height, width, channels] to train on images at: theirs, or of photographs the largest side they fill.

    Args:
        dataset: data set with images in memory or in files.
    """
    if isinstance(dataset.images, np.ndarray):
        return list(dataset.image_shape)
    height, width, channels = typical_shape(dataset)
    side = max((side for side in _SIDES if side <= min(height, width)), default=_SIDES[0])
    print(f"images are about {height:g} x {width:g} pixels and {'grey' if channels == 1 else 'coloured'}")
    return [side, side, channels]


def _statistics(dataset, image_shape):
    """(mean, standard deviation) of the pixels of a sample of images, for each channel, in units of 255."""
    pixels, _ = sample_images(dataset, min(_SAMPLE, len(dataset)), image_shape=image_shape)
    channels = pixels.reshape(-1, image_shape[2]) / 255
    mean = channels.mean(0, dtype="float64")
    std = np.maximum(channels.std(0, dtype="float64"), 1 / 255)  # of one grey level where all are the same
    return [round(float(x), 4) for x in mean], [round(float(x), 4) for x in std]

"""`from_transformers`: a checkpoint folder of the library transformers becomes one of our models."""

import functools
import pathlib

import keras

from hsvit_keras.checkpoints.importing import grid_of
from hsvit_keras.checkpoints.indexed_files import INDEX_SUFFIX, read_weights
from hsvit_keras.checkpoints.json_files import read_json
from hsvit_keras.checkpoints.tensors import Tensors
from hsvit_keras.checkpoints.transformers import (
    cvt,
    efficientformer,
    efficientnet,
    mobilenet_v2,
    mobilevit,
    mobilevit_v2,
    resnet,
    swiftformer,
    vit,
)
from hsvit_keras.checkpoints.transformers.preprocessing import SETTINGS, Preprocessing, preprocessing_of
from hsvit_keras.checkpoints.transformers.settings import settings_like
from hsvit_keras.checkpoints.trunk_weights import with_weights_of
from hsvit_runtime import json_files
from hsvit_runtime.errors import InputError, MissingFileError
from hsvit_runtime.json_schemas import TEXT, array, count, mapping, or_null, partial

_MODULES = (
    cvt,
    efficientformer,
    efficientnet,
    mobilenet_v2,
    mobilevit,
    mobilevit_v2,
    resnet,
    swiftformer,
    vit,
)
_FAMILIES = {name: family for family in _MODULES for name in family.CLASSES}
_WEIGHTS = ("model.safetensors", "pytorch_model.bin")
_TASK = "ForImageClassification"
_CONFIG = partial(  # what every family's config.json may say
    architectures=or_null(array(TEXT)), id2label=or_null(mapping(TEXT)), num_labels=count(1)
)


def from_transformers(folder, *, num_classes=None, input_shape=None, interpolation="bicubic"):
    """Makes a Keras model from an image classifier's checkpoint folder of the library transformers.

    Neither that library nor PyTorch is needed.

    Args:
        folder: str or path of a folder with `config.json` and `model.safetensors` or `pytorch_model.bin`, or
            several files and their index, `model.safetensors.index.json`, and perhaps
            `preprocessor_config.json`, as `save_pretrained` writes them and the hub has them.
        num_classes: int, for a fresh head with that many logits; by default the checkpoint's head is kept,
            with its class names.
        input_shape: (height, width, channels) in pixels; by default that of `preprocessor_config.json`, or
            that of `config.json`. For another one the positions of ViT and DeiT and EfficientFormer's biases
            of attention are interpolated.
        interpolation: str, `"bicubic"`, as the library's `interpolate_pos_encoding`, or `"bilinear"`.

    Returns:
        A `keras.Model` from images `(batch, height, width, channels)` to logits. With a
        `preprocessor_config.json` the images are pixels of 0 to 255 in the order red, green, blue, which the
        model normalizes as that file says; how pictures of other sizes are resized and cut is in its
        description, which the commands and data sets of this repository follow. Without one they are as the
        class of the checkpoint takes them.

    Raises:
        ValueError: the class of the checkpoint is unknown or has no head, a file is damaged, a tensor is
            missing, surplus or has the wrong shape, or images are prepared in a way that our models have not.
        OSError: a file is missing or not readable.

    Example:

    ```python
    model = hsvit_keras.from_transformers("resnet-18")
    probabilities = keras.ops.softmax(model(pixels))
    model.class_names
    ```
    """
    folder = pathlib.Path(folder)
    config = read_json(folder / "config.json", _CONFIG)
    family = _family_of(config)
    json_files.check(config, settings_like(family.DEFAULTS), folder / "config.json")
    config = {**family.DEFAULTS, **config}
    names, preprocessing = _class_names(config), _preprocessing(folder, family)
    grid = grid_of(family, config) if input_shape is not None else None
    if input_shape is None and preprocessing.sides is not None:
        input_shape = (*preprocessing.sides, config["num_channels"])
    build = functools.partial(
        family.build,
        config,
        input_shape,
        mean=preprocessing.mean,
        std=preprocessing.std,
        resizing=preprocessing.resizing_for(input_shape),
    )
    known_classes = len(names) if names else config.get("num_labels", 2)
    model = build(num_classes=known_classes, class_names=names)
    tensors = Tensors(read_weights(_weights_in(folder)), grid, interpolation)
    family.load(model, tensors)
    tensors.finish()
    if preprocessing.flips_channels:
        _flip_channels(model)
    if num_classes in (None, known_classes):
        return model
    return with_weights_of(model, build(num_classes=num_classes))


# ---- files -----------------------------------------------------------------------------------------
def _weights_in(folder):
    for name in _WEIGHTS:
        for file in (folder / name, folder / f"{name}{INDEX_SUFFIX}"):
            if file.exists():
                return file
    raise MissingFileError(f"there is neither {' nor '.join(_WEIGHTS)} in {folder}")


def _preprocessing(folder, family):
    path = folder / "preprocessor_config.json"
    return preprocessing_of(read_json(path, SETTINGS), family.PROCESSOR) if path.exists() else Preprocessing()


# ---- config.json -----------------------------------------------------------------------------------
def _family_of(config):
    """The module for the class of a checkpoint."""
    name = (config.get("architectures") or ["none"])[0]
    if name in _FAMILIES:
        return _FAMILIES[name]
    classifier = name.removesuffix("Model").removesuffix("Backbone") + _TASK
    if classifier in _FAMILIES:
        raise InputError(
            f"{name} has no head: load the checkpoint as {classifier} in transformers, which adds one, and "
            f"save that by save_pretrained; num_classes then replaces the head"
        )
    raise InputError(
        f"the class of the checkpoint has to be one of {', '.join(sorted(_FAMILIES))}; "
        f"config.json: architectures is {config.get('architectures')}"
    )


def _class_names(config):
    """The names of the classes in their order; None where the config has none."""
    names = config.get("id2label")
    if not names:
        return None
    try:
        return tuple(names[str(i)] for i in range(len(names)))
    except KeyError as error:
        raise InputError(
            f"config.json: id2label has {len(names)} classes, but none of number {error.args[0]}"
        ) from None


# ---- models ----------------------------------------------------------------------------------------
def _flip_channels(model):
    """Makes a model whose first convolution reads blue, green, red one of red, green, blue."""
    first = next(layer for layer in model.layers if isinstance(layer, keras.layers.Conv2D))
    kernel, *bias = first.get_weights()
    first.set_weights([kernel[:, :, ::-1], *bias])

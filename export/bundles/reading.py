"""Reads a bundle that `writing.py` or somebody else wrote, and checks all that it says."""

import dataclasses
import hashlib
import math
import pathlib

import numpy as np

from export.bundles import fitting, references
from hsvit_runtime import json_files
from hsvit_runtime.errors import InputError, MissingFileError
from hsvit_runtime.json_schemas import record

SCHEMA = pathlib.Path(__file__).with_name("bundle.schema.json")
VERSION = 3


@dataclasses.dataclass(frozen=True)
class Bundle:
    """A bundle.

    Attributes:
        folder: path.
        content: dict of `bundle.json`.
        pixels: uint8 array (images, height, width, channels); of clips, the height of all frames.
    """

    folder: pathlib.Path
    content: dict
    pixels: np.ndarray

    @property
    def model_files(self):
        """Paths of the models and of their correct outputs."""
        return [self.folder / entry["file"] for entry in _of_models(self.content)]


def read(folder):
    """Reads a bundle.

    Args:
        folder: path of the folder with a `bundle.json`.

    Returns:
        `Bundle`.

    Raises:
        InputError: the bundle does not follow the schema, its parts do not fit together, or a file is
            damaged.
        OSError: a file is not there or cannot be read.
    """
    folder = pathlib.Path(folder)
    path = folder / "bundle.json"
    if not path.is_file():
        raise MissingFileError(f"bundle={str(folder)!r} holds no bundle.json: `export.bundle` makes bundles")
    content = json_files.read(path)
    check_version(content, path)
    json_files.check(content, json_files.read(SCHEMA), path)
    _check_files(content, folder)
    _check_models(content, path)
    for entry in _of_models(content):
        _check_content(folder / entry["file"], entry)
    for model in content["models"]:
        if model["reference"] is not None:
            references.read(folder, model)
    return Bundle(folder, content, _read_images(content, folder))


def check_version(content, path):
    """Raises `InputError` if a `bundle.json` says that it is of another version.

    Args:
        content: what the file holds.
        path: path of the file.
    """
    json_files.check(content, record(), f"{path} is no bundle of export.bundle")
    version = content.get("bundle_version", VERSION)
    if version != VERSION:
        raise InputError(
            f"{path}: bundle_version={version} must be {VERSION}: make the bundle again with export.bundle"
        )


def _of_models(content):
    """What says of each model, each of its cuts and its correct outputs the file, its size and SHA-256."""
    references = (model["reference"] for model in content["models"])
    cuts = (cut for model in content["models"] for cut in model.get("cuts", ()))
    return [*content["models"], *cuts, *(reference for reference in references if reference is not None)]


def _check_files(content, folder):
    """Raises an error unless all files are there, inside the folder."""
    for entry in (*_of_models(content), *content["images"]):
        name = entry["file"]
        if "\\" in name or set(name.split("/")) & {"", ".", ".."}:
            raise InputError(
                f"{folder / 'bundle.json'}: file={name!r} must be the name of a file in the bundle"
            )
        if not (folder / name).is_file():
            raise MissingFileError(f"the bundle {folder} has no file {name}")


def _check_models(content, path):
    """Raises `InputError` unless models, pairs, images and classes fit together."""
    first, *others = content["models"]
    names = [model["file"] for model in content["models"]]
    for kind, taken in (("model", names), ("pair", [pair["name"] for pair in content["pairs"]])):
        if len(set(taken)) < len(taken):
            raise InputError(f"{path}: each {kind} needs a name of its own; received {', '.join(taken)}")
    for model in others:
        if model["input"]["shape"] != first["input"]["shape"]:
            raise InputError(
                f"{path}: {model['file']} has an input of shape {model['input']['shape']}, which must be "
                f"that of {first['file']}, {first['input']['shape']}"
            )
        fitting.check_outputs(f"{path}: {model['file']}", model["outputs"], first)
    classes = content["class_names"]
    fitting.check_classes(f"{path}: {first['file']}", first["outputs"], content["detection"], classes)
    for image in content["images"]:
        if classes and image["label"] is not None and image["label"] >= len(classes):
            raise InputError(
                f"{path}: label={image['label']} must be below the number of classes, {len(classes)}"
            )
    for pair in content["pairs"]:
        for role in ("original", "mobile"):
            if pair[role] not in names:
                raise InputError(f"{path}: {role}={pair[role]!r} must be one of {', '.join(names)}")
    for model in content["models"]:
        if model["reference"] is not None:
            references.check(model, len(content["images"]), path)


def _check_content(path, entry):
    content = path.read_bytes()
    if len(content) != entry["bytes"] or hashlib.sha256(content).hexdigest() != entry["sha256"]:
        raise InputError(f"{path} is damaged: its size or SHA-256 is not the one in bundle.json")


def _read_images(content, folder):
    from PIL import Image, UnidentifiedImageError

    *rows, width, channels = content["models"][0]["input"]["shape"][1:]
    shape = (math.prod(rows), width, channels)  # frames of clips stand below each other
    pixels = np.empty((len(content["images"]), *shape), "uint8")
    for index, entry in enumerate(content["images"]):
        path = folder / entry["file"]
        try:
            with Image.open(path) as image:
                found = np.atleast_3d(np.asarray(image))
        except (UnidentifiedImageError, OSError, SyntaxError, ValueError) as error:
            raise InputError(f"{path} is damaged or no image: {error}") from error
        if found.shape != shape or found.dtype != "uint8":
            raise InputError(f"{path} has the shape {found.shape} of {found.dtype}, must be {shape} of uint8")
        pixels[index] = found
    return pixels

"""Reads a bundle that `writing.py` or somebody else wrote, and checks all that it says."""

import dataclasses
import hashlib
import json
import pathlib

import numpy as np

from hsvit_runtime.errors import InputError, MissingFileError
from measuring import schemas

SCHEMA = pathlib.Path(__file__).with_name("bundle.schema.json")
_VERSION = 2


@dataclasses.dataclass(frozen=True)
class Bundle:
    """A bundle.

    Attributes:
        folder: path.
        content: dict of `bundle.json`.
        pixels: uint8 array (images, height, width, channels).
    """

    folder: pathlib.Path
    content: dict
    pixels: np.ndarray

    @property
    def model_files(self):
        """Paths of the models."""
        return [self.folder / model["file"] for model in self.content["models"]]


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
    try:
        content = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is damaged: {error}") from error
    _check_schema(content, path)
    _check_files(content, folder)
    _check_models(content, path)
    for model in content["models"]:
        _check_content(folder / model["file"], model)
    return Bundle(folder, content, _read_images(content, folder))


def _check_schema(content, path):
    version = content.get("bundle_version") if isinstance(content, dict) else None
    if version is not None and version != _VERSION:
        raise InputError(f"{path}: bundle_version={version} must be {_VERSION}: make the bundle again")
    try:
        schemas.check(content, SCHEMA)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def _check_files(content, folder):
    """Raises an error unless all files are there, inside the folder."""
    for entry in (*content["models"], *content["images"]):
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
        for kind in ("input", "output"):
            if model[kind]["shape"] != first[kind]["shape"]:
                raise InputError(
                    f"{path}: {model['file']} has an {kind} of shape {model[kind]['shape']}, which must be "
                    f"that of {first['file']}, {first[kind]['shape']}"
                )
    shape, classes = first["output"]["shape"], content["class_names"]
    if classes and shape[-1] != len(classes):
        raise InputError(f"{path}: the models give {shape[-1]} classes, but class_names are {len(classes)}")
    for image in content["images"]:
        if classes and image["label"] is not None and image["label"] >= len(classes):
            raise InputError(
                f"{path}: label={image['label']} must be below the number of classes, {len(classes)}"
            )
    for pair in content["pairs"]:
        for role in ("original", "mobile"):
            if pair[role] not in names:
                raise InputError(f"{path}: {role}={pair[role]!r} must be one of {', '.join(names)}")
    count, size = len(content["images"]), int(np.prod(shape))
    for model in content["models"]:
        rows = model["reference"]["outputs"] if model["reference"] else [[0] * size] * count
        if len(rows) != count or any(len(row) != size for row in rows):
            raise InputError(
                f"{path}: the reference of {model['file']} must have {count} rows, one for each image, "
                f"of {size} numbers"
            )


def _check_content(path, model):
    content = path.read_bytes()
    if len(content) != model["bytes"] or hashlib.sha256(content).hexdigest() != model["sha256"]:
        raise InputError(f"{path} is damaged: its size or SHA-256 is not the one in bundle.json")


def _read_images(content, folder):
    from PIL import Image, UnidentifiedImageError

    shape = tuple(content["models"][0]["input"]["shape"][1:])
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

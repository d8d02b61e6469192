"""Reads a manifest of shards and the files that it names; both are checked."""

import dataclasses
import hashlib
import pathlib

from hsvit_runtime import json_files
from hsvit_runtime.errors import InputError, MissingFileError
from hsvit_runtime.json_schemas import NUMBER, TEXT, array, count, or_null, record
from hsvit_runtime.tflite_model import TFLiteModel

VERSION = 2
_SCHEMA = record(
    model=TEXT,
    preset=TEXT,
    class_names=or_null(array(TEXT)),
    data_set=or_null(TEXT),
    num_groups={"type": "integer"},
    dim=count(least=1),
    input=record(shape=array(count()), range={**array(NUMBER, least=2), "maxItems": 2}),
    shards=array(record(file=TEXT, sha256=TEXT, groups=array(count())), least=1),
    head=record(file=TEXT, sha256=TEXT),
)


@dataclasses.dataclass(frozen=True)
class Manifest:
    """A model in shards.

    Attributes:
        model: str, its name.
        preset: str, how weights are stored.
        class_names: tuple of str, None where the manifest names none.
        data_set: str, the data set that the model was trained on, None where the manifest names none.
        num_groups: int.
        image_shape: tuple (height, width, channels) of the image that every shard takes.
        input_range: (low, high), the values of a black and a white pixel in the shards' input.
        groups: tuple with a tuple of ints for each shard, the groups whose class tokens it computes.
        shards: tuple of bytes, the `.tflite` file of each.
        head: bytes, the `.tflite` file from the mean token (1, 1, dim) to logits.
    """

    model: str
    preset: str
    class_names: tuple | None
    data_set: str | None
    num_groups: int
    image_shape: tuple
    input_range: tuple
    groups: tuple
    shards: tuple = dataclasses.field(repr=False)
    head: bytes = dataclasses.field(repr=False)


def read(path):
    """Reads `manifest.json` and the files beside it.

    Args:
        path: str or path.

    Returns:
        A `Manifest`.

    Raises:
        MissingFileError: it or a file that it names is not there.
        InputError: it is no such manifest, or a file is not the one that it was written with.
    """
    path = pathlib.Path(path)
    if not path.is_file():
        raise MissingFileError(f"there is no manifest {path}: make one with python -m export.shards")
    content = json_files.read(path, {"type": "object"}, "manifest of shards")
    if content.get("manifest_version") != VERSION:
        raise InputError(
            f"{path} has manifest_version {content.get('manifest_version')!r}, this reads {VERSION}"
        )
    json_files.check(content, _SCHEMA, f"{path} is no manifest of shards")
    try:
        return _manifest(content, path.parent)
    except MissingFileError:
        raise
    except InputError as error:
        raise InputError(f"cannot read the manifest {path}: {error}") from error


def _manifest(content, folder):
    shape, num_groups = tuple(content["input"]["shape"]), content["num_groups"]
    if len(shape) != 4 or shape[0] != 1 or shape[3] not in (1, 3):
        raise InputError(f"shards have to take one image (1, height, width, 1 or 3), they take {shape}")
    low, high = map(float, content["input"]["range"])
    groups = tuple(tuple(shard["groups"]) for shard in content["shards"])
    held = sorted(sum(groups, ()))
    if len(held) != num_groups or held != list(range(len(held))):
        raise InputError(f"its shards have to hold each of {num_groups} groups once, they hold {groups}")
    class_names = content["class_names"]
    manifest = Manifest(
        model=content["model"],
        preset=content["preset"],
        class_names=None if class_names is None else tuple(class_names),
        data_set=content["data_set"],
        num_groups=num_groups,
        image_shape=shape[1:],
        input_range=(low, high),
        groups=groups,
        shards=tuple(_file(entry, folder) for entry in content["shards"]),
        head=_file(content["head"], folder),
    )
    _check_fit(manifest, content["dim"])
    return manifest


def _check_fit(manifest, dim):
    """Raises `InputError` unless the files compute what the manifest says of them."""
    wanted = [(manifest.image_shape, (len(groups), dim)) for groups in manifest.groups]
    wanted.append(((1, dim), None))  # the head, which may give any number of logits
    names = [*(f"shard {i}" for i in range(len(manifest.shards))), "the head"]
    for name, file, (taken, given) in zip(names, (*manifest.shards, manifest.head), wanted, strict=True):
        model = TFLiteModel(file)
        (inputs,), (outputs,) = (
            [tensor.shape[1:] for tensor in side] for side in (model.inputs, model.outputs)
        )
        if inputs != taken or outputs != (given or outputs):
            raise InputError(
                f"{name} goes from {inputs} to {outputs}, the manifest says from {taken}"
                f"{f' to {given}' if given else ''}"
            )


def _file(entry, folder):
    """The content of a file in the manifest's folder."""
    path = folder / pathlib.Path(entry["file"]).name
    if not path.is_file():
        raise MissingFileError(f"the manifest names {entry['file']!r}, and there is no {path}")
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != entry["sha256"]:
        raise InputError(f"{path} is not the file that it was written with: its SHA-256 differs")
    return content

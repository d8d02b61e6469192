"""Manifests are read with their files, and only if those are the files that they were written with."""

import json
import shutil

import pytest

from export.serving import manifest

pytestmark = [pytest.mark.tensorflow, pytest.mark.once]


@pytest.fixture
def copy(sharded, tmp_path):
    """Path of a manifest that may be changed."""
    shutil.copytree(sharded.manifest.parent, tmp_path / "copy")
    return tmp_path / "copy" / "manifest.json"


def change(path, **entries):
    path.write_text(json.dumps(json.loads(path.read_text()) | entries))


def test_read(sharded):
    model = manifest.read(sharded.manifest)
    assert (model.model, model.preset, model.num_groups) == ("hsvit_tiny", "float32", 4)
    assert model.groups == ((0,), (1,), (2,), (3,))
    assert (model.class_names[3], model.data_set) == ("3", "digits")
    assert model.shards[2] == (sharded.manifest.parent / "shard2.tflite").read_bytes()
    assert model.head == (sharded.manifest.parent / "head.tflite").read_bytes()
    assert (model.image_shape, model.input_range) == ((16, 16, 1), (0.0, 255.0))


def test_no_file(tmp_path):
    with pytest.raises(
        FileNotFoundError, match=r"there is no manifest .*none\.json: make one with python -m"
    ):
        manifest.read(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"manifest_version": 1}, "has manifest_version 1, this reads 2"),
        ({"num_groups": 5}, "hold each of 5 groups once, they hold"),
        ({"num_groups": 10**9}, "hold each of 1000000000 groups once, they hold"),
        ({"dim": 7}, r"shard 0 goes from \(16, 16, 1\) to \(1, \d+\), the manifest says .* to \(1, 7\)"),
        ({"head": {}}, "is no manifest of shards: head is wrong: 'file' is a required property"),
        ({"shards": None}, "is no manifest of shards: shards is wrong: None is not of type 'array'"),
    ],
)
def test_wrong_entries(copy, entries, message):
    change(copy, **entries)
    with pytest.raises(ValueError, match=message):
        manifest.read(copy)


def test_images_of_another_size(copy):
    wanted = json.loads(copy.read_text())["input"]
    change(copy, input={**wanted, "shape": [1, 8, 8, 1]})
    with pytest.raises(ValueError, match=r"shard 0 goes from \(16, 16, 1\) .* says from \(8, 8, 1\)"):
        manifest.read(copy)


def test_no_json(copy):
    copy.write_text("{")
    with pytest.raises(ValueError, match=r"manifest\.json is no JSON: "):
        manifest.read(copy)


def test_files_of_another_model(copy):
    (copy.parent / "shard1.tflite").write_bytes(b"something else")
    with pytest.raises(ValueError, match=r"shard1\.tflite is not the file .* its SHA-256 differs"):
        manifest.read(copy)
    (copy.parent / "shard1.tflite").unlink()
    with pytest.raises(FileNotFoundError, match=r"names 'shard1\.tflite', and there is no"):
        manifest.read(copy)


def test_no_file_of_another_folder_is_read(copy):
    head = json.loads(copy.read_text())["head"]
    shutil.move(copy.parent / "head.tflite", copy.parent.parent / "head.tflite")
    change(copy, head={**head, "file": "../head.tflite"})
    with pytest.raises(FileNotFoundError):
        manifest.read(copy)

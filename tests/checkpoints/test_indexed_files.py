"""Weights in several files, and the indices that list them."""

import json

import numpy as np
import pytest
from safetensors.numpy import save_file

from hsvit_keras.checkpoints.indexed_files import read_weights
from tests.checkpoints import test_reading as pickles

pytestmark = pytest.mark.once
TENSORS = {
    "stem.weight": np.arange(6, dtype="float32").reshape(2, 3),
    "stem.bias": np.array([7, 8], "float32"),
    "head.weight": np.arange(4, dtype="float32") - 1,
}
FIRST, LAST = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
PLACES = {"stem.weight": FIRST, "stem.bias": FIRST, "head.weight": LAST}


def write(folder, places=PLACES, lacking=(), more=None):
    """Writes an index and its files, as `save_pretrained` does with a limit of their size."""
    for file in (FIRST, LAST):
        part = {key: TENSORS[key] for key, name in PLACES.items() if name == file and key not in lacking}
        save_file({**part, **(more or {})} if file == LAST else part, folder / file)
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {"total_size": 48}, "weight_map": places}))
    return index


def assert_same(found, expected):
    assert sorted(found) == sorted(expected)
    for key, array in expected.items():
        np.testing.assert_array_equal(found[key], array)


@pytest.mark.parametrize("kind", [str, lambda path: path])
def test_tensors_of_all_files(tmp_path, kind):
    assert_same(read_weights(kind(write(tmp_path))), TENSORS)


def test_pickled_files(tmp_path):
    for number in (1, 2):
        storages = {"0": np.full(6, number, "<f4").tobytes()}
        pickled = pickles.program({f"w{number}": pickles.tensor()})
        pickles.write_zip(tmp_path / f"pytorch_model-{number}.bin", pickled, storages)
    index = tmp_path / "pytorch_model.bin.index.json"
    places = {f"w{number}": f"pytorch_model-{number}.bin" for number in (1, 2)}
    index.write_text(json.dumps({"weight_map": places}))
    assert_same(read_weights(index), {f"w{number}": np.full((2, 3), number, "float32") for number in (1, 2)})


def test_the_file_that_the_index_names_counts(tmp_path):
    """A tensor may be in another file, too; one that the index does not list is not dropped."""
    more = {"stem.bias": np.zeros(2, "float32"), "rest": np.ones(1, "float32")}
    assert_same(read_weights(write(tmp_path, more=more)), {**TENSORS, "rest": np.ones(1, "float32")})


def test_files_that_are_not_there(tmp_path):
    index = write(tmp_path)
    (tmp_path / LAST).unlink()
    with pytest.raises(FileNotFoundError, match=rf"index\.json lists files that are not there: {LAST}$"):
        read_weights(index)


def test_tensors_that_are_not_there(tmp_path):
    index = write(tmp_path, lacking=["stem.bias"])
    with pytest.raises(ValueError, match=rf"not in their files: stem\.bias \({FIRST}\)$"):
        read_weights(index)


def test_many_problems_are_counted(tmp_path):
    index = write(tmp_path, {**PLACES, **{f"w{i:02}": LAST for i in range(10)}})
    with pytest.raises(ValueError, match=r": w00 \(.*; and 2 more$"):
        read_weights(index)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is no JSON: "),
        ("{}", "has no weight_map"),
        ('{"weight_map": {}}', "has no weight_map"),
        ('{"weight_map": {"w": "../secret.safetensors"}}', r"gives w the file '\.\./secret\.safetensors'"),
        ('{"weight_map": {"w": 3}}', "gives w the file 3"),
    ],
)
def test_damaged_index(tmp_path, content, message):
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(content)
    with pytest.raises(ValueError, match=message) as error:
        read_weights(index)
    assert "\n" not in str(error.value)


def test_no_index(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*index\.json"):
        read_weights(tmp_path / "model.safetensors.index.json")

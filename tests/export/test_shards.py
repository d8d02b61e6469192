"""Artifacts of shards: joined as the manifest says they compute what the model does, with every preset."""

import errno
import hashlib
import json
import pathlib

import keras
import numpy as np
import pytest
from absl import flags

if keras.backend.backend() != "tensorflow":
    pytest.skip("conversion needs the TensorFlow backend", allow_module_level=True)

from ai_edge_litert.interpreter import Interpreter

from export import shards
from export.sharding import shard_files
from hsvit_keras.artifacts import PRESETS
from hsvit_runtime.errors import FileError, InputError
from tests.command_line.in_process import call
from tests.export import hsvits
from tests.parameters import slow_but

pytestmark = pytest.mark.tensorflow


def run(path, tensor):
    """Runs a file as LiteRT does, with nothing of ours."""
    interpreter = Interpreter(str(path))
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], tensor)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


def join_by_manifest(folder, image):
    """As a reader of manifest.json would do it."""
    manifest = json.loads((folder / "manifest.json").read_text())
    low, high = manifest["input"]["range"]
    tokens = []
    for shard in manifest["shards"]:
        token = run(folder / shard["file"], low + image / 255 * (high - low))
        assert token.shape == (1, len(shard["groups"]), manifest["dim"])
        tokens.append(token)
    mean = np.concatenate(tokens, axis=1).mean(axis=1).reshape(manifest["head"]["input"])
    return run(folder / manifest["head"]["file"], mean)


FORMS = [("split", "float32"), *(("shared", name) for name in PRESETS)]


@pytest.mark.parametrize("form", slow_but([("shared", "dynamic")], FORMS), ids="-".join)
def test_every_preset(form, tmp_path):
    stem, preset = form
    model = hsvits.small(stem)
    manifest = shard_files.write(hsvits.request(model, preset), 2, tmp_path)
    assert manifest == json.loads((tmp_path / "manifest.json").read_text())
    assert [shard["groups"] for shard in manifest["shards"]] == [[0, 1], [2]]
    assert manifest["class_names"] == list(hsvits.CLASS_NAMES)
    assert (manifest["data_set"], manifest["input"]["range"]) == ("digits", [0, 255])
    for entry in (*manifest["shards"], manifest["head"]):
        content = (tmp_path / entry["file"]).read_bytes()
        assert (len(content), hashlib.sha256(content).hexdigest()) == (entry["bytes"], entry["sha256"])
        assert entry["fully_delegated"] and entry["partitions"] == 1
    images = hsvits.images(8)
    outputs = np.concatenate([join_by_manifest(tmp_path, image[np.newaxis]) for image in images])
    expected = np.asarray(model(images))
    if preset == "float32":
        np.testing.assert_allclose(outputs, expected, atol=2e-5 * np.abs(expected).max())
    assert np.corrcoef(outputs.ravel(), expected.ravel())[0, 1] > 0.99


def call_for_split_model(folder, num_shards):
    path = folder / "model.keras"
    hsvits.small("split").save(path)
    options = [f"--num_shards={num_shards}", "--preset=float32", "--samples=4"]
    call(shards, f"--model={path}", f"--output={folder}", *options)


@pytest.mark.slow
def test_one_number_of_shards_makes_a_manifest(tmp_path, capsys):
    call_for_split_model(tmp_path, "3")
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert len(manifest["shards"]) == 3
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith(f"wrote {tmp_path / 'manifest.json'}: 3 shard(s) of 3 groups, float32")
    assert second.startswith("  outputs against Keras on 4 samples of digits: largest difference ")


@pytest.mark.slow
def test_several_numbers_of_shards_make_a_table(tmp_path, capsys):
    call_for_split_model(tmp_path, "1,3")
    written = json.loads((tmp_path / "shards.json").read_text())
    rows = written["rows"]
    assert [row["shards"] for row in rows] == [1, 3]
    assert rows[0]["ratio"] == 1
    # With a split stem nothing is repeated.
    assert 3 * rows[1]["multiply_adds"] == rows[0]["multiply_adds"]
    assert (written["num_groups"], written["image_bytes"], written["group_bytes"]) == (3, 16 * 16, 4 * 8)
    shown = capsys.readouterr().out
    assert shard_files.table(rows) in shown and len(shard_files.table(rows).splitlines()) == 3
    parity = json.loads((tmp_path / "3" / "manifest.json").read_text())["parity"]
    assert (parity["samples"], parity["data"]) == (4, "digits")
    assert 0 <= parity["metrics"]["accuracy"] <= 1


def test_errors(tmp_path):
    model, folder = hsvits.small(), tmp_path / "out"
    with pytest.raises(InputError, match="num_shards has to be an integer from 1 to 3"):
        shard_files.write(hsvits.request(model), 4, folder)
    with pytest.raises(InputError, match="has no ranges, which int8 needs"):
        shard_files.write(hsvits.request(model, "int8", calibration=None), 2, folder)
    with pytest.raises(InputError, match=r"calibration is for preset='int8'; received preset='dynamic'"):
        hsvits.request(model, "dynamic", calibration=[hsvits.images(4)])
    assert not folder.exists()  # nothing was written half


@pytest.mark.parametrize("counts, place", [("2", ""), ("1,2", "2/"), ("1,2", "shards")])
def test_files_of_others_are_kept(counts, place, tmp_path):
    """Before the model is read: there is none."""
    path = tmp_path / (f"{place}.json" if place == "shards" else f"{place}manifest.json")
    path.parent.mkdir(exist_ok=True)
    path.write_text('{"name": "a page"}')
    with pytest.raises(FileError, match=rf"cannot write {path}: the file there is no .* would be lost"):
        call(shards, "--model=none.keras", f"--output={tmp_path}", f"--num_shards={counts}")
    assert path.read_text() == '{"name": "a page"}'


def test_a_full_disk_leaves_the_shards_that_were_there(tmp_path, monkeypatch):
    model = hsvits.small()
    shard_files.write(hsvits.request(model), 1, tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for layer in model.layers:
        layer.set_weights([0.5 * weight for weight in layer.get_weights()])
    write_bytes = pathlib.Path.write_bytes

    def full(path, content):
        if "head" in path.name:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        return write_bytes(path, content)

    monkeypatch.setattr(pathlib.Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space left"):
        shard_files.write(hsvits.request(model), 1, tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_numbers_of_shards_are_integers(tmp_path):
    with pytest.raises(flags.Error, match="--num_shards=two: invalid literal for int"):
        call(shards, "--model=m.keras", f"--output={tmp_path}", "--num_shards=two")

"""Artifacts of shards: joined as the manifest says they answer as the model, with every preset."""

import hashlib
import json
import subprocess
import sys

import keras
import numpy as np
import pytest

import hsvit_keras

if keras.backend.backend() != "tensorflow":
    pytest.skip("conversion needs the TensorFlow backend", allow_module_level=True)

from data_sets import load_dataset, sample_images
from export import shards, tflite
from hsvit_keras.artifacts import writing

pytestmark = pytest.mark.tensorflow

SIZE = (16, 16, 1)
CALIBRATION = tflite.Calibration("digits", 64)


def pictures(count, mean=0.0, std=1.0):
    return sample_images(load_dataset("digits", "test"), count, image_shape=SIZE, mean=mean, std=std)[0]


SHARED, SPLIT = (pytest.mark.parametrize("path", [stem], indirect=True) for stem in ("shared", "split"))


@pytest.fixture(scope="module")
def path(request, tmp_path_factory):
    """A small HSViT with four groups that has seen digits."""
    keras.utils.set_random_seed(0)
    model = hsvit_keras.create_model("hsvit_tiny", input_shape=SIZE, stem=request.param)
    for _ in range(20):
        model(pictures(64, 0.3, 0.35), training=True)
    folder = tmp_path_factory.mktemp("run")
    (folder / "config.json").write_text(json.dumps({"mean": [0.3], "std": [0.35]}))
    (folder / "labels.txt").write_text("\n".join("0123456789"))
    model.save(folder / "model.keras")
    return folder / "model.keras"


def request(path, output, **settings):
    return writing.Request(str(path), str(output), samples=16, **settings)


def join_by_manifest(folder, image):
    """As a reader of manifest.json would do it, with nothing else of ours than reading a file."""
    manifest = json.loads((folder / "manifest.json").read_text())
    tokens = []
    for shard in manifest["shards"]:
        token = tflite.runner((folder / shard["file"]).read_bytes())(image)
        assert token.shape == (1, len(shard["groups"]), manifest["dim"])
        tokens.append(token)
    mean = np.concatenate(tokens, axis=1).mean(axis=1).reshape(manifest["head"]["input"])
    return tflite.runner((folder / manifest["head"]["file"]).read_bytes())(mean)


@pytest.mark.parametrize(
    ("path", "preset"),
    [("split", "float32"), *(("shared", preset) for preset in tflite.PRESETS)],
    indirect=["path"],
)
def test_every_preset(path, preset, tmp_path):
    manifest = shards.export(
        request(path, tmp_path), 3, preset, calibration=CALIBRATION if preset == "int8" else None
    )
    assert [shard["groups"] for shard in manifest["shards"]] == [[0, 1], [2], [3]]
    for entry in (*manifest["shards"], manifest["head"]):
        content = (tmp_path / entry["file"]).read_bytes()
        assert (len(content), hashlib.sha256(content).hexdigest()) == (entry["bytes"], entry["sha256"])
        assert entry["fully_delegated"] and entry["partitions"] == 1
    model, images = keras.models.load_model(path), pictures(8, 0.3, 0.35)
    answers = np.concatenate([join_by_manifest(tmp_path, image[np.newaxis]) for image in images])
    expected = np.asarray(model(images))
    if preset == "float32":
        np.testing.assert_allclose(answers, expected, atol=2e-5 * np.abs(expected).max())
    assert np.corrcoef(answers.ravel(), expected.ravel())[0, 1] > 0.99


@SHARED
def test_pixels_go_into_every_shard(path, tmp_path):
    manifest = shards.export(request(path, tmp_path, pixels=True), 2)
    assert manifest["input"]["pixels"] and manifest["input"]["mean"] == [0.3]
    images = pictures(4)
    answers = np.concatenate([join_by_manifest(tmp_path, 255 * image[np.newaxis]) for image in images])
    expected = np.asarray(keras.models.load_model(path)((images - 0.3) / 0.35))
    np.testing.assert_allclose(answers, expected, atol=2e-5 * np.abs(expected).max())


@SPLIT
def test_several_numbers_of_shards_make_a_table(path, tmp_path):
    manifests = {count: shards.export(request(path, tmp_path / str(count)), count) for count in (1, 2, 4)}
    rows = shards.compare(tmp_path, manifests)
    assert [row["shards"] for row in rows] == [1, 2, 4]
    assert rows[0]["ratio"] == 1
    assert rows[0]["multiply_adds"] > rows[1]["multiply_adds"] > rows[2]["multiply_adds"]
    # With a split stem nothing is repeated.
    assert 4 * rows[2]["multiply_adds"] == rows[0]["multiply_adds"]
    assert len(shards.table(rows).splitlines()) == 4


@SHARED
def test_errors(path, tmp_path):
    with pytest.raises(ValueError, match="num_shards has to be an integer from 1 to 4"):
        shards.export(request(path, tmp_path / "out"), 5)
    with pytest.raises(ValueError, match="has no ranges, which int8 needs"):
        shards.export(request(path, tmp_path / "out"), 2, "int8")
    with pytest.raises(ValueError, match="shards answer one image at a time; received batch=2"):
        shards.export(request(path, tmp_path / "out", batch=2), 2)
    assert not (tmp_path / "out").exists()  # nothing was written half


@SHARED
@pytest.mark.slow
def test_command(path, tmp_path):
    command = [sys.executable, "-m", "export.shards", f"--model={path}", f"--output={tmp_path / 'out'}"]
    done = subprocess.run([*command, "--num_shards=1,4"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "of the slowest shard" in done.stdout
    assert [row["shards"] for row in json.loads((tmp_path / "out/shards.json").read_text())["rows"]] == [1, 4]
    done = subprocess.run([*command, "--num_shards=two"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (
        1, "error: --num_shards takes integers separated by commas; received two\n",
    )  # fmt: skip

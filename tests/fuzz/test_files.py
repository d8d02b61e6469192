"""Files of models, weights and pictures that are damaged."""

import io
import json
import re
import zipfile

import keras
import numpy as np
import pytest
from hypothesis import strategies as st
from PIL import Image

pytest.importorskip("ai_edge_litert")

from data_sets.images import ImageFiles, resized
from export import inspection
from export.serving.uploads import RefusedError, decode
from hsvit_keras.artifacts.opening import open_model
from hsvit_keras.checkpoints.reading import read_state_dict
from tests.command_line.in_process import call
from tests.fuzz.checking import assert_answers, fuzzed
from tests.fuzz.strategies import damaged, wrong_json
from tests.runtime.litert.builder import Builder

pytestmark = pytest.mark.once


def _tflite():
    builder = Builder()
    image, features, out = builder.tensor((1, 4, 4, 1)), builder.tensor((1, 4, 4, 2)), builder.tensor((1, 32))
    kernel, bias = builder.constant(np.ones((2, 3, 3, 1))), builder.constant(np.zeros(2))
    options = {"padding": 0, "strideH": 1, "strideW": 1, "dilationHFactor": 1, "dilationWFactor": 1}
    builder.op("CONV_2D", [image, kernel, bias], [features], "Conv2DOptions", **options)
    builder.op("RESHAPE", [features, builder.constant([1, 32], "int32")], [out])
    return builder.content([image], [out])


@fuzzed(2, 30, content=damaged(_tflite()))
def test_tflite(folder, content):
    path = folder / "m.tflite"
    path.write_bytes(content)
    assert_answers(lambda: call(inspection, path, f"--output={folder}/r.json"), folder, seconds=60)


def _tensors():
    return {"a.weight": np.arange(12, dtype="float32").reshape(3, 4), "a.bias": np.zeros(3, "float16")}


def _safetensors():
    header = {
        "a.weight": {"dtype": "F32", "shape": [3, 4], "data_offsets": [0, 48]},
        "a.bias": {"dtype": "F16", "shape": [3], "data_offsets": [48, 54]},
    }
    return header, b"".join(array.tobytes() for array in _tensors().values())


def _with_header(header, data):
    return len(header).to_bytes(8, "little") + header + data


def _npz():
    content = io.BytesIO()
    np.savez(content, **_tensors())
    return content.getvalue()


HEADER, DATA = _safetensors()
SAFETENSORS = _with_header(json.dumps(HEADER).encode(), DATA)


def test_what_is_damaged_here_is_right_before(tmp_path):
    for suffix, content in {".safetensors": SAFETENSORS, ".npz": _npz()}.items():
        path = tmp_path / f"w{suffix}"
        path.write_bytes(content)
        assert {name: array.shape for name, array in read_state_dict(path).items()} == {
            "a.weight": (3, 4),
            "a.bias": (3,),
        }
    (tmp_path / "m.tflite").write_bytes(_tflite())
    assert open_model(tmp_path / "m.tflite").outputs[0].shape == (1, 32)


@fuzzed(
    20,
    400,
    content=st.one_of(
        damaged(SAFETENSORS), wrong_json(HEADER).map(lambda header: _with_header(header, DATA))
    ),
)
def test_safetensors(folder, content):
    (folder / "w.safetensors").write_bytes(content)
    assert_answers(lambda: read_state_dict(folder / "w.safetensors"), folder)


@fuzzed(20, 400, content=damaged(_npz()))
def test_npz(folder, content):
    (folder / "w.npz").write_bytes(content)
    refusal = assert_answers(lambda: read_state_dict(folder / "w.npz"), folder)
    assert not re.search("CRC|[Bb]ad|magic|Truncated|header|decompress", refusal or "")  # as zipfile has it


def _keras_file(tmp_path):
    path = tmp_path / "m.keras"
    inputs = keras.Input((4, 4, 1), name="image")
    keras.Model(inputs, keras.layers.Dense(2)(keras.layers.Flatten()(inputs))).save(path)
    return path.read_bytes()


@pytest.fixture(scope="module")
def keras_file(tmp_path_factory):
    return _keras_file(tmp_path_factory.mktemp("keras"))


def _with_entry(content, name, its):
    """A zip file with another content of an entry."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(made, "w") as new:
        for entry in old.namelist():
            new.writestr(entry, its if entry == name else old.read(entry))
    return made.getvalue()


@pytest.mark.parametrize("examples", [2, pytest.param(30, marks=pytest.mark.slow)])
def test_keras(tmp_path, keras_file, examples):
    with zipfile.ZipFile(io.BytesIO(keras_file)) as file:
        entries = {name: file.read(name) for name in file.namelist()}
    config, weights = json.loads(entries["config.json"]), entries["model.weights.h5"]
    contents = st.one_of(
        damaged(keras_file),
        wrong_json(config).map(lambda its: _with_entry(keras_file, "config.json", its)),
        damaged(weights).map(lambda its: _with_entry(keras_file, "model.weights.h5", its)),
    )
    path = tmp_path / "m.keras"
    path.write_bytes(keras_file)
    assert open_model(path).outputs[0].shape == (1, 2)

    @fuzzed(examples, examples, content=contents)
    def test(folder, content):
        (folder / "m.keras").write_bytes(content)
        assert_answers(lambda: open_model(folder / "m.keras"), folder)

    (tmp_path / "damaged").mkdir()
    test(tmp_path / "damaged", examples)


def _picture(kind, **settings):
    pixels, content = np.random.default_rng(0).integers(0, 256, (16, 12, 3), "uint8"), io.BytesIO()
    Image.fromarray(pixels).save(content, kind, **settings)
    return content.getvalue()


PICTURES = st.sampled_from([_picture("PNG"), _picture("JPEG"), _picture("JPEG", progressive=True)])


@fuzzed(40, 1000, content=PICTURES.flatmap(damaged))
def test_pictures(folder, content):
    path = folder / "picture.png"
    path.write_bytes(content)
    assert_answers(lambda: resized(ImageFiles([str(path)]), 0, (8, 8, 3)), folder)
    try:
        assert decode(content, (8, 8, 1), 25_000_000).shape == (8, 8, 1)
    except RefusedError as refusal:
        assert refusal.status in (400, 413) and "\n" not in str(refusal)

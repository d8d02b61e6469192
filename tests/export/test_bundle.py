"""Bundles: what is in them is what the models, the images and the image set say."""

import hashlib
import json
import pathlib

import jsonschema
import keras
import numpy as np
import pytest
from PIL import Image

if keras.backend.backend() != "tensorflow":
    pytest.skip("conversion needs the TensorFlow backend", allow_module_level=True)

from ai_edge_litert.interpreter import Interpreter

from export import bundle
from hsvit_keras import data
from tests.export import bundles

pytestmark = pytest.mark.tensorflow

SCHEMA = json.loads((pathlib.Path(bundle.__file__).parent / "bundles" / "bundle.schema.json").read_text())


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    return bundles.make_models(tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="module")
def written(models, tmp_path_factory):
    """A bundle's folder with its description."""
    folder = tmp_path_factory.mktemp("bundles") / "tiny"
    bundle.write(request(models, folder, name="tiny", images=6))
    return folder, json.loads((folder / "bundle.json").read_text())


def request(models, output, mobile=("dynamic.tflite", "int8.tflite"), **changes):
    mobile = [str(models / name) for name in mobile]
    return bundle.Request(str(models / "model.keras"), mobile, str(output), **changes)


def pixels(folder, entry):
    with Image.open(folder / entry["file"]) as image:
        assert image.mode == "L"
        return np.asarray(image)[np.newaxis, ..., np.newaxis]


def test_the_schema_holds(written):
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(written[1], SCHEMA)
    for model in written[1]["models"]:
        broken = {**written[1], "models": [{**model, "sha256": "abc"}]}
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(broken, SCHEMA)


def test_files_are_those_described(written):
    folder, described = written
    files = {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}
    named = {entry["file"] for entry in (*described["models"], *described["images"])}
    assert files == named | {"bundle.json"}
    for model in described["models"]:
        content = (folder / model["file"]).read_bytes()
        assert model["bytes"] == len(content)
        assert model["sha256"] == hashlib.sha256(content).hexdigest()
    assert [(model["file"], model["preset"]) for model in described["models"]] == [
        ("original.tflite", "float32"), ("dynamic.tflite", "dynamic"), ("int8.tflite", "int8"),
    ]  # fmt: skip
    assert described["pairs"] == [
        {"name": name, "original": "original.tflite", "mobile": f"{name}.tflite"}
        for name in ("dynamic", "int8")
    ]


def test_images_are_of_the_test_part(written):
    folder, described = written
    digits = data.load_dataset("digits", "test")
    known = {(digits[i]["image"].tobytes(), int(digits[i]["label"])) for i in range(len(digits))}
    assert len(described["images"]) == 6
    for entry in described["images"]:
        assert (pixels(folder, entry).tobytes(), entry["label"]) in known
    assert described["class_names"] == [str(digit) for digit in range(10)]


def test_the_original_answers_as_keras(written, models):
    folder, described = written
    model = keras.models.load_model(models / "model.keras")
    reference = described["models"][0]["reference"]
    for entry, row in zip(described["images"], reference["outputs"], strict=True):
        expected = np.asarray(model(pixels(folder, entry).astype("float32") / 255))[0]
        np.testing.assert_allclose(row, expected, atol=2e-5)
    assert reference["runtime"] == f"Keras {keras.version()}"
    assert reference["max_abs_diff"] < 1e-3


def test_artifacts_answer_as_on_this_machine(written):
    folder, described = written
    for model in described["models"][1:]:
        interpreter = Interpreter(str(folder / model["file"]))
        interpreter.allocate_tensors()
        (given,), (made,) = interpreter.get_input_details(), interpreter.get_output_details()
        assert model["input"]["shape"] == given["shape"].tolist() and model["input"]["pixels"]
        rows = []
        for entry in described["images"]:
            interpreter.set_tensor(given["index"], pixels(folder, entry).astype("float32"))
            interpreter.invoke()
            rows.append(interpreter.get_tensor(made["index"])[0])
        np.testing.assert_allclose(model["reference"]["outputs"], rows, atol=1e-5)
        # Far from what another model answers.
        assert 0 < model["reference"]["max_abs_diff"] < 0.3 * np.abs(rows).max()


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        (
            {"mobile": ("newer.tflite",)},
            ValueError,
            r"newer.tflite.* on runtime 2.16: FULLY_CONNECTED version 12 ",
        ),
        ({"mobile": ("model.keras",)}, ValueError, r"has to end in .tflite; received .*model.keras"),
        ({"mobile": ("missing.tflite",)}, FileNotFoundError, r"no model file .*missing.tflite"),
        ({"mobile": ("int8.tflite", "int8.tflite")}, ValueError, r"int8.tflite comes twice"),
        ({"images": 400}, ValueError, r"images=400 are more than digits has, which is 355"),
    ],
)
def test_what_is_refused(models, tmp_path, changes, error, message):
    with pytest.raises(error, match=message):
        bundle.write(request(models, tmp_path / "refused", **changes))
    assert list(tmp_path.iterdir()) == []


def test_only_a_bundle_is_replaced(models, tmp_path):
    kept = tmp_path / "thesis.txt"
    kept.write_text("years")
    with pytest.raises(FileExistsError, match="is there already, and is no bundle"):
        bundle.write(request(models, tmp_path))
    assert kept.read_text() == "years"
    older = tmp_path / "older"
    older.mkdir()
    (older / "bundle.json").write_text("{}")
    (older / "old.tflite").write_text("")
    bundle.write(request(models, older, mobile=("int8.tflite",), images=1))
    assert sorted(file.name for file in older.iterdir()) == [
        "bundle.json", "images", "int8.tflite", "original.tflite",
    ]  # fmt: skip


def test_a_bundle_for_no_apk(models, tmp_path, monkeypatch):
    monkeypatch.setattr(bundle, "_MOST_BYTES", 1000)
    with pytest.raises(
        ValueError, match=r"the bundle has .* MB and an APK holds .*: leave out models or images"
    ):
        bundle.write(request(models, tmp_path / "large", mobile=("int8.tflite",), images=1))
    assert list(tmp_path.iterdir()) == []

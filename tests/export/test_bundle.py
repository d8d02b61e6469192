"""Bundles: what is in them is what the models, the images and the data set say."""

import hashlib
import json
import pathlib

import jsonschema
import keras
import numpy as np
import pytest
from PIL import Image

import hsvit_keras

if keras.backend.backend() != "tensorflow":
    pytest.skip("conversion needs the TensorFlow backend", allow_module_level=True)

from ai_edge_litert.interpreter import Interpreter
from ai_edge_litert.tools import flatbuffer_utils

from data_sets import load_dataset
from export import bundle
from export.bundles import reading, writing
from hsvit_keras.layers.model_description import describe
from hsvit_runtime.errors import FileError, InputError, MissingFileError
from tests.command_line.in_process import call
from tests.export import bundles
from tests.export.conftest import BLACK, WHITE

pytestmark = pytest.mark.tensorflow

SCHEMA = json.loads(pathlib.Path(writing.__file__).with_name("bundle.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    return bundles.make_models(tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="module")
def written(models, tmp_path_factory):
    """A bundle's folder with its description."""
    folder = tmp_path_factory.mktemp("bundles") / "tiny"
    content = writing.write(request(models, folder, name="tiny", images=6, cut=True))
    assert content == json.loads((folder / "bundle.json").read_text())
    return folder, content


def request(models, output, mobile=("dynamic.tflite", "int8.tflite"), **changes):
    mobile = [str(models / name) for name in mobile]
    original = writing.Original(str(models / "model.keras"), mobile)
    return writing.Request([original], str(output), **changes)


def pixels(folder, entry):
    with Image.open(folder / entry["file"]) as image:
        assert image.mode == "L"
        return np.asarray(image)[np.newaxis, ..., np.newaxis]


def correct(folder, model):
    """The correct outputs of a model by their definition: a dict of arrays (images, ...)."""
    reference = model["reference"]
    numbers = np.fromfile(folder / reference["file"], "<f4")
    rows = numbers.reshape(-1, sum(int(np.prod(part["shape"])) for part in reference["outputs"]))
    return {
        part["name"]: rows[:, part["offset"] :][:, : int(np.prod(part["shape"]))].reshape(-1, *part["shape"])
        for part in reference["outputs"]
    }


def only(arrays):
    (array,) = arrays.values()
    return array


def test_the_schema_holds(written):
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    VALIDATOR.validate(written[1])
    for model in written[1]["models"]:
        broken = {**written[1], "models": [{**model, "sha256": "abc"}]}
        with pytest.raises(jsonschema.ValidationError):
            VALIDATOR.validate(broken)


def test_files_are_those_described(written):
    folder, described = written
    files = {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}
    references = [model["reference"] for model in described["models"]]
    references += [cut for model in described["models"] for cut in model["cuts"]]
    named = {entry["file"] for entry in (*described["models"], *references, *described["images"])}
    assert files == named | {"bundle.json"}
    for entry in (*described["models"], *references):
        content = (folder / entry["file"]).read_bytes()
        assert entry["bytes"] == len(content)
        assert entry["sha256"] == hashlib.sha256(content).hexdigest()
    assert [(model["file"], model["preset"]) for model in described["models"]] == [
        ("original.tflite", "float32"), ("dynamic.tflite", "dynamic"), ("int8.tflite", "int8"),
    ]  # fmt: skip
    assert described["pairs"] == [
        {"name": name, "original": "original.tflite", "mobile": f"{name}.tflite"}
        for name in ("dynamic", "int8")
    ]


def test_images_are_of_the_test_part(written):
    folder, described = written
    digits = load_dataset("digits", "test")
    known = {(digits[i]["image"].tobytes(), int(digits[i]["label"])) for i in range(len(digits))}
    assert len(described["images"]) == 6
    for entry in described["images"]:
        assert (pixels(folder, entry).tobytes(), entry["label"]) in known
    assert described["class_names"] == [str(digit) for digit in range(10)]


def test_the_task(written):
    task = written[1]["task"]
    assert (task["name"], task["metric"]["name"]) == ("classification", "accuracy")
    assert task["agreement"]["name"] == "top1_agreement"


def run(path, image):
    """What LiteRT computes of pixels of 0 to 255."""
    interpreter = Interpreter(str(path))
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], image.astype("float32"))
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])[0]


def test_the_correct_outputs_of_the_original_are_those_of_keras(written, models):
    folder, described = written
    model = keras.models.load_model(models / "model.keras")
    reference = described["models"][0]["reference"]
    rows = only(correct(folder, described["models"][0]))
    for entry, row in zip(described["images"], rows, strict=True):
        expected = np.asarray(keras.ops.softmax(model(pixels(folder, entry))))[0]
        np.testing.assert_allclose(row, expected, atol=2e-5)
    assert reference["runtime"] == f"Keras {keras.version()}"
    assert reference["outputs"][0]["max_abs_diff"] < 1e-3


def test_the_correct_outputs_of_artifacts_are_those_of_litert_here(written):
    folder, described = written
    for model in described["models"][1:]:
        given, (made,) = model["input"], model["outputs"]
        assert (given["shape"], given["dtype"], given["range"]) == ([1, 8, 8, 1], "float32", [0, 255])
        assert (made["shape"], made["dtype"], made["scale"]) == ([1, 10], "float32", None)
        rows = [run(folder / model["file"], pixels(folder, entry)) for entry in described["images"]]
        np.testing.assert_allclose(only(correct(folder, model)), rows, atol=1e-5)
        # Far from what another model computes.
        assert 0 < model["reference"]["outputs"][0]["max_abs_diff"] < 0.3 * np.abs(rows).max()


def test_cuts_have_each_operation_once_and_run(written):
    folder, described = written
    for model in described["models"]:
        graph = flatbuffer_utils.read_model(folder / model["file"]).subgraphs[0]
        count = 0
        for cut in model["cuts"]:
            interpreter = Interpreter(str(folder / cut["file"]))
            interpreter.allocate_tensors()
            interpreter.invoke()
            count += len(flatbuffer_utils.read_model(folder / cut["file"]).subgraphs[0].operators)
        assert count == len(graph.operators)
        assert {"MLP"} <= {cut["kind"] for cut in model["cuts"]}


def test_the_nodes_that_the_delegate_of_the_apps_runtime_takes(written):
    folder, described = written
    for model in described["models"]:
        told, graph = model["delegation"], flatbuffer_utils.read_model(folder / model["file"]).subgraphs[0]
        assert told["nodes_total"] == len(graph.operators)
        assert told["nodes_delegated"] == told["nodes_total"]  # they are small: nothing is left over
        assert told["partitions"] == 1


def test_metrics_are_those_of_the_whole_test_part(written):
    folder, described = written
    digits = load_dataset("digits", "test")  # which has fewer images than metrics are taken from
    for model in described["models"][1:]:
        found = [np.argmax(run(folder / model["file"], digits[i]["image"][None])) for i in range(len(digits))]
        assert model["metrics"] == {"accuracy": pytest.approx(np.mean(found == digits.labels))}


def test_a_segmenter(tmp_path):
    """Outputs of four axes, and images without labels of their own."""
    image = keras.Input((8, 8, 1), name="image")
    logits = keras.layers.Conv2D(11, 3, padding="same", name="scores")(image)
    names = load_dataset("digits_segmentation", "test").class_names
    said = {"task": "segmentation", "class_names": names, "data_set": "digits_segmentation"}
    model = describe(keras.Model(image, logits), **said, input_range=(0, 255))
    model.save(tmp_path / "model.keras")
    hsvit_keras.to_tflite(model, tmp_path / "mobile.tflite", preset="float32", runtime=bundles.RUNTIME)
    described = writing.write(request(tmp_path, tmp_path / "bundle", ("mobile.tflite",), images=2))
    VALIDATOR.validate(described)
    assert described["task"]["metric"]["name"] == "mean_iou"
    assert [entry["label"] for entry in described["images"]] == [None, None]
    for written in described["models"]:
        assert [tensor["shape"] for tensor in written["outputs"]] == [[1, 8, 8, 11]]
        assert 0 < written["metrics"]["mean_iou"] < 1
        rows = only(correct(tmp_path / "bundle", written))
        for entry, row in zip(described["images"], rows, strict=True):
            expected = np.asarray(model(pixels(tmp_path / "bundle", entry)))[0]
            np.testing.assert_allclose(row, expected, atol=1e-5 * np.abs(expected).max())


@pytest.fixture(scope="module")
def detector(tmp_path_factory):
    """Folder of a detector and its artifacts."""
    return bundles.make_detector(tmp_path_factory.mktemp("detector"))


def images_of(folder, described):
    return np.concatenate([pixels(folder, entry) for entry in described["images"]]).astype("float32")


def test_a_detector_has_two_outputs_and_the_rule_of_its_boxes(detector, tmp_path):
    described = writing.write(request(detector, tmp_path / "bundle", ("dynamic.tflite",), images=3))
    VALIDATOR.validate(described)
    assert (described["task"]["name"], described["task"]["metric"]["name"]) == ("detection", "ap")
    assert described["class_names"] == list("0123456789")
    assert {entry["label"] for entry in described["images"]} == {None}
    rule = described["detection"]
    assert (rule["scores"], rule["boxes"], rule["classes"]) == ("logits", "boxes", None)
    assert (rule["box_format"], rule["score_threshold"]) == ("center_size", 0.5)
    model = keras.models.load_model(detector / "model.keras")
    expected = model.predict(images_of(tmp_path / "bundle", described), verbose=0)
    assert (expected["logits"] > 0).any()
    for written in described["models"]:
        assert [(tensor["name"], tensor["shape"]) for tensor in written["outputs"]] == [
            ("boxes", [1, 16, 4]), ("logits", [1, 16, 10]),
        ]  # fmt: skip
        found = correct(tmp_path / "bundle", written)
        assert found.keys() == expected.keys()
        limits = {part["name"]: part["max_abs_diff"] for part in written["reference"]["outputs"]}
        assert 0 < 10 * limits["boxes"] < limits["logits"]  # each has its own
        for name, array in found.items():
            np.testing.assert_allclose(array, expected[name], atol=0.5)
    first = correct(tmp_path / "bundle", described["models"][0])
    np.testing.assert_allclose(first["logits"], expected["logits"], atol=1e-3)
    reading.read(tmp_path / "bundle")


@pytest.mark.slow
def test_a_detector_that_gives_its_best_boxes(detector, tmp_path):
    described = writing.write(request(detector, tmp_path / "bundle", ("best.tflite",), images=2))
    VALIDATOR.validate(described)
    rule = described["detection"]
    assert (rule["scores"], rule["boxes"], rule["classes"]) == ("score", "location", "category")
    assert rule["box_format"] == "top_left_bottom_right"
    logits = keras.models.load_model(detector / "model.keras").predict(
        images_of(tmp_path / "bundle", described), verbose=0
    )["logits"]
    best = np.sort(1 / (1 + np.exp(-logits.reshape(2, -1))))[:, ::-1][:, :5]
    found = correct(tmp_path / "bundle", described["models"][0])
    np.testing.assert_allclose(found["score"], best, atol=1e-5)
    limits = {part["name"]: part["max_abs_diff"] for part in described["models"][1]["reference"]["outputs"]}
    assert [name for name, limit in limits.items() if limit is not None] == ["score"]
    reading.read(tmp_path / "bundle")
    with pytest.raises(InputError, match=r"dynamic.tflite has the outputs boxes.*, which must be those of"):
        writing.write(request(detector, tmp_path / "other", ("best.tflite", "dynamic.tflite"), images=2))


@pytest.mark.slow
def test_clips_are_pictures_of_their_frames(tmp_path):
    bundles.make_video_model(tmp_path)
    described = writing.write(request(tmp_path, tmp_path / "bundle", ("dynamic.tflite",), images=3))
    VALIDATOR.validate(described)
    assert described["task"]["name"] == "video_classification" and described["detection"] is None
    assert {entry["label"] for entry in described["images"]} <= set(range(6))
    clips = images_of(tmp_path / "bundle", described).reshape(3, 4, 12, 12, 1)
    expected = keras.models.load_model(tmp_path / "model.keras").predict(clips, verbose=0)
    expected = np.asarray(keras.ops.softmax(expected))
    found = only(correct(tmp_path / "bundle", described["models"][0]))
    np.testing.assert_allclose(found, expected, atol=1e-5)
    read = reading.read(tmp_path / "bundle")
    np.testing.assert_array_equal(read.pixels.reshape(clips.shape), clips)


def test_models_of_others_need_data_and_range(tiny_models, tmp_path, capsys):
    options = [
        f"--original={tiny_models / 'model.keras'}",
        f"--mobile={tiny_models / 'float32.tflite'},{tiny_models / 'pixels.tflite'}",
        f"--output={tmp_path / 'bundle'}",
        "--images=3",
    ]
    with pytest.raises(InputError, match="does not say its data set: name it by --data"):
        call(bundle, *options)
    with pytest.raises(InputError, match="give those of black and white by --input_range"):
        call(bundle, *options, "--data=digits")
    call(bundle, *options, "--data=digits", f"--input_range={BLACK},{WHITE}")
    described = json.loads((tmp_path / "bundle" / "bundle.json").read_text())
    VALIDATOR.validate(described)
    ranges = [model["input"]["range"] for model in described["models"]]
    assert ranges == [[BLACK, WHITE], [BLACK, WHITE], [0, 255]]
    first, *others = (only(correct(tmp_path / "bundle", model)) for model in described["models"])
    for outputs in others:  # logits, and the original's probabilities
        np.testing.assert_allclose(keras.ops.softmax(outputs), first, atol=1e-5)
    assert described["class_names"] == [] and described["images"][0]["label"] is None
    assert [model["metrics"] for model in described["models"]] == [{}, {}, {}]
    assert "model on digits, 3 images" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        (
            {"mobile": ("newer.tflite",)},
            InputError,
            r"newer.tflite.* on runtime 2.16: FULLY_CONNECTED version 12 ",
        ),
        ({"mobile": ("model.keras",)}, InputError, r"has to end in .tflite; received .*model.keras"),
        ({"mobile": ("missing.tflite",)}, MissingFileError, r"no model file .*missing.tflite"),
        ({"mobile": ("int8.tflite", "int8.tflite")}, InputError, r"int8.tflite comes twice"),
        ({"images": 400}, InputError, r"images=400 are more than digits has, which is 355"),
    ],
)
def test_what_is_refused(models, tmp_path, changes, error, message):
    with pytest.raises(error, match=message):
        writing.write(request(models, tmp_path / "refused", **changes))
    assert list(tmp_path.iterdir()) == []


def test_only_a_bundle_is_replaced(models, tmp_path):
    kept = tmp_path / "thesis.txt"
    kept.write_text("years")
    with pytest.raises(FileError, match=r"is there already, and holds no bundle\.json"):
        writing.write(request(models, tmp_path))
    assert kept.read_text() == "years"
    older = tmp_path / "older"
    older.mkdir()
    (older / "bundle.json").write_text("{}")
    (older / "old.tflite").write_text("")
    writing.write(request(models, older, mobile=("int8.tflite",), images=1))
    assert sorted(file.name for file in older.iterdir()) == [
        "bundle.json", "images", "int8.tflite", "original.tflite", "references",
    ]  # fmt: skip


def test_a_bundle_for_no_apk(models, tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "_MOST_BYTES", 1000)
    with pytest.raises(
        InputError, match=r"the bundle has .* MB and an APK holds .*: leave out models or images"
    ):
        writing.write(request(models, tmp_path / "large", mobile=("int8.tflite",), images=1))
    assert list(tmp_path.iterdir()) == []

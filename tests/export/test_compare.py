"""Several models compared from files to page, and bundle: right numbers, and nothing made twice."""

import json
import pathlib

import jsonschema
import keras
import numpy as np
import pytest

if keras.backend.backend() != "tensorflow":
    pytest.skip("conversion needs the TensorFlow backend", allow_module_level=True)

from ai_edge_litert.interpreter import Interpreter

from data_sets import load_dataset
from export import compare
from export.bundles import writing
from hsvit_keras.layers.model_description import describe
from measuring.arm_cost import counting, toolchain
from tests.command_line.in_process import call
from tests.export import reports
from tests.export.conftest import save

pytestmark = pytest.mark.tensorflow

QUICK = ("--blocks=2", "--block_runs=2")
DIGITS = load_dataset("digits", "test")


def make(path, units, data_set="digits", epochs=2):
    """Trains a small classifier of digits and saves it as the best model of a finished run."""
    keras.utils.set_random_seed(units)
    image = keras.Input((8, 8, 1), name="image")
    x = keras.layers.Rescaling(1 / 127.5, -1)(image)
    x = keras.layers.Conv2D(units, 3, activation="relu")(x)
    model = keras.Model(image, keras.layers.Dense(10)(keras.layers.Flatten()(x)), name=f"model{units}")
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    training = load_dataset("digits", "train")
    model.fit(np.asarray(training.images), training.labels, batch_size=32, epochs=epochs, verbose=0)
    said = {"task": "classification", "class_names": DIGITS.class_names, "data_set": data_set}
    path.parent.mkdir(parents=True)
    save(describe(model, **said, input_range=(0, 255)), path)
    (path.parent / "summary.json").write_text("{}")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    make(folder / "small" / "best.keras", 2)
    make(folder / "large" / "best.keras", 16)
    return folder


@pytest.fixture(autouse=True)
def no_emulator(monkeypatch):
    monkeypatch.setattr(toolchain, "missing_packages", lambda: ["qemu-user"])


def accuracy(path):
    """What LiteRT's own interpreter reaches on the test part."""
    interpreter = Interpreter(str(path))
    interpreter.allocate_tensors()
    (given,), (made,) = interpreter.get_input_details(), interpreter.get_output_details()
    right = 0
    for index in range(len(DIGITS)):
        interpreter.set_tensor(given["index"], DIGITS[index]["image"][np.newaxis].astype("float32"))
        interpreter.invoke()
        right += interpreter.get_tensor(made["index"]).argmax() == DIGITS.labels[index]
    return right / len(DIGITS)


@pytest.mark.slow
def test_a_comparison(runs, tmp_path, capsys):
    call(compare, f"--runs={runs}", f"--workdir={tmp_path}", *QUICK)
    printed = capsys.readouterr().out
    found = json.loads((tmp_path / "comparison.json").read_text())
    wanted = {(model, preset) for model in ("small", "large") for preset in ("float32", "dynamic", "int8")}
    assert {(row["model"], row["preset"]) for row in found["rows"]} == wanted
    for row in found["rows"]:
        file = tmp_path / "artifacts" / row["file"]
        assert row["accuracy"] == pytest.approx(accuracy(file))
        assert row["bytes"] == file.stat().st_size
        share = row["accuracy"]
        assert row["standard_error"] == pytest.approx(np.sqrt(share * (1 - share) / 354), rel=0.4)
    for cost in ("latency", "size"):
        key = {"latency": "p50_ms", "size": "bytes"}[cost]
        beaten = [
            row["file"]
            for row in found["rows"]
            if any(
                other[key] <= row[key] and other["accuracy"] >= row["accuracy"]
                and (other[key], other["accuracy"]) != (row[key], row["accuracy"])
                for other in found["rows"]
            )
        ]  # fmt: skip
        assert sorted([*found["fronts"][cost], *beaten]) == sorted(row["file"] for row in found["rows"])
    benchmark = json.loads((tmp_path / "benchmark.json").read_text())
    reports.validate(benchmark)
    assert benchmark["models"][0]["name"] == "large_float32.tflite"
    assert "not counted: counting needs programs that are missing; on Debian: apt-get install qemu" in printed
    assert "instructions" not in found["fronts"] and not (tmp_path / "arm_cost.json").exists()
    assert all(line in printed for line in found["answer"])
    page = (tmp_path / "comparison.html").read_text()
    assert "<svg" in page and 'src="http' not in page
    check_bundle(tmp_path / "bundle")

    written = {path: path.stat().st_mtime_ns for path in tmp_path.glob("a*/*.tflite")}
    assert len(written) == 6 + 4
    call(compare, f"--runs={runs}", f"--workdir={tmp_path}", "--calibration_samples=64", *QUICK)
    again = {path.name for path, time in written.items() if path.stat().st_mtime_ns != time}
    assert again == {"small_int8.tflite", "large_int8.tflite"}
    assert capsys.readouterr().out.count(", kept") == 4 + 2


def check_bundle(folder):
    """The bundle follows the schema, and what the app checks beyond it."""
    described = json.loads((folder / "bundle.json").read_text())
    schema = json.loads(pathlib.Path(writing.__file__).with_name("bundle.schema.json").read_text())
    jsonschema.validate(described, schema)
    models = {model["file"]: model for model in described["models"]}
    assert len(models) == len(described["models"]) == 6
    assert all((folder / file).is_file() for file in models)
    assert {tuple(model["input"]["shape"]) for model in models.values()} == {(1, 8, 8, 1)}
    assert [(pair["name"], pair["original"], pair["mobile"]) for pair in described["pairs"]] == [
        (f"{name}_{preset}", f"{name}_original.tflite", f"{name}_{preset}.tflite")
        for name in ("large", "small")
        for preset in ("dynamic", "int8")
    ]
    assert models["small_original.tflite"]["title"] == "small float32 original"


@pytest.mark.exhaustive
def test_segmentation_and_instructions(tmp_path, monkeypatch, capsys):
    names = load_dataset("digits_segmentation", "test").class_names
    for filters in (2, 6):
        image = keras.Input((8, 8, 1), name="image")
        features = keras.layers.Conv2D(filters, 3, padding="same", activation="relu")(image)
        logits = keras.layers.Conv2D(11, 3, padding="same")(features)
        said = {"task": "segmentation", "class_names": names, "data_set": "digits_segmentation"}
        save(
            describe(keras.Model(image, logits), **said, input_range=(0, 255)), tmp_path / f"f{filters}.keras"
        )
    counted = []

    def count(path, core, cache):
        counted.append(path.name)
        content = path.read_bytes()
        return {
            "name": path.name,
            "sha256": counting.hashlib.sha256(content).hexdigest(),
            "instructions": 1000 * len(content),
            "by_kind": {"other": 1000 * len(content)},
        }

    monkeypatch.setattr(counting, "count", count)
    options = [f"--models={tmp_path}/f2.keras,{tmp_path}/f6.keras", f"--workdir={tmp_path}/out", *QUICK]
    options += ["--preset=float32", "--samples=40"]
    call(compare, *options)
    found = json.loads((tmp_path / "out" / "comparison.json").read_text())
    assert found["task"]["metric"]["name"] == "mean_iou"
    assert all(0 < row["mean_iou"] < 1 and row["standard_error"] > 0 for row in found["rows"])
    assert set(found["fronts"]) == {"latency", "instructions", "size"}
    assert found["fronts"]["instructions"] == found["fronts"]["size"]
    assert "no bundle: it compares float32 originals with" in capsys.readouterr().out
    call(compare, *options)
    assert counted == ["f2_float32.tflite", "f6_float32.tflite"]  # once each


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "name the models by --models=a.keras,b.keras or by --runs=DIR, one of them"),
        (("--models=a.keras", "--runs=here"), "one of them"),
        (("--models=a.keras", "--samples=1"), "--samples=1 has no standard error"),
        (("--models=missing.keras",), "there is no model file missing.keras"),
    ],
)
def test_what_is_refused(options, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        call(compare, *options, f"--workdir={tmp_path / 'out'}")
    assert not (tmp_path / "out").exists()

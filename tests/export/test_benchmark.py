"""Benchmarks: what is in the report is what the models, the images and the timings say."""

import hashlib
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import keras
import numpy as np
import pytest
from absl import flags

import export
import hsvit_keras
from data_sets import ImageDataset
from export import benchmark
from export.benchmarking import comparing, table
from hsvit_keras.layers.model_description import describe
from hsvit_runtime.description import Description
from hsvit_runtime.errors import InputError, MissingFileError
from hsvit_runtime.runnable import Runnable, Tensor
from measuring import latency_statistics
from tests.command_line.in_process import call
from tests.export import reports
from tests.export.conftest import BLACK, WHITE

ROOT = pathlib.Path(export.__file__).parent.parent
OUTPUTS = pathlib.Path(__file__).parents[1] / "measuring" / "official_outputs"
QUICK = {"blocks": 3, "runs": 4, "warmup": 1, "samples": 20}
FOREIGN = {"data": "digits", "input_range": (BLACK, WHITE)}  # what models of others do not say
NAMES = [
    "model.keras",
    "float32.tflite",
    "int8.tflite",
    "pixels.tflite",
    "float32.onnx",
    "probabilities.tflite",
]


# ---- models of others ------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def report(tiny_models):
    """One measurement of the original and of five artifacts of every kind."""
    return comparing.measure([tiny_models / name for name in NAMES], **FOREIGN, **QUICK)


@pytest.mark.tensorflow
def test_report_follows_the_schema(report):
    reports.validate(report)


@pytest.mark.tensorflow
def test_models_are_described(report, tiny_models):
    assert [model["name"] for model in report["models"]] == NAMES
    assert [model["role"] for model in report["models"]] == ["original", *["mobile"] * 5]
    for model in report["models"]:
        content = (tiny_models / model["name"]).read_bytes()
        assert model["bytes"] == len(content)
        assert model["sha256"] == hashlib.sha256(content).hexdigest()
        (given,), (made,) = model["inputs"], model["outputs"]
        assert given["shape"] == [None if model["name"] == "float32.onnx" else 1, 8, 8, 1]
        assert made["shape"][1:] == [3]
        assert given["dtype"] == made["dtype"] == ("int8" if model["name"] == "int8.tflite" else "float32")
        assert (given["scale"] is None) == (model["name"] != "int8.tflite")
        assert model["input_range"] == ([0, 255] if model["name"] == "pixels.tflite" else [BLACK, WHITE])
        assert model["threads"]["requested"] == 1
        assert model["accelerator"]["used"] == "cpu"
    assert [model["runtime"]["name"] for model in report["models"]] == [
        "Keras on tensorflow, XLA",
        *["LiteRT Interpreter"] * 3,
        "ONNX Runtime",
        "LiteRT Interpreter",
    ]


@pytest.mark.tensorflow
def test_single_runs_are_kept_and_summed_up(report):
    for model in report["models"]:
        assert [len(block) for block in model["blocks_ms"]] == [4, 4, 4]
        runs = list(itertools.chain(*model["blocks_ms"]))
        assert model["latency_ms"] == latency_statistics.summarize(runs)
        assert model["warmup_mean_ms"] > 0
        assert model["first_inference_ms"] > 0
        assert model["init_ms"] > 0
    original, *mobiles = report["models"]
    for pair, mobile in zip(report["pairs"], mobiles, strict=True):
        expected = latency_statistics.ratio_of_medians(original["blocks_ms"], mobile["blocks_ms"])
        assert pair["ratio"] == {"of": "median", **expected}


@pytest.mark.tensorflow
def test_outputs_for_the_same_image_are_the_same(report):
    agreements = {pair["mobile"]: pair["agreement"] for pair in report["pairs"]}
    integers = agreements.pop("int8.tflite")
    for agreement in agreements.values():  # one of them compares probabilities with logits
        assert agreement["samples"] == 20
        assert agreement["top1_agreement"] == 1.0
        assert agreement["max_abs_diff"] < 1e-4
        assert agreement["cosine"] > 0.99999
    assert integers["cosine"] > 0.99
    assert integers["max_abs_diff"] > 1e-4


@pytest.mark.tensorflow
def test_settings_and_machine_are_written_down(report):
    assert report["settings"] == {
        "blocks": 3,
        "runs": 4,
        "warmup": 1,
        "cooldown_s": 0.0,
        "threads": 1,
        "data": {"name": "digits", "split": "test", "samples": 20},
    }
    assert report["device"]["cpu"]["logical_cores"] == os.cpu_count()
    assert report["device"]["before"]["time"] <= report["device"]["after"]["time"]
    assert {"keras", "ai-edge-litert", "onnxruntime", "numpy"} <= set(report["runtime"]["packages"])


@pytest.mark.tensorflow
def test_digits_say_nothing_of_the_accuracy_on_three_classes(report):
    assert report["task"]["metric"]["name"] == "accuracy"
    assert [model["metrics"] for model in report["models"]] == [{}] * 6


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    ("names", "said", "message"),
    [
        (["float32", "wide"], FOREIGN, r"wide\.tflite takes \(8, 9, 1\), but float32\.tflite \(8, 8, 1\)"),
        (["float32", "many"], FOREIGN, r"many\.tflite gives \(4,\), but float32\.tflite \(3,\)"),
        (["float32", "float32"], FOREIGN, "every model has to be named once"),
        (["float32", "int8"], {"data": "digits"}, r"float32\.tflite: .* say which values its pixels have"),
        (["float32", "int8"], {"input_range": (0, 1)}, "does not say its data set: name it by --data"),
    ],
)
def test_models_that_cannot_be_compared(tiny_models, names, said, message):
    with pytest.raises(InputError, match=message):
        comparing.measure([tiny_models / f"{name}.tflite" for name in names], **said, **QUICK)


@pytest.mark.tensorflow
def test_files_of_one_name_are_told_apart_by_their_folders(tiny_models, tmp_path):
    shutil.copy(tiny_models / "pool4.tflite", tmp_path / "float32.tflite")
    paths = [tiny_models / "float32.tflite", tmp_path / "float32.tflite"]
    report = comparing.measure(paths, **FOREIGN, **QUICK)
    assert [model["name"] for model in report["models"]] == [str(path) for path in paths]


@pytest.mark.tensorflow
@pytest.mark.parametrize(("asked", "shown"), [(0, 30), (7, 7), (1000, 30)])
def test_number_of_samples(tiny_models, monkeypatch, asked, shown):
    whole = comparing.load_dataset("digits", "test")
    monkeypatch.setattr(comparing, "load_dataset", lambda *_: whole.subset(np.arange(30), "test"))
    paths = [tiny_models / "float32.tflite", tiny_models / "int8.tflite"]
    report = comparing.measure(paths, **FOREIGN, **{**QUICK, "samples": asked})
    assert report["settings"]["data"]["samples"] == shown
    assert report["pairs"][0]["agreement"]["samples"] == shown


# ---- known outputs ---------------------------------------------------------------------------------
class Stub(Runnable):
    """Gives row i for image i, whose first pixel is i."""

    init_ms, threads_used, runtime = 1.0, 1, {"name": "stub", "version": None}

    def __init__(self, rows, **description):
        self.rows = np.asarray(rows, "float32")
        self.inputs = (Tensor("image", (1, 2, 2, 1), np.dtype("float32")),)
        self.outputs = (Tensor("logits", (1, *self.rows.shape[1:]), np.dtype("float32")),)
        self.description = Description(data_set="digits", input_range=(0, 255), **description)

    def run(self, inputs):
        return {"logits": self.rows[[int(inputs["image"].flat[0])]]}


@pytest.fixture
def measure(monkeypatch, tmp_path):
    """Measures stubs on images whose first pixel is their number; labels are 0, 1, 0, 1."""

    def measure(*models, labels=(0, 1, 0, 1), class_names=("zero", "one"), task="classification"):
        paths = [tmp_path / f"{index}.tflite" for index in range(len(models))]
        for path in paths:
            path.write_text("content")
        opened = iter(models)
        monkeypatch.setattr(comparing, "open_model", lambda path, **_: next(opened))
        images = np.arange(4, dtype="uint8").reshape(4, 1, 1, 1) * np.ones((1, 2, 2, 1), "uint8")
        labels = np.asarray(labels, "int32")
        dataset = ImageDataset("numbers", "test", class_names, (2, 2, 1), images, labels, task)
        monkeypatch.setattr(comparing, "load_dataset", lambda *_: dataset)
        report = comparing.measure(paths, **QUICK)
        reports.validate(report)
        return report

    return measure


RIGHT = [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]
HALF_RIGHT = [[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [1.0, 0.0]]


def test_accuracy_and_agreement(measure):
    report = measure(Stub(HALF_RIGHT), Stub(RIGHT), Stub(HALF_RIGHT))
    assert [model["metrics"]["accuracy"] for model in report["models"]] == [0.5, 1.0, 0.5]
    assert [pair["agreement"]["top1_agreement"] for pair in report["pairs"]] == [0.5, 1.0]
    assert [pair["agreement"]["samples"] for pair in report["pairs"]] == [4, 4]


@pytest.mark.parametrize("said", [("zero", "one", "two"), ("cat", "dog")])
def test_accuracy_needs_the_classes_of_the_data(measure, said):
    class_names = None if len(said) == 3 else ("zero", "one")
    report = measure(Stub(RIGHT, class_names=class_names), Stub(RIGHT), class_names=said)
    assert [model["metrics"] for model in report["models"]] == [{}, {}]


def test_outputs_that_are_no_numbers_are_named(measure):
    broken = [[1.0, 0.0], [0.0, float("nan")], [1.0, 0.0], [float("inf"), 1.0]]
    report = measure(Stub(RIGHT), Stub(broken), Stub(RIGHT))
    assert [pair["agreement"] is None for pair in report["pairs"]] == [True, False]
    found = [entry for entry in report["warnings"] if entry["code"] == "not_finite"]
    assert [entry["model"] for entry in found] == ["1.tflite"]
    assert found[0]["message"] == "outputs of 2 of 4 samples hold NaN or infinity"


def test_a_segmenter(measure):
    """Masks of 2 x 2 pixels: all of class 0, but for the first image, whose left column is of class 1."""
    masks = np.zeros((4, 2, 2), "int32")
    masks[0, :, 0] = 1
    right = np.eye(2)[masks]
    one_class = np.eye(2)[np.zeros_like(masks)]
    said = {"task": "segmentation", "class_names": ("zero", "one")}
    report = measure(Stub(right, **said), Stub(one_class, **said), labels=masks, task="segmentation")
    assert report["task"]["name"] == "segmentation"
    # Class 0 has 14 of 16 pixels that are called so, class 1 has none of 2.
    assert [model["metrics"]["mean_iou"] for model in report["models"]] == [1.0, 14 / 16 / 2]
    (pair,) = report["pairs"]
    assert pair["agreement"]["pixel_agreement"] == 14 / 16
    assert re.split(r"\s{2,}", table.table(report).splitlines()[2])[-2:] == ["87.50%", "43.75%"]


def test_tensors_of_which_nothing_is_known(measure):
    rows = np.random.default_rng(0).random((4, 3, 5))
    report = measure(Stub(rows), Stub(1.5 * rows))
    assert (report["task"]["name"], report["task"]["metric"]) == ("tensors", None)
    assert report["task"]["agreement"]["name"] == "alike"
    assert [model["metrics"] for model in report["models"]] == [{}, {}]
    (pair,) = report["pairs"]
    assert pair["agreement"].keys() == {"samples", "max_abs_diff", "cosine", "alike"}
    assert pair["agreement"]["cosine"] == pytest.approx(1.0)
    assert pair["agreement"]["max_abs_diff"] == pytest.approx(0.5 * rows.max(), rel=1e-6)


# ---- models of this package ------------------------------------------------------------------------
@pytest.mark.tensorflow
def test_a_segmenter_and_its_artifact_say_everything_themselves(tmp_path):
    keras.utils.set_random_seed(0)
    image = keras.Input((8, 8, 1), name="image")
    logits = keras.layers.Conv2D(11, 3, padding="same")(keras.layers.Rescaling(1 / 255)(image))
    names = comparing.load_dataset("digits_segmentation", "test").class_names
    said = {"task": "segmentation", "class_names": names, "data_set": "digits_segmentation"}
    model = describe(keras.Model(image, logits), **said, input_range=(0, 255))
    model.save(tmp_path / "model.keras")
    hsvit_keras.to_tflite(model, tmp_path / "model.tflite", preset="float32")
    report = comparing.measure([tmp_path / "model.keras", tmp_path / "model.tflite"], **QUICK)
    reports.validate(report)
    assert report["settings"]["data"]["name"] == "digits_segmentation"
    first, second = (model["metrics"]["mean_iou"] for model in report["models"])
    assert 0 < first == pytest.approx(second, abs=1e-3)
    (pair,) = report["pairs"]
    assert pair["agreement"]["pixel_agreement"] > 0.999
    assert pair["agreement"]["max_abs_diff"] < 1e-4
    assert [model["outputs"][0]["shape"] for model in report["models"]] == [[1, 8, 8, 11]] * 2


# ---- the table -------------------------------------------------------------------------------------
def test_table():
    report = reports.phone_report()
    report["models"][1]["latency_ms"]["p90"] = 1.25
    lines = table.table(report).splitlines()
    assert [re.split(r"\s{2,}", line.strip()) for line in lines] == [
        ["artifact", "size KB", "p50 ms", "p90 ms", "ratio [low, high]", "same class", "accuracy"],
        ["original.tflite", "4000", "2.000", "2.100", "original", "-", "97.50%"],
        ["mobile.tflite", "1000", "1.000", "1.250", "0.500 [0.500, 0.500]", "97.50%", "97.50%"],
    ]
    assert len({len(line) for line in lines}) == 1


def test_table_of_what_is_not_known_and_of_warnings():
    report = reports.phone_report()
    report["models"][1] |= {"bytes": None, "metrics": {}}
    report["models"][1]["latency_ms"]["p90"] = None
    report["pairs"][0]["ratio"] |= {"low": None, "high": None}
    report["pairs"][0]["agreement"] = None
    report["warnings"] = [
        {"code": "busy", "model": None, "message": "others worked"},
        {"code": "noisy", "model": "mobile.tflite", "message": "it varied"},
    ]
    lines = table.table(report).splitlines()
    assert re.split(r"\s{2,}", lines[2]) == [
        "mobile.tflite",
        "-",
        "1.000",
        "-",
        "0.500 [no interval]",
        "-",
        "-",
    ]
    assert lines[3:] == ["warning: others worked", "warning: mobile.tflite: it varied"]


# ---- the command -----------------------------------------------------------------------------------
@pytest.mark.tensorflow
def test_command(tiny_models, tmp_path, capsys):
    output = tmp_path / "R.json"
    call(
        benchmark,
        f"--original={tiny_models / 'float32.tflite'}",
        f"--mobile={tiny_models / 'int8.tflite'},{tiny_models / 'pixels.tflite'}",
        f"--output={output}",
        *("--blocks=2", "--runs=3", "--images=5", "--data=digits", f"--input_range={BLACK},{WHITE}"),
    )
    report = json.loads(output.read_text())
    reports.validate(report)
    assert [model["name"] for model in report["models"]] == ["float32.tflite", "int8.tflite", "pixels.tflite"]
    assert [model["latency_ms"]["count"] for model in report["models"]] == [6, 6, 6]
    assert [model["input_range"] for model in report["models"]] == [[BLACK, WHITE]] * 2 + [[0, 255]]
    shown = capsys.readouterr().out
    assert shown.startswith("artifact ")
    assert shown.endswith(f"wrote {output}\n")
    assert not report["runtime"]["debug_build"]


def process(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "export.benchmark", *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.slow
@pytest.mark.tensorflow
def test_command_on_jax(tiny_models, tmp_path):
    pytest.importorskip("jax")
    output = tmp_path / "R.json"
    run = process(
        f"--original={tiny_models / 'model.keras'}",
        f"--mobile={tiny_models / 'float32.tflite'}",
        f"--output={output}",
        *("--blocks=2", "--runs=3", "--images=5", "--data=digits", f"--input_range={BLACK},{WHITE}"),
        KERAS_BACKEND="jax",
    )
    assert (run.returncode, run.stderr) == (0, "")
    report = json.loads(output.read_text())
    reports.validate(report)
    assert report["models"][0]["runtime"]["name"] == "Keras on jax, XLA"
    assert report["pairs"][0]["agreement"]["max_abs_diff"] < 1e-4


@pytest.mark.slow
def test_command_on_the_output_of_official_tools(tmp_path):
    output = tmp_path / "R.json"
    run = process(
        f"--original={OUTPUTS / 'shell.txt'}",
        f"--mobile={OUTPUTS / 'litert_benchmark.json'}",
        f"--output={output}",
        "--device=Maker Phone 7",
    )
    assert (run.returncode, run.stderr) == (0, "")
    report = json.loads(output.read_text())
    reports.validate(report)
    assert report["device"]["name"] == "Maker Phone 7"
    assert "[no interval]" in run.stdout


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"mobile": "missing.tflite"}, MissingFileError, r"there is no model file missing\.tflite"),
        (
            {"mobile": OUTPUTS / "shell.txt"},
            InputError,
            r"shell\.txt: its name has to end in \.keras, \.tflite or \.onnx",
        ),
        ({"output": "nowhere/R.json"}, MissingFileError, "there is no folder nowhere"),
        ({"input_range": "bright"}, flags.Error, "--input_range=bright: 2 values are needed"),
        ({"data": "pictures"}, InputError, "data='pictures' is not a known data set"),
    ],
)
def test_bad_input(tiny_models, tmp_path, changes, error, message):
    arguments = {
        "original": tiny_models / "float32.tflite",
        "mobile": tiny_models / "int8.tflite",
        "output": tmp_path / "R.json",
        "data": "digits",
        "input_range": f"{BLACK},{WHITE}",
        **changes,
    }
    with pytest.raises(error, match=message):
        call(benchmark, *(f"--{name}={value}" for name, value in arguments.items()))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("flag", ["--runs=0", "--blocks=0", "--threads=0", "--images=-1", "--cooldown=-1"])
def test_numbers_out_of_range_are_refused_by_their_flag(tmp_path, flag):
    with pytest.raises(flags.IllegalFlagValueError, match=flag.split("=")[0].removeprefix("--")):
        call(benchmark, "--original=a.tflite", "--mobile=b.tflite", f"--output={tmp_path / 'R.json'}", flag)
    assert not list(tmp_path.iterdir())

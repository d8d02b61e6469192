import hashlib
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import types

import numpy as np
import pytest

import export
from export import benchmark
from hsvit_runtime import runners
from measuring import latency_statistics
from tests.export import reports
from tests.export.conftest import PIXEL_MEAN, PIXEL_STD

ROOT = pathlib.Path(export.__file__).parent.parent
OUTPUTS = pathlib.Path(__file__).parents[1] / "measuring" / "official_outputs"
QUICK = {"blocks": 3, "runs": 4, "warmup": 1, "images": 20}


@pytest.fixture(scope="module")
def report(tiny_models):
    """One measurement of the original and of three artifacts, one of which takes pixels."""
    names = ["model.keras", "float32.tflite", "int8.tflite", "pixels.tflite"]
    return benchmark.measure([tiny_models / name for name in names], mean=PIXEL_MEAN, std=PIXEL_STD, **QUICK)


@pytest.mark.tensorflow
def test_report_follows_the_schema(report):
    reports.validate(report)


@pytest.mark.tensorflow
def test_models_are_described(report, tiny_models):
    assert [(model["name"], model["role"]) for model in report["models"]] == [
        ("model.keras", "original"),
        ("float32.tflite", "mobile"),
        ("int8.tflite", "mobile"),
        ("pixels.tflite", "mobile"),
    ]
    for model in report["models"]:
        content = (tiny_models / model["name"]).read_bytes()
        assert model["bytes"] == len(content)
        assert model["sha256"] == hashlib.sha256(content).hexdigest()
        assert model["input"]["shape"] == [1, 8, 8, 1]
        assert model["input"]["pixels"] == (model["name"] == "pixels.tflite")
        assert model["threads"]["requested"] == 1
        assert model["accelerator"]["used"] == "cpu"
    assert [model["input"]["dtype"] for model in report["models"]] == [
        "float32",
        "float32",
        "int8",
        "float32",
    ]
    assert [model["runtime"]["name"] for model in report["models"]] == [
        "Keras on tensorflow, XLA",
        *["LiteRT Interpreter"] * 3,
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
def test_same_picture_gets_the_same_answer(report):
    exact, integers, pixels = (pair["agreement"] for pair in report["pairs"])
    for agreement in (exact, pixels):
        assert agreement["images"] == 20
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
        "data": {"name": "digits", "split": "test", "images": 20},
    }
    assert report["device"]["cpu"]["logical_cores"] == os.cpu_count()
    assert report["device"]["before"]["time"] <= report["device"]["after"]["time"]
    assert {"keras", "ai-edge-litert", "numpy"} <= set(report["runtime"]["packages"])


@pytest.mark.tensorflow
def test_digits_say_nothing_of_the_accuracy_on_three_classes(report):
    assert [model["accuracy"] for model in report["models"]] == [None] * 4


class StubRunner(runners.Runner):
    """Answers picture i with answer i."""

    init_ms = 1.0
    threads_used = 1
    runtime = {"name": "stub", "version": None}  # noqa: RUF012

    def __init__(self, answers, mean=0.0, std=1.0):
        super().__init__("stub", mean, std, (1, 2, 2, 1), (1, len(answers[0])))
        self.answers = np.asarray(answers, "float32")

    def prepare(self, picture):
        return int(picture.flat[0])

    def __call__(self, number):
        return self.answers[[number]]


@pytest.fixture
def stubs(monkeypatch, tmp_path):
    """Measures stub models on pictures whose first pixel is their number; labels are 0, 1, 0, 1."""

    def measure(*models, class_names=("zero", "one"), **arguments):
        paths = [tmp_path / f"{index}.tflite" for index in range(len(models))]
        for path in paths:
            path.write_text("content")
        opened = iter(models)
        monkeypatch.setattr(runners, "open_runner", lambda path, **_: next(opened))
        dataset = types.SimpleNamespace(name="numbers", split="test", class_names=class_names)
        pictures = np.arange(4, dtype="float32").reshape(4, 1, 1, 1, 1) * np.ones((1, 2, 2, 1), "float32")
        loaded = dataset, pictures, np.array([0, 1, 0, 1])
        monkeypatch.setattr(benchmark, "_load_pictures", lambda *_: loaded)
        report = benchmark.measure(paths, **QUICK, **arguments)
        reports.validate(report)
        return report

    return measure


RIGHT = [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]
HALF_RIGHT = [[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [1.0, 0.0]]


def test_accuracy_and_agreement(stubs):
    report = stubs(StubRunner(HALF_RIGHT), StubRunner(RIGHT), StubRunner(HALF_RIGHT))
    assert [model["accuracy"] for model in report["models"]] == [0.5, 1.0, 0.5]
    assert [pair["agreement"]["top1_agreement"] for pair in report["pairs"]] == [0.5, 1.0]
    assert [pair["agreement"]["images"] for pair in report["pairs"]] == [4, 4]


def test_accuracy_needs_the_classes_of_the_data(stubs):
    report = stubs(StubRunner(RIGHT), StubRunner(RIGHT), class_names=("zero", "one", "two"))
    assert [model["accuracy"] for model in report["models"]] == [None, None]


def test_answers_that_are_no_numbers_are_said(stubs):
    broken = [[1.0, 0.0], [0.0, float("nan")], [1.0, 0.0], [float("inf"), 1.0]]
    report = stubs(StubRunner(RIGHT), StubRunner(broken), StubRunner(RIGHT))
    assert [pair["agreement"] is None for pair in report["pairs"]] == [True, False]
    found = [entry for entry in report["warnings"] if entry["code"] == "not_finite"]
    assert [entry["model"] for entry in found] == ["1.tflite"]
    assert found[0]["message"] == "2 of 4 answers hold NaN or infinity"


def test_different_normalization_is_said(stubs):
    models = StubRunner(RIGHT, 0.5, 0.25), StubRunner(RIGHT, [0.5], [0.25]), StubRunner(RIGHT, 0.5, 0.5)
    report = stubs(*models)
    found = [entry for entry in report["warnings"] if entry["code"] == "normalization"]
    assert [entry["model"] for entry in found] == ["2.tflite"]


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("wide.tflite", r"wide\.tflite takes images \(8, 9, 1\), but float32\.tflite \(8, 8, 1\)"),
        ("many.tflite", r"many\.tflite has classes 4, but float32\.tflite 3"),
    ],
)
def test_models_that_cannot_be_compared(tiny_models, name, message):
    with pytest.raises(ValueError, match=message):
        benchmark.measure([tiny_models / "float32.tflite", tiny_models / name], **QUICK)


@pytest.mark.tensorflow
def test_files_of_one_name_are_told_apart_by_their_folders(tiny_models, tmp_path):
    shutil.copy(tiny_models / "pool4.tflite", tmp_path / "float32.tflite")
    paths = [tiny_models / "float32.tflite", tmp_path / "float32.tflite"]
    report = benchmark.measure(paths, **QUICK)
    assert [model["name"] for model in report["models"]] == [str(path) for path in paths]


@pytest.mark.tensorflow
def test_a_model_is_not_compared_with_itself(tiny_models):
    with pytest.raises(ValueError, match="every model must be named once"):
        benchmark.measure([tiny_models / "float32.tflite"] * 2, **QUICK)


@pytest.mark.tensorflow
@pytest.mark.parametrize(("asked", "shown"), [(0, 100), (7, 7), (1000, 100)])
def test_number_of_images(tiny_models, monkeypatch, asked, shown):

    whole = data_sets.load_dataset("digits", "test")
    part = data_sets.ImageDataset(
        whole.name, whole.split, whole.class_names, whole.image_shape, whole.images[:100], whole.labels[:100]
    )
    monkeypatch.setattr(data_sets, "load_dataset", lambda *_: part)
    paths = [tiny_models / "float32.tflite", tiny_models / "int8.tflite"]
    report = benchmark.measure(paths, **{**QUICK, "images": asked})
    assert report["settings"]["data"]["images"] == shown
    assert report["pairs"][0]["agreement"]["images"] == shown


def test_table():
    report = reports.phone_report()
    report["models"][1]["latency_ms"]["p90"] = 1.25
    lines = benchmark.table(report).splitlines()
    assert [re.split(r"\s{2,}", line.strip()) for line in lines] == [
        ["artifact", "size KB", "p50 ms", "p90 ms", "ratio [low, high]", "agreement", "accuracy"],
        ["original.tflite", "4000", "2.000", "2.100", "original", "-", "97.50%"],
        ["mobile.tflite", "1000", "1.000", "1.250", "0.500 [0.500, 0.500]", "97.50%", "97.50%"],
    ]
    assert len({len(line) for line in lines}) == 1


def test_table_of_what_is_not_known_and_of_warnings():
    report = reports.phone_report()
    report["models"][1] |= {"bytes": None, "accuracy": None}
    report["models"][1]["latency_ms"]["p90"] = None
    report["pairs"][0]["ratio"] |= {"low": None, "high": None}
    report["pairs"][0]["agreement"] = None
    report["warnings"] = [
        {"code": "busy", "model": None, "message": "others worked"},
        {"code": "noisy", "model": "mobile.tflite", "message": "it varied"},
    ]
    lines = benchmark.table(report).splitlines()
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


def command(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "export.benchmark", *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.tensorflow
def test_command(tiny_models, tmp_path):
    output = tmp_path / "R.json"
    run = command(
        f"--original={tiny_models / 'float32.tflite'}",
        f"--mobile={tiny_models / 'int8.tflite'},{tiny_models / 'pixels.tflite'}",
        f"--output={output}",
        *("--blocks=2", "--runs=3", "--images=5", "--mean=0.25", "--std=0.5"),
    )
    assert run.returncode == 0, run.stderr
    report = json.loads(output.read_text())
    reports.validate(report)
    assert [model["name"] for model in report["models"]] == ["float32.tflite", "int8.tflite", "pixels.tflite"]
    assert [model["latency_ms"]["count"] for model in report["models"]] == [6, 6, 6]
    assert "normalization" not in {entry["code"] for entry in report["warnings"]}
    assert run.stdout.startswith("artifact ")
    assert run.stdout.endswith(f"wrote {output}\n")
    assert not report["runtime"]["debug_build"]


@pytest.mark.tensorflow
def test_command_on_jax(tiny_models, tmp_path):
    pytest.importorskip("jax")
    output = tmp_path / "R.json"
    (tmp_path / "config.json").write_text(json.dumps({"mean": [0.5], "std": [0.25]}))
    shutil.copy(tiny_models / "model.keras", tmp_path / "model.keras")
    run = command(
        f"--original={tmp_path / 'model.keras'}",
        f"--mobile={tiny_models / 'float32.tflite'}",
        f"--output={output}",
        *("--blocks=2", "--runs=3", "--images=5"),
        KERAS_BACKEND="jax",
    )
    assert run.returncode == 0, run.stderr
    report = json.loads(output.read_text())
    reports.validate(report)
    original, mobile = report["models"]
    assert original["runtime"]["name"] == "Keras on jax, XLA"
    assert report["pairs"][0]["agreement"]["max_abs_diff"] < 1e-4
    for model in (original, mobile):  # the normalization of the run that trained the original
        assert (model["input"]["mean"], model["input"]["std"]) == ([0.5], [0.25])


@pytest.mark.tensorflow
def test_a_keras_file_is_shown_images_as_its_own_run_was(tiny_models, tmp_path):
    """Also where it is not the original, which takes pixels."""
    (tmp_path / "config.json").write_text(json.dumps({"mean": [PIXEL_MEAN], "std": [PIXEL_STD]}))
    shutil.copy(tiny_models / "model.keras", tmp_path / "model.keras")
    paths = [tiny_models / "pixels.tflite", tmp_path / "model.keras", tiny_models / "float32.tflite"]
    report = benchmark.measure(paths, **QUICK)
    assert "normalization" not in {entry["code"] for entry in report["warnings"]}
    for pair in report["pairs"]:
        assert pair["agreement"]["top1_agreement"] == 1.0
        assert pair["agreement"]["max_abs_diff"] < 1e-4


@pytest.mark.parametrize(
    ("name", "asked", "expected"),
    [
        ("a/model.keras", {}, {"mean": 0.1, "std": 0.2}),
        ("b/model.keras", {}, {"mean": 0.3, "std": 0.4}),
        ("b/model.tflite", {}, {"mean": 0.1, "std": 0.2}),
        ("b/model.keras", {"mean": 0.5}, {"mean": 0.5, "std": 0.4}),
        ("a/model.tflite", {"mean": 0.0, "std": 1.0}, {"mean": 0.0, "std": 1.0}),
    ],
)
def test_whose_normalization(tmp_path, name, asked, expected):
    for folder, mean, std in (("a", 0.1, 0.2), ("b", 0.3, 0.4)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "config.json").write_text(json.dumps({"mean": mean, "std": std}))
    paths = [tmp_path / path for path in ("b/model.tflite", "a/model.keras", "b/model.keras")]
    asked = {"mean": None, "std": None, **asked}
    assert benchmark._normalization(tmp_path / name, paths, **asked) == expected


def test_without_a_keras_file_the_run_beside_an_artifact_tells(tmp_path):
    (tmp_path / "config.json").write_text('{"mean": 0.3, "std": 0.4}')
    path = tmp_path / "model.tflite"
    assert benchmark._normalization(path, [path], None, None) == {"mean": 0.3, "std": 0.4}


def test_command_on_the_output_of_official_tools(tmp_path):
    output = tmp_path / "R.json"
    run = command(
        f"--original={OUTPUTS / 'shell.txt'}",
        f"--mobile={OUTPUTS / 'litert_benchmark.json'}",
        f"--output={output}",
        "--device=Maker Phone 7",
    )
    assert run.returncode == 0, run.stderr
    report = json.loads(output.read_text())
    reports.validate(report)
    assert report["device"]["name"] == "Maker Phone 7"
    assert "[no interval]" in run.stdout


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mobile": "missing.tflite"}, "there is no model file missing.tflite"),
        ({"mobile": OUTPUTS / "shell.txt"}, "shell.txt: its name must end in .keras or .tflite"),
        ({"output": "nowhere/R.json"}, "there is no folder nowhere"),
        ({"mean": "bright"}, "--mean takes numbers separated by commas"),
        ({"data": "pictures"}, "data='pictures' is not a known image set"),
    ],
)
def test_bad_input_is_one_line(tiny_models, tmp_path, changes, message):
    arguments = {
        "original": tiny_models / "float32.tflite",
        "mobile": tiny_models / "int8.tflite",
        "output": tmp_path / "R.json",
        **changes,
    }
    run = command(*(f"--{name}={value}" for name, value in arguments.items()))
    assert run.returncode == 1
    errors = [line for line in run.stderr.splitlines() if not line.startswith("INFO:")]
    assert len(errors) == 1, run.stderr
    assert errors[0].startswith("error: ")
    assert message in errors[0]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("flag", ["--runs=0", "--blocks=0", "--threads=0", "--images=-1", "--cooldown=-1"])
def test_numbers_out_of_range_are_refused_by_their_flag(tmp_path, flag):
    run = command("--original=a.tflite", "--mobile=b.tflite", f"--output={tmp_path / 'R.json'}", flag)
    assert run.returncode == 1
    assert flag.split("=")[0] in run.stderr
    assert not list(tmp_path.iterdir())

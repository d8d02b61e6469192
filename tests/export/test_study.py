"""The mobile side of a study: each model's presets, compared with the right model and timed against one."""

import json

import keras
import numpy as np
import pytest

import hsvit_keras

if keras.backend.backend() != "tensorflow":
    pytest.skip("conversion needs the TensorFlow backend", allow_module_level=True)

from export import study
from export.studying import study_artifacts
from hsvit_runtime.errors import InputError
from tests.command_line.in_process import call

pytestmark = pytest.mark.tensorflow


@pytest.fixture
def written(tmp_path):
    """A study of one model and two chains, as training.compression_study leaves it, in another order."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    keras.utils.set_random_seed(0)
    sizes = {"filters": (8,), "pool_strides": (2,), "attention_groups": 2, "depth": 1, "hidden_dim": 8}
    model = hsvit_keras.create_model(
        "hsvit_tiny",
        input_shape=(8, 8, 1),
        **sizes,
        num_heads=2,
        mean=0.5,
        std=0.25,
        class_names=tuple("0123456789"),
        data_set="digits",
    )
    images = np.random.default_rng(0).integers(0, 256, (64, 8, 8, 1)).astype("float32")
    models = {
        "small": hsvit_keras.slim(model, groups=1),
        "int8 after training": hsvit_keras.calibrate(model, [images]),
        "original": model,
    }
    rows = []
    for chain, kept in models.items():
        kept.save(folder / f"{chain}.keras")
        rows.append(
            {"model": "tiny", "chain": chain, "accuracy": 0.5, "file": str(folder / f"{chain}.keras")}
        )
    (tmp_path / "study.json").write_text(json.dumps({"rows": rows}))
    return tmp_path / "study.json"


@pytest.mark.slow
def test_a_study(written, capsys):
    call(study, f"--study={written}", "--blocks=2", "--runs=2")
    report = json.loads((written.parent / "artifacts.json").read_text())
    found = [(row["chain"], row["preset"]) for row in report["rows"]]
    assert found == [
        ("original", "float32"), ("original", "float16"), ("original", "dynamic"),
        ("small", "float32"), ("small", "dynamic"), ("int8 after training", "int8"),
    ]  # fmt: skip
    assert (report["task"]["name"], report["refused"]) == ("classification", [])
    first = report["rows"][0]
    assert first["ratio"] == {"value": 1.0, "low": 1.0, "high": 1.0}
    for row in report["rows"]:
        assert row["points"] == pytest.approx(100 * (0.5 - row["accuracy"]), abs=1e-3)
        assert row["agreement"] >= 0.95  # with the Keras model of its own row, on all 355 images
        assert row["ratio"]["value"] == pytest.approx(row["p50_ms"] / first["p50_ms"], rel=0.5)
        file = written.parent / "artifacts" / row["file"].split("/")[-1]
        assert file.stat().st_size == row["bytes"]
        assert json.loads(file.with_suffix(".json").read_text())["parity"]["samples"] == 355
    assert report["device"]["cpu"]
    shown = study_artifacts.table(report)
    assert shown in capsys.readouterr().out
    lines = shown.splitlines()
    assert len(lines) == 1 + 6 and "int8 after training" in lines[-1] and "1.00 [1.00, 1.00]" in lines[1]


@pytest.mark.parametrize(
    "content",
    [
        "no json",
        "[]",
        '{"rows": []}',
        '{"rows": [{"chain": "original"}]}',
        '{"rows": [{"model": "m", "chain": "c"}]}',
    ],
)
def test_what_is_no_study(tmp_path, content):
    (tmp_path / "study.json").write_text(content)
    with pytest.raises(ValueError, match=r"study\.json is no (JSON|study of training\.compression_study)"):
        study_artifacts.study(tmp_path / "study.json")
    assert not (tmp_path / "artifacts").exists()


@pytest.mark.parametrize("name", ["../../../escaped", "/etc/passwd", "a/b", ""])
def test_no_file_is_written_by_a_name_that_leaves_the_folder(name, tmp_path):
    (tmp_path / "study.json").write_text(
        json.dumps({"rows": [{"model": name, "chain": "original", "file": "m.keras"}]})
    )
    with pytest.raises(InputError, match=r"study\.json: files cannot be named after"):
        study_artifacts.study(tmp_path / "study.json")
    assert [path.name for path in tmp_path.iterdir()] == ["study.json"]


def test_a_refused_artifact_is_named_and_the_others_are_made(written, monkeypatch):
    refuses = {"dynamic"}

    def to_tflite(model, file, preset, samples):
        if preset in refuses:
            raise InputError("computes something else")
        return {"parity": {"top1_agreement": 1.0}, "bytes": 1, "description": {"task": "classification"}}

    monkeypatch.setattr(study_artifacts, "to_tflite", to_tflite)
    (original,) = (row for row in json.loads(written.read_text())["rows"] if row["chain"] == "original")
    made = list(study_artifacts._artifacts(original, written, None))
    assert [one.get("reason") for one in made] == [None, None, "computes something else"]
    refuses.add("float32")  # which all others are timed against
    with pytest.raises(InputError, match="computes something else"):
        list(study_artifacts._artifacts(original, written, None))

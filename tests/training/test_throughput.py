"""The throughput command measures every combination in turn and reports the median."""

import json
import pathlib
import subprocess
import sys

import keras
import pytest
from absl import flags

from tests.command_line.in_process import call
from training import throughput

ROOT = pathlib.Path(__file__).parents[2]
BACKEND = keras.backend.backend()


def run(*arguments):
    command = [sys.executable, "-m", "training.throughput", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


@pytest.mark.exhaustive
def test_the_command_measures_each_combination(tmp_path):
    output = tmp_path / "throughput.json"
    done = run(
        "--models=hsvit_tiny", f"--backend={BACKEND}", "--jit=on,off", "--image_shape=8,8,1",
        "--batch_size=4", "--repetitions=3", "--seconds=0.01", f"--output={output}",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = json.loads(output.read_text())
    assert [(row["model"], row["backend"], row["jit"]) for row in report["results"]] == [
        ("hsvit_tiny", BACKEND, True),
        ("hsvit_tiny", BACKEND, False),
    ]
    for row in report["results"]:
        assert len(row["measurements"]) == 3 and min(row["measurements"]) > 0
        assert row["images_per_second"] == sorted(row["measurements"])[1]
        assert row["first_step_seconds"] > 0
    assert report["machines"][BACKEND]["backend"] == BACKEND
    assert report["machines"][BACKEND]["machine"]["processor"]
    assert report["batch_size"] == 4 and report["image_shape"] == [8, 8, 1]
    # The processes take turns.
    turns = [line.partition(", ")[2] for line in done.stdout.splitlines() if line.endswith("images/s")][:6]
    assert [turn.partition(":")[0] for turn in turns] == ["jit on", "jit off"] * 3


@pytest.mark.exhaustive
def test_a_process_that_cannot_start_is_named(tmp_path):
    done = run(
        "--models=hsvit_tony", f"--backend={BACKEND}", "--jit=off", f"--output={tmp_path / 'throughput.json'}"
    )
    assert done.returncode == 1
    assert "hsvit_tony" in done.stderr and "did you mean 'hsvit_tiny'" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "flag, message",
    [
        ("--jit=maybe", r"--jit=maybe: value should be one of <on\|off>"),
        ("--jit=", "--jit=: a list without gaps is needed"),
        ("--image_shape=32,32", "--image_shape=32,32: 3 values are needed, separated by commas"),
        ("--image_shape=32,32,x", "--image_shape=32,32,x: invalid literal"),
        ("--image_shape=32,0,3", "--image_shape=32,0,3: 0 is not an integer in the range"),
    ],
)
def test_a_wrong_flag_is_named(flag, message):
    with pytest.raises(flags.Error, match=message):
        call(throughput, "--output=o.json", flag)


def test_the_table_shows_median_and_spread():
    report = {
        "results": [
            {
                "model": "hsvit_c2a2",
                "backend": "jax",
                "jit": True,
                "images_per_second": 1234.5,
                "measurements": [1200.0, 1234.5, 1300.0],
                "first_step_seconds": 7.25,
            }
        ]
    }
    title, line = throughput.table(report).splitlines()
    assert line.split() == ["hsvit_c2a2", "jax", "on", "1,234.5", "1,200.0-1,300.0", "7.2", "s"]
    assert title.index("spread") + len("spread") == line.index("1,300.0") + len("1,300.0")


def test_processes_of_a_model_take_turns(monkeypatch):
    turns = []

    class Worker:
        def __init__(self, module, job, name, environment):
            self.job, self.measurements = job, []
            self.ready = {"machine": {"backend": job["backend"]}, "first_step_seconds": 1.0}
            assert environment == {"KERAS_BACKEND": "jax"}

        def __enter__(self):
            return self

        def __exit__(self, *_):
            turns.append("end")

        def measure(self):
            turns.append((self.job["model"], self.job["jit"]))
            self.measurements.append({"images_per_second": 1.0})

    monkeypatch.setattr(throughput, "Worker", Worker)
    report = throughput.measure(
        ["one", "two"], backends=["jax"], jits=[True, False], image_shape=[8, 8, 1], batch_size=4,
        dtype="float32", repetitions=2, seconds=1.0,
    )  # fmt: skip
    assert turns == [
        *[("one", True), ("one", False)] * 2, "end", "end",
        *[("two", True), ("two", False)] * 2, "end", "end",
    ]  # fmt: skip
    assert [row["model"] for row in report["results"]] == ["one", "one", "two", "two"]
    assert report["machines"] == {"jax": {"backend": "jax"}}

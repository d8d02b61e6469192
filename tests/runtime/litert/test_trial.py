"""A file that LiteRT crashes on is named, and the command lives."""

import pytest

from hsvit_runtime.errors import InputError
from hsvit_runtime.litert import native_trial, trial
from tests.runtime.litert.builder import Builder

pytestmark = pytest.mark.once


@pytest.fixture
def file(tmp_path):
    builder = Builder()
    x, y = builder.tensor((1, 4)), builder.tensor((1, 4))
    builder.op("RELU", [x], [y])
    (tmp_path / "good.tflite").write_bytes(builder.content([x], [y]))
    return tmp_path / "good.tflite"


def test_files_that_run_pass(file, tmp_path):
    (tmp_path / "damaged.tflite").write_bytes(b"TFL3")  # an error, no crash: whoever opens it says so
    trial.check_runs([file, tmp_path / "damaged.tflite", tmp_path / "missing.tflite", "model.keras"])


@pytest.mark.parametrize(
    "code, words",
    [
        ("import os; os.abort()", r"^LiteRT crashes on .*good\.tflite \(SIGABRT\)"),
        ("import time; time.sleep(60)", r"good\.tflite does not end in LiteRT within 2 seconds"),
    ],
    ids=["crash", "hang"],
)
def test_a_crash_and_a_hang_are_named(code, words, file, tmp_path, monkeypatch):
    program = tmp_path / "trial.py"
    program.write_text(f"import sys\nprint(sys.argv[1], flush=True)\n{code}\n")
    monkeypatch.setattr(native_trial, "__file__", str(program))
    monkeypatch.setattr(trial, "TIMEOUT_SECONDS", 2)
    with pytest.raises(InputError, match=words):
        trial.check_runs([file])

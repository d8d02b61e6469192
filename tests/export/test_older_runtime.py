"""Latencies in another Python's TensorFlow Lite; here that of the tests stands for an older one."""

import json
import subprocess
import sys

import pytest

pytest.importorskip("ai_edge_litert")

from tests.runtime.litert.builder import Builder

pytestmark = [pytest.mark.tensorflow, pytest.mark.once]


def chain(*kinds):
    builder = Builder()
    tensors = [builder.tensor((1, 4)) for _ in range(len(kinds) + 1)]
    for kind, before, after in zip(kinds, tensors[:-1], tensors[1:], strict=True):
        builder.op(kind, [before], [after])
    return builder.content(tensors[:1], tensors[-1:])


def run(folder, python):
    (folder / "a.tflite").write_bytes(chain("RELU", "SIGN", "NEG"))
    (folder / "b.tflite").write_bytes(chain("RELU", "NEG"))
    command = [sys.executable, "-m", "export.older_runtime", f"--python={python}", "--blocks=3", "--runs=2"]
    command += [f"--original={folder / 'a.tflite'}", f"--mobile={folder / 'b.tflite'}"]
    return subprocess.run(
        [*command, f"--output={folder / 'r.json'}"], capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_measures_side_by_side(tmp_path):
    done = run(tmp_path, sys.executable)
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "r.json").read_text())
    original, mobile = report["models"]
    assert [model["partitions"] for model in report["models"]] == [2, 1]
    assert [model["ops"] for model in report["models"]] == [3, 2]
    assert [len(block) for block in mobile["blocks_ms"]] == [2, 2, 2]
    assert (original["ratio"], mobile["ratio"]["confidence"]) == (None, 0.95)
    assert mobile["max_abs_diff"] > 1  # -x of pixels beside -sign(x)
    assert report["runtime"] in done.stdout


def test_a_python_that_is_none(tmp_path):
    done = run(tmp_path, tmp_path / "none")
    assert done.returncode == 1
    assert done.stderr == f"error: --python={tmp_path / 'none'} does not start: No such file or directory\n"
    assert not (tmp_path / "r.json").exists()

"""The command `export.onnx`."""

import json

import keras
import pytest

if keras.backend.backend() != "tensorflow":
    pytest.skip("conversion needs the TensorFlow backend", allow_module_level=True)

from export import onnx
from tests.command_line.in_process import call
from tests.export import hsvits

pytestmark = pytest.mark.tensorflow


def test_command(tmp_path, capsys):
    hsvits.small().save(tmp_path / "m.keras")
    call(onnx, f"--model={tmp_path}/m.keras", f"--output={tmp_path}/m.onnx", "--samples=20", "--opset=18")
    report = json.loads((tmp_path / "m.onnx.json").read_text())
    assert (report["preset"], report["opset"], report["input"]["shape"][0]) == ("float32", 18, None)
    assert (report["parity"]["samples"], report["parity"]["data"]) == (20, "digits")
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith(f"wrote {tmp_path}/m.onnx: float32, opset 18, ")
    assert out[1] == "  takes float32 any x 16 x 16 x 1, pixels of 0 to 255; gives logits"
    assert "on 20 samples of digits" in out[2] and out[2].endswith("same class 100.00%")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.keras", "m.onnx", "m.onnx.json"]

"""No command writes over a file of another kind, or over what it reads."""

import importlib
import inspect
import pkgutil

import pytest

import export
import training
import training.scaling
from hsvit_runtime.errors import FileError
from tests.command_line.in_process import call

pytestmark = pytest.mark.once
ARTIFACT = ("--model=M.keras",)
# A command -> (arguments but --output, the end of its output's name).
COMMANDS = {
    "export.arm_cost": (("M.tflite",), ".json"),
    "export.benchmark": (("--original=M.keras", "--mobile=M.tflite"), ".json"),
    "export.catalog": ((), ".md"),
    "export.inspection": (("M.tflite",), ".json"),
    "export.older_runtime": (("--python=python", "--original=M.tflite", "--mobile=N.tflite"), ".json"),
    "export.phone": (("report",), ".json"),
    "export.report": (("--workdir=.",), ".html"),
    "export.serve": (("--manifest=manifest.json", "--bench"), ".json"),
    "export.simulate": (("--served=served.json",), ".json"),
    "export.subsets": (("--manifests=manifest.json",), ".json"),
    "training.augmented": (("--config=training/configs/digits.py",), ".png"),
    "training.compress": (ARTIFACT, ".keras"),
    "training.data": (("--data=digits",), ".png"),
    "training.data_throughput": (("--config=training/configs/folder.py",), ".json"),
    "training.scaling.costs": (("deit_tiny",), ".json"),
    "training.scaling.rank": ((), ".json"),
    "training.scaling.transfer": (("--strategy=deit_scaled_tiny",), ".json"),
    "training.figures": (("--figure=hsvit_figure5", "--data=digits", "--workdir=nowhere"), ".json"),
    "training.sensitivity": (ARTIFACT, ".json"),
    "training.table": (("--table=hsvit_table4", "--data=digits", "--workdir=nowhere"), ".json"),
    "training.throughput": ((), ".json"),
    "training.visualize": (ARTIFACT, ".png"),
}
# They ask before they write, in tests of their own.
ELSEWHERE = {
    "export.bundle",  # a folder
    "export.elastic",
    "export.layers",  # between two marks of a page
    "export.onnx",
    "export.tflite",
    "export.web",  # a folder
}


def commands_with_output():
    for package in (export, training, training.scaling):
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            if not module.ispkg:
                found = importlib.import_module(module.name)
                if hasattr(found, "define_flags") and '"output"' in inspect.getsource(found):
                    yield module.name


def test_every_command_is_tested():
    assert set(commands_with_output()) <= COMMANDS.keys() | ELSEWHERE


@pytest.mark.parametrize("name", COMMANDS)
def test_a_file_of_another_kind_is_kept(name, tmp_path):
    arguments, suffix = COMMANDS[name]
    path = tmp_path / f"mine{suffix}"
    path.write_text('{"mine": true}')
    with pytest.raises(FileError, match=rf"mine\{suffix}: the file there is no .* would be lost"):
        call(importlib.import_module(name), *arguments, f"--output={path}")
    assert path.read_text() == '{"mine": true}'
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("name", COMMANDS)
def test_an_output_of_another_name_is_refused(name, tmp_path):
    arguments, suffix = COMMANDS[name]
    with pytest.raises(FileError, match=rf"has to end in \{suffix}; received .*model\.bin"):
        call(importlib.import_module(name), *arguments, f"--output={tmp_path / 'model.bin'}")
    assert not any(tmp_path.iterdir())


def test_a_compression_keeps_its_model(tmp_path):
    model = tmp_path / "model.keras"
    model.write_bytes(b"PK")
    with pytest.raises(FileError, match="the command reads it"):
        call(importlib.import_module("training.compress"), f"--model={model}", f"--output={model}")
    assert model.read_bytes() == b"PK"

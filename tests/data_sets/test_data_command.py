"""The command `python -m training.data`."""

import json
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from tests.data_sets.making import write_class_folder


def run(*arguments):
    command = [sys.executable, "-m", "training.data", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def pets(tmp_path):
    for part in ("train", "test"):
        write_class_folder(tmp_path / part / "cat", 3, value=10)
        write_class_folder(tmp_path / part / "dog", 2, value=200)
    return tmp_path


def test_digits_with_contact_sheet(tmp_path):
    sheet = tmp_path / "digits.png"
    done = run(f"--output={sheet}")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "digits: 8x8 pixels, grey, 10 classes"
    assert lines[1].split() == ["class", "train", "test"]
    assert lines[2].split() == ["0", "143", "35"]
    assert lines[12].split() == ["all", "1,442", "355"]
    summary = json.loads(sheet.with_suffix(".json").read_text())
    assert summary["image_shape"] == [8, 8, 1]
    assert summary["images"] == {"train": 1442, "test": 355}
    assert sum(summary["images_per_class"]["train"]) == 1442
    with Image.open(sheet) as image:
        pixels = np.asarray(image.convert("L"))
    assert min(pixels.shape) > 800
    assert len(np.unique(pixels)) > 10  # there are pictures in it
    assert sorted(path.name for path in tmp_path.iterdir()) == ["digits.json", "digits.png"]


def test_verify_names_every_broken_image(pets):
    for name in ("train/cat/1.png", "train/dog/0.png"):
        (pets / name).write_bytes(b"broken")
    done = run("--data=folder", f"--data_dir={pets}", "--verify")
    assert done.returncode == 1
    assert f"cannot read the image {pets}/train/cat/1.png" in done.stdout
    assert f"cannot read the image {pets}/train/dog/0.png" in done.stdout
    assert done.stderr == "error: 2 of the 5 images of the train part cannot be read\n"


def test_verify_and_sheet_of_a_folder(pets):
    done = run("--data=folder", f"--data_dir={pets}", "--verify", f"--output={pets / 'sheet.png'}")
    assert done.returncode == 0, done.stderr
    assert "train: all 5 images can be read\ntest: all 5 images can be read\n" in done.stdout
    assert (pets / "sheet.png").is_file()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--data=cifar10", "--data_dir=/nowhere"],
            "error: CIFAR-10 was not found in /nowhere, a folder that does not",
        ),
        (["--data=mnist"], "error: data='mnist' is not a known image set"),
        (["--output=sheet.jpg"], "error: --output=sheet.jpg must end in .png"),
        (
            ["--output=/nowhere/sheet.png"],
            "error: cannot write /nowhere/sheet.png: there is no folder /nowhere",
        ),
    ],
)
def test_bad_input_is_one_line(arguments, message):
    done = run(*arguments)
    assert done.returncode == 1
    assert done.stderr.startswith(message)
    assert done.stderr.count("\n") == 1


def test_importing_the_command_defines_no_flags():
    code = (
        "import training.data.__main__ as c; assert 'verify' not in c.FLAGS; c.define_flags(); c.FLAGS.verify"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "UnparsedFlagAccessError" in done.stderr and "AssertionError" not in done.stderr

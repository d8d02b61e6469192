"""The command `python -m training.data`."""

import json

import numpy as np
import pytest
from PIL import Image

from hsvit_runtime.errors import InputError, MissingFileError
from tests.command_line.in_process import call
from tests.data_sets.making import write_class_folder
from training import data
from training.data_views import contact_sheet

pytestmark = pytest.mark.once


@pytest.fixture
def pets(tmp_path):
    for part in ("train", "test"):
        write_class_folder(tmp_path / part / "cat", 3, value=10)
        write_class_folder(tmp_path / part / "dog", 2, value=200)
    return tmp_path


def test_digits_with_contact_sheet(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(contact_sheet, "_MAX_IMAGES", 20)  # a hundred take long to draw
    sheet = tmp_path / "digits.png"
    call(data, "--data=digits", f"--output={sheet}")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("digits: classification, 8x8 pixels, grey, 10 classes")
    assert lines[1].split() == ["class", "train", "test"]
    assert lines[2].split() == ["0", "143", "35"]
    assert lines[12].split() == ["all", "1,442", "355"]
    summary = json.loads(sheet.with_suffix(".json").read_text())
    assert summary["image_shape"] == [8, 8, 1]
    assert summary["images"] == {"train": 1442, "test": 355}
    assert sum(summary["images_per_class"]["train"]) == 1442
    with Image.open(sheet) as image:
        pixels = np.asarray(image.convert("L"))
    assert pixels.shape == (280, 1200)
    assert len(np.unique(pixels)) > 10  # there are pictures in it
    assert sorted(path.name for path in tmp_path.iterdir()) == ["digits.json", "digits.png"]


def test_masks_are_counted_by_the_images_that_hold_a_class(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(contact_sheet, "_MAX_IMAGES", 5)
    call(data, "--data=digits_segmentation", f"--output={tmp_path / 'sheet.png'}")
    with Image.open(tmp_path / "sheet.png") as image:
        red, green, _ = np.moveaxis(np.asarray(image.convert("RGB")), -1, 0)
    assert (red != green).any()  # the masks are in colour
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("digits_segmentation: segmentation, 32x32 pixels, grey, 11 classes")
    assert lines[2].split() == ["background", "1,442", "355"]
    assert lines[3].split() == ["0", "143", "35"]


def test_verify_names_every_broken_image(pets, capsys):
    for name in ("train/cat/1.png", "train/dog/0.png"):
        (pets / name).write_bytes(b"broken")
    with pytest.raises(InputError, match="2 of the 5 images of the train part cannot be read"):
        call(data, "--data=folder", f"--data_dir={pets}", "--verify")
    said = capsys.readouterr().out
    assert f"cannot read the image {pets}/train/cat/1.png" in said
    assert f"cannot read the image {pets}/train/dog/0.png" in said


def test_verify_names_broken_images_of_all_parts(pets, capsys):
    for name in ("cat", "dog"):
        write_class_folder(pets / "val" / name, 1)
    names = ("train/cat/0", "test/cat/0", "test/dog/1", "val/cat/0", "val/dog/0")
    broken = [pets / f"{name}.png" for name in names]
    for path in broken:
        path.write_bytes(b"broken")
    with pytest.raises(
        InputError,
        match=r"^1 of the 5 images of the train part and 2 of the 5 images of the test part "
        r"and 2 of the 2 images of the validation part cannot be read$",
    ):
        call(data, "--data=folder", f"--data_dir={pets}", "--verify")
    said = capsys.readouterr().out
    for path in broken:
        assert f"cannot read the image {path}: " in said
    assert "class  train  test  validation" in said


def test_files_left_out_are_told(pets, capsys, monkeypatch):
    monkeypatch.setattr(contact_sheet, "_MAX_IMAGES", 4)
    for name in ("train/cat/notes.txt", "train/stray.png", "test/dog/photo.heic", "train/.hidden"):
        (pets / name).touch()
    call(data, "--data=folder", f"--data_dir={pets}", f"--output={pets / 'sheet.png'}")
    assert "left out: 3 files that are in no class folder or do not end as images do, such as " in (
        capsys.readouterr().out
    )
    told = json.loads((pets / "sheet.json").read_text())["left_out"]
    assert sorted(told) == [
        str(pets / name) for name in ("test/dog/photo.heic", "train/cat/notes.txt", "train/stray.png")
    ]


def test_verify_and_sheet_of_a_folder(pets, capsys):
    call(data, "--data=folder", f"--data_dir={pets}", "--verify", f"--output={pets / 'sheet.png'}")
    assert "train: all 5 images can be read\ntest: all 5 images can be read\n" in capsys.readouterr().out
    assert (pets / "sheet.png").is_file()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            ["--data=cifar10", "--data_dir=/nowhere"],
            MissingFileError,
            "CIFAR-10 was not found in /nowhere, a folder that does not",
        ),
        (["--data=mnist"], InputError, "data='mnist' is not a known data set"),
        (["--data=digits", "--output=sheet.jpg"], InputError, "has to end in .png; received sheet.jpg"),
        (
            ["--data=digits", "--output=/nowhere/sheet.png"],
            MissingFileError,
            "cannot write /nowhere/sheet.png: there is no folder /nowhere",
        ),
    ],
)
def test_bad_input_is_named(arguments, error, message):
    with pytest.raises(error, match=message):
        call(data, *arguments)

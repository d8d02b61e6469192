"""The command `python -m training.augmented`."""

import json

import numpy as np
import pytest
from PIL import Image

from hsvit_runtime.errors import InputError
from tests.command_line.in_process import call
from training import augmented
from training.data_views import augmentation_sheet

pytestmark = pytest.mark.once

CONFIG = "--config=training/configs/digits.py"
FLAT = "(('RandAugment', {'magnitude': 3}), ('MixUpOrCutMix', {}))"


def test_a_sheet_has_a_row_for_each_operation_and_one_for_all(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(augmentation_sheet, "_IMAGES", 3)
    sheet = tmp_path / "sheet.png"
    call(augmented, CONFIG, f"--config.augmentation={FLAT}", f"--output={sheet}")
    with Image.open(sheet) as image:
        pixels = np.asarray(image.convert("L"))
    assert pixels.shape == (440, 470)  # four rows, and three columns behind the titles
    assert len(np.unique(pixels)) > 10
    written = json.loads(sheet.with_suffix(".json").read_text())
    assert written["augmentation"] == [["RandAugment", {"magnitude": 3}], ["MixUpOrCutMix", {}]]
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["operation", "RandAugment", "MixUpOrCutMix"]


@pytest.mark.parametrize(
    "arguments, words",
    [
        ([CONFIG, "--output=sheet.jpg"], "has to end in .png; received sheet.jpg"),
        (["--output=sheet.png"], "--config is needed"),
        (
            [CONFIG, "--output=sheet.png", "--config.augmentation=(('RandAugmentt', {}),)"],
            "no operation 'RandAugmentt'.*did you mean 'RandAugment'",
        ),
    ],
)
def test_what_is_wrong_is_named(arguments, words):
    with pytest.raises(InputError, match=words):
        call(augmented, *arguments)

"""docs/any_model.md: its table is that of the passes, and its recipes run."""

import pathlib
import re

import keras
import numpy as np
import pytest
from PIL import Image

from export import layers
from hsvit_runtime.errors import InputError
from tests.command_line.in_process import call
from tests.parameters import exhaustive_but

PAGE = pathlib.Path(__file__).parents[2] / "docs/any_model.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
RECIPES = [code for code in BLOCKS if code.startswith("import keras\n")]


@pytest.mark.once
def test_the_table_is_up_to_date(tmp_path, capsys):
    (tmp_path / "page.md").write_text(PAGE.read_text())
    call(layers, f"--output={tmp_path / 'page.md'}")
    assert (tmp_path / "page.md").read_text() == PAGE.read_text()
    assert "layers" in capsys.readouterr().out


@pytest.mark.once
def test_a_page_without_marks_is_left_alone(tmp_path):
    (tmp_path / "page.md").write_text("words")
    with pytest.raises(InputError, match=r"page\.md has no table to replace: it stands between"):
        call(layers, f"--output={tmp_path / 'page.md'}")
    assert (tmp_path / "page.md").read_text() == "words"


@pytest.mark.once
@pytest.mark.slow
@pytest.mark.tensorflow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("code", exhaustive_but(RECIPES[:1], RECIPES), ids=range(len(RECIPES)))
def test_recipes(code, tmp_path, monkeypatch):
    """On made-up pictures, without weights from the internet."""
    rng = np.random.default_rng(0)
    for name, shade in (("dark", 60), ("light", 190)):
        (tmp_path / "pictures" / name).mkdir(parents=True)
        for i in range(24):
            picture = np.clip(rng.normal(shade, 30, (96, 96, 3)), 0, 255).astype("uint8")
            Image.fromarray(picture).save(tmp_path / "pictures" / name / f"{i}.png")
    monkeypatch.chdir(tmp_path)
    exec(compile(code.replace('weights="imagenet"', "weights=None"), str(PAGE), "exec"), {})
    assert len(list(tmp_path.glob("*.tflite"))) == 1
    keras.utils.clear_session()

"""What is wrong with a config file, or with a change of one of its values, is one line."""

import pathlib
import subprocess
import sys

import pytest

from command_line import commands
from tests.command_line.in_process import call
from training import compress, train
from training.configs import compress_base
from training.scaling import search

pytestmark = pytest.mark.once

ROOT = pathlib.Path(__file__).parents[2]
DIGITS = "from training.configs.digits import get_config"


def refusal(command, *arguments):
    """The line with which a command ends while it reads its flags."""
    with pytest.raises(SystemExit) as end, commands.refusing_flags():
        call(command, *arguments)
    assert "\n" not in end.value.code
    return end.value.code


@pytest.mark.parametrize(
    "content, changes, words",
    [
        (None, [], "there is no such file"),
        (None, ["--config.epochs=1"], "there is no such file"),
        ("def get_config(:", [], "invalid syntax (mine.py, line 1)"),
        ("import nothing_here", [], "No module named 'nothing_here' (line 1)"),
        ("def get_config():\n    return nothing", [], "name 'nothing' is not defined (line 2)"),
        ("def get_config():\n    return 1 / 0", [], "division by zero (line 2)"),
        ("def get_config():\n    return get_config()", [], "maximum recursion depth exceeded"),
        ("def get_config():\n    raise MemoryError", [], "MemoryError (line 2)"),
        ("def get_config():\n    exit()", [], "the file ends the process instead of giving a config"),
        ("import sys\nsys.exit('x')", ["--config.epochs=1"], "the file ends the process"),
        ("x = 1", [], "the file defines no get_config()"),
        ("\0", [], "source code string cannot contain null bytes"),
        *(
            (f"def get_config():\n    return {value}", changes, f"ConfigDict; it returns {value}")
            for value in ("None", "{}", "5", "[1]", "'x'")
            for changes in ([], ["--config.epochs=1"])
        ),
    ],
)
def test_a_config_file_that_cannot_be_used(tmp_path, content, changes, words):
    file = tmp_path / "mine.py"
    if content:
        file.write_text(content)
    line = refusal(train, f"--config={file}", f"--workdir={tmp_path / 'run'}", *changes)
    assert line.startswith(f"error: --config={file}: ") and words in line
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("file", ["", "/dev/null", "training/configs"])
def test_what_is_no_file(file):
    assert refusal(train, f"--config={file}") == f"error: --config={file}: there is no such file"


@pytest.mark.parametrize(
    "change, words",
    [
        ("epochs=ten", "an integer is needed"),
        ("epochs=None", "an integer is needed"),
        ("epochs=1.5", "an integer is needed"),
        ("epochs=[1]", "an integer is needed"),
        ("warmup_epochs=0.5", "an integer is needed"),
        ("learning_rate=fast", "a number is needed"),
        ("jit=yes", "true or false is needed"),
        ("distillation.hard=abc", "true or false is needed"),
    ],
)
def test_a_value_of_another_type(change, words):
    line = refusal(train, f"--config={ROOT / 'training/configs/digits.py'}", f"--config.{change}")
    assert line == f"error: --config.{change}: {words}"


@pytest.mark.parametrize(
    "place, words",
    [
        ("nope.epochs", "config has no table 'nope'"),
        ("epochs.x", "config has no table 'epochs'"),
        ("distillation.nope.x", "config.distillation has no table 'nope'"),
    ],
)
def test_a_change_of_what_is_not_there(place, words):
    """With a file that is given, and with the one that is read without."""
    for command, file in ((train, ["--config=training/configs/digits.py"]), (compress, [])):
        line = refusal(command, *file, f"--config.{place}=1")
        assert line.startswith("error: --config=")
        assert line.endswith(f"--config.{place} is no value of the config: {words}")


def test_a_file_gives_its_config_and_changes_are_made_in_it(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(
        f"{DIGITS} as digits\ndef get_config(epochs):\n    config = digits()\n"
        "    config.epochs = int(epochs)\n    return config\n"
    )
    given = {}
    monkeypatch.setattr(search, "search", lambda config, *_: given.update(config.to_dict()))
    call(
        search, f"--config={tmp_path / 'mine.py'}:7", "--workdir=w", "--config.model_arguments.depth=3",
        "--config.mean=(0.5,)", "--config.distillation.hard",
    )  # fmt: skip
    assert (given["epochs"], given["mean"], given["model_arguments"]) == (7, (0.5,), {"depth": 3})
    assert given["distillation"]["hard"] is True


SHARE = {"share": 0.2, "seed": 1}


@pytest.mark.parametrize(
    "key, value, changes, expected",
    [
        ("validation", {"share": 0.2, "seed": 1}, ["validation.share=0.3"], {"share": 0.3, "seed": 1}),
        (
            "validation",
            {"share": 0.2, "seed": 1},
            ["validation={'share':0.3,'seed':2}"],
            {"share": 0.3, "seed": 2},
        ),
        ("validation", {"share": 0.2, "seed": 1}, ["validation=test"], "test"),
        ("validation", "test", ["validation={'share':0.3,'seed':2}"], {"share": 0.3, "seed": 2}),
        ("validation", None, ["validation=test"], "test"),
        (
            "model_arguments",
            {"a": {"b": 1}},
            ["model_arguments.a.b=2", "model_arguments.c=3"],
            {"a": {"b": 2}, "c": 3},
        ),
    ],
)
def test_values_of_a_table_that_a_file_has_assigned(tmp_path, monkeypatch, key, value, changes, expected):
    assigned = f"    config.{key} = {value!r}\n" if value else ""
    (tmp_path / "mine.py").write_text(
        f"{DIGITS} as digits\ndef get_config():\n    config = digits()\n{assigned}    return config\n"
    )
    given = {}
    monkeypatch.setattr(search, "search", lambda config, *_: given.update(config.to_dict()))
    call(search, f"--config={tmp_path / 'mine.py'}", "--workdir=w", *(f"--config.{one}" for one in changes))
    assert given[key] == expected


def test_a_command_has_a_config_without_a_file(monkeypatch):
    given = []
    monkeypatch.setattr(
        "training.compressing.compression.compress", lambda model, output, config, _: given.append(config)
    )
    call(compress, "--model=a", "--output=b", "--config.epochs=3", "--step=quantize")
    expected = {**compress_base.get_config().to_dict(), "epochs": 3, "steps": (("quantize", {}),)}
    assert given[0].to_dict() == expected


def test_the_process_ends_with_this_line_and_status_1(tmp_path):
    (tmp_path / "mine.py").write_text("import nothing_here")
    command = [sys.executable, "-m", "training.train", f"--config={tmp_path / 'mine.py'}"]
    done = subprocess.run(
        [*command, f"--workdir={tmp_path / 'run'}"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stderr == f"error: --config={tmp_path / 'mine.py'}: No module named 'nothing_here' (line 1)\n"

"""Flags cannot be given nonsense: those of every command have bounds, and lists have no gaps."""

import importlib
import pathlib

import pytest
from absl import flags

from command_line import bounded, commands
from hsvit_runtime.errors import InputError
from tests.command_line.in_process import call

pytestmark = pytest.mark.once

ROOT = pathlib.Path(__file__).parents[2]
COMMANDS = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for folder in ("training", "export")
    for path in (ROOT / folder).rglob("*.py")
    if "\ndef define_flags" in (text := path.read_text()) and "commands.run(main" in text
)


def test_the_commands_are_found():
    assert {"training.train", "training.scaling.search", "export.phone", "export.simulate"} <= set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_number_of_every_command_has_bounds(name):
    """absl's own floats would take NaN, and its own lists an empty text."""
    for flag in own_flags(name):
        parser, what = flag.parser, f"{name} --{flag.name}"
        assert not isinstance(parser, flags.ListParser) or isinstance(parser, bounded._List), what
        item = getattr(parser, "item", parser)
        if isinstance(item, flags.IntegerParser | flags.FloatParser):
            assert None not in (item.lower_bound, item.upper_bound), what
            for text in ("nan", "inf", "-inf", "1e400", "x", "", str(10**12), "9" * 5000, "-1e30"):
                with pytest.raises(ValueError):
                    item.parse(text)
            default = flag.default if isinstance(flag.default, list) else [flag.default]
            assert all(number is None or item.parse(str(number)) == number for number in default), what


def own_flags(name):
    """The flags that a command defines."""
    module, before = importlib.import_module(name), set(flags.FLAGS)
    try:
        module.define_flags()
        return [flags.FLAGS[flag] for flag in set(flags.FLAGS) - before]
    finally:
        for flag in set(flags.FLAGS) - before:
            delattr(flags.FLAGS, flag)


def parser_of(define, *arguments, **settings):
    before = set(flags.FLAGS)
    try:
        define("tried", None, "A flag.", *arguments, **settings)
        return flags.FLAGS["tried"].parser
    finally:
        for flag in set(flags.FLAGS) - before:
            delattr(flags.FLAGS, flag)


@pytest.mark.parametrize("text", ["", ",", "1,", "1,,2", "1,x", "1,nan", "1,11", "0", "1.5,inf"])
def test_a_list_with_gaps_or_wrong_values(text):
    for define in (bounded.integers, bounded.numbers):
        with pytest.raises(ValueError):
            parser_of(define, 1, 10).parse(text)


def test_lists():
    assert parser_of(bounded.integers, 1, 10).parse("1, 10,3") == [1, 10, 3]
    assert parser_of(bounded.numbers, 0, 10).parse("0.5,2") == [0.5, 2.0]
    assert parser_of(bounded.names).parse("a,b c") == ["a", "b c"]
    with pytest.raises(ValueError, match=r"value should be one of <on\|off>"):
        parser_of(bounded.names, ["on", "off"]).parse("on,of")
    with pytest.raises(ValueError, match=r"^2 values are needed, separated by commas$"):
        parser_of(bounded.integers, 1, 10, count=2).parse("1")
    with pytest.raises(ValueError, match="a list without gaps is needed"):
        parser_of(bounded.names).parse("")


@pytest.mark.parametrize(
    "name, argument, words",
    [
        (
            "export.benchmark",
            "--threads=2147483648",
            "--threads=2147483648: 2147483648 is not an integer in the range [1, 256]",
        ),
        ("export.benchmark", "--mobile=", "--mobile=: a list without gaps is needed, separated by commas"),
        ("export.serve", "--deadline_ms=nan", "--deadline_ms=nan: a finite number is needed"),
        ("export.onnx", "--opset=1000", "--opset=1000: 1000 is not an integer in the range [17, 18]"),
        ("export.simulate", "--images=1000000000000", "is not an integer in the range [1, 1000000]"),
        ("export.simulate", "--loss=0,1.5", "--loss=0,1.5: 1.5 is not a number in the range [0, 0.999]"),
        ("training.visualize", "--count=300", "--count=300: 300 is not an integer in the range [1, 50]"),
        ("training.throughput", "--models=", "--models=: a list without gaps is needed"),
        ("training.throughput", "--seconds=x", "--seconds=x: a number is needed"),
        ("training.table", "--seeds=0,x", "--seeds=0,x: an integer is needed"),
    ],
)
def test_what_a_command_says(name, argument, words):
    with pytest.raises(SystemExit) as end, commands.refusing_flags():
        call(importlib.import_module(name), argument)
    assert end.value.code.startswith(f"error: {argument}: ") and words in end.value.code
    assert end.value.code.endswith("; --help lists the options")


@pytest.mark.parametrize(
    "name, arguments, message",
    [
        ("export.serve", ["--manifest=m", "--seconds=1"], "--seconds means nothing without --bench"),
        (
            "export.simulate",
            ["--served=a.json", "--shards=b.json"],
            "--shards means nothing with --served, whose files say it",
        ),
        ("export.web", ["--bundle=b", "--output=o", "--https"], "--https means nothing without --serve"),
        *(
            (
                "export.benchmark",
                ["--original=a.txt", "--mobile=b.txt", "--output=o.json", f"--{flag}"],
                f"--{name} means nothing for the output of official tools, which have measured",
            )
            for flag in ("blocks=3", "threads=2", "data=digits", "images=5")
            for name, _, _ in [flag.partition("=")]
        ),
        (
            "export.benchmark",
            ["--original=a.keras", "--mobile=b.tflite", "--output=o.json", "--device=Pixel"],
            "--device means nothing for models, which are measured on this machine",
        ),
        (
            "export.compare",
            ["--models=a.keras", "--workdir=w", "--preset=float32", "--equalize"],
            "--equalize means nothing for --preset=float32, which needs no ranges",
        ),
        ("export.phone", ["pull", "--output=o.json", "--threads=2"], "--threads means nothing for pull"),
        ("export.phone", ["report", "--output=o.json", "--serial=x"], "--serial means nothing for report"),
        ("export.phone", ["run", "--output=o.json", "--run_id=x"], "--run_id means nothing for run"),
        (
            "export.phone",
            ["run", "--output=o.json", "--data=digits"],
            "--data means nothing without --original",
        ),
        ("export.phone_table", ["table", "--notes=warm"], "--notes means nothing for table"),
        ("training.table", ["--workdir=w"], "--workdir means nothing without --table, which lists all"),
        ("training.figures", ["--epochs=3"], "--epochs means nothing without --figure, which lists all"),
        (
            "training.table",
            ["--table=hsvit_table3", "--workdir=w", "--workers=2"],
            "--workers means nothing without --ray",
        ),
        (
            "training.compression_study",
            ["--workdir=w", "--workers=2"],
            "--workers means nothing without --ray",
        ),
    ],
)
def test_flags_that_contradict_each_other(name, arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as raised:
        call(importlib.import_module(name), *arguments)
    assert str(raised.value) == message
    assert list(tmp_path.iterdir()) == []

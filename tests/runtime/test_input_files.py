"""Only ordinary files are read, and one line says of any other what it is."""

import os

import pytest

from hsvit_runtime import input_files
from hsvit_runtime.errors import FileError, MissingFileError

pytestmark = pytest.mark.once


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "good").write_bytes(b"12345")
    (tmp_path / "empty").touch()
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "broken").symlink_to("nowhere")
    return tmp_path


def test_an_ordinary_file(folder):
    assert input_files.check(str(folder / "good"), most=5) == folder / "good"
    assert input_files.read(folder / "good") == b"12345"
    assert input_files.read(folder / "empty", may_be_empty=True) == b""


@pytest.mark.parametrize(
    "name, reason",
    [
        ("folder", "it is a folder, a model file is needed"),
        ("pipe", "it is no ordinary file"),
        ("zero", "it is no ordinary file"),
        ("empty", "it is empty, a model file is needed"),
        ("loop", "Too many levels of symbolic links"),
        ("good/below", "Not a directory"),
        ("x" * 300, "File name too long"),
        ("zero\0byte", "embedded null byte"),
    ],
)
def test_what_cannot_be_read(folder, name, reason):
    with pytest.raises(FileError) as raised:
        input_files.read(folder / name, "model file")
    assert str(raised.value) == f"cannot read {folder / name}: {reason}"


def test_what_is_not_there(folder):
    for name in ("none", "broken", "none/at all"):
        with pytest.raises(MissingFileError, match=f"^there is no picture {folder / name}$"):
            input_files.check(folder / name, "picture")


def test_what_is_too_large(folder):
    with pytest.raises(FileError, match=r"good: it has 5 bytes; at most 4 are read"):
        input_files.check(folder / "good", most=4)


def test_what_may_not_be_read(folder, monkeypatch):
    def forbidden(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", forbidden)  # whoever runs tests may be allowed everything
    assert input_files.why_not(folder / "good") == "Permission denied"

"""Files are whole or not there."""

import json
import os
import stat
import subprocess

import pytest

from hsvit_runtime import files
from hsvit_runtime.errors import FileError


def test_written_at_the_end(tmp_path):
    with files.replacing(tmp_path / "a.txt") as temporary:
        temporary.write_text("new")
        assert temporary.suffix == ".txt"
        assert not (tmp_path / "a.txt").exists()
    assert (tmp_path / "a.txt").read_text() == "new"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_the_old_file_stays_on_an_error(tmp_path):
    (tmp_path / "a.txt").write_text("old")
    with pytest.raises(KeyboardInterrupt), files.replacing(tmp_path / "a.txt") as temporary:
        temporary.write_text("ne")
        raise KeyboardInterrupt
    assert (tmp_path / "a.txt").read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_temporary_files_are_hidden(tmp_path):
    with files.replacing(tmp_path / "a.json") as temporary:
        assert list(tmp_path.iterdir()) == [temporary]
        assert temporary.name.startswith(".")


def test_leftovers_of_killed_processes_are_removed(tmp_path):
    gone = subprocess.Popen(["true"])
    gone.wait()
    (tmp_path / f".a.{gone.pid}.part.json").touch()
    (tmp_path / f".a.{os.getppid()}.part.json").touch()  # that one is still at work
    (tmp_path / ".b.1.txt").touch()
    files.write_json(tmp_path / "a.json", {})
    assert sorted(os.listdir(tmp_path)) == [f".a.{os.getppid()}.part.json", ".b.1.txt", "a.json"]


def test_permissions_are_those_of_any_new_file(tmp_path):
    files.write_json(tmp_path / "a.json", {})
    (tmp_path / "b.json").write_text("{}")
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("a.json", "b.json")]
    assert modes[0] == modes[1]


def test_json(tmp_path):
    files.write_json(tmp_path / "a.json", {"b": [1, 2.5, None]})
    assert json.loads((tmp_path / "a.json").read_text()) == {"b": [1, 2.5, None]}


@pytest.mark.parametrize(
    ("place", "error", "message"),
    [("nowhere/a.txt", FileNotFoundError, "no folder .*nowhere"), (".", FileError, "it is a folder")],
)
def test_bad_places_show_before_the_work(tmp_path, place, error, message):
    with pytest.raises(error, match=message), files.replacing(tmp_path / place):
        raise AssertionError("the work was begun")


def test_a_folder_that_is_not_writable():
    """The process file system takes no files, not even from root."""
    with pytest.raises(OSError, match=r"cannot write /proc/a\.txt"), files.replacing("/proc/a.txt"):
        raise AssertionError("the work was begun")

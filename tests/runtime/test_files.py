"""Files are whole or not there."""

import errno
import json
import os
import resource
import stat
import subprocess
import sys

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


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        OSError(
            "Can't write data (file write failed: errno = 28, error message = 'No space left on device')"
        ),
        RuntimeError("Unable to flush: No space left on device"),
    ],
)
def test_a_full_disk_names_the_file(error, tmp_path):
    path = tmp_path / "model.keras"
    with pytest.raises(FileError) as raised, files.replacing(path) as temporary:
        temporary.write_text("half")
        raise error
    assert str(raised.value) == f"cannot write {path}: No space left on device"
    assert os.listdir(tmp_path) == []
    folder = tmp_path / "bundle"
    with pytest.raises(FileError, match="No space"), files.replacing_folder(folder, "bundle.json"):
        raise error
    assert os.listdir(tmp_path) == []


def test_a_file_that_grows_too_large_names_itself(tmp_path):
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limit[1]))
    try:
        with pytest.raises(FileError, match=r"cannot write .*a\.json: File too large$"):
            files.write_json(tmp_path / "a.json", "x" * 5000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert os.listdir(tmp_path) == []


def test_errors_about_other_files_stay_what_they_are(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"), files.replacing(tmp_path / "a"):
        open(tmp_path / "nowhere").close()


def test_what_a_killed_process_left_of_a_folder_is_removed(tmp_path):
    command = [sys.executable, "-c", "import os; print(os.getpid())"]
    ended = subprocess.run(command, capture_output=True, text=True)
    left = tmp_path / f".bundle.{int(ended.stdout)}.part"
    (left / "new").mkdir(parents=True)
    (tmp_path / f".bundle.{os.getppid()}.part").mkdir()  # of a process that is at work
    with files.replacing_folder(tmp_path / "bundle", "bundle.json") as folder:
        (folder / "bundle.json").touch()
    assert sorted(os.listdir(tmp_path)) == [f".bundle.{os.getppid()}.part", "bundle"]

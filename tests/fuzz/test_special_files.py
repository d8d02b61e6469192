"""What is no ordinary file where a command expects one, and real processes that refuse."""

import os
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("simpy")

from export import simulate
from export.serving import access, manifest
from export.simulation import network
from tests.command_line.in_process import call
from tests.fuzz.checking import assert_answers
from tests.fuzz.strategies import BYTES

pytestmark = pytest.mark.once
READERS = {
    "simulate": lambda path: call(simulate, f"--served={path}", f"--output={path.parent}/out.json"),
    "manifest": manifest.read,
    "networks": network.read,
    "token": access.read_token,
}


def make(folder, kind):
    """The path of something of a kind."""
    path = folder / "given.json"
    if kind == "device":
        return pathlib.Path("/dev/zero")
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path, 0o600)
    elif kind == "loop":
        path.symlink_to(path)
    elif kind == "long name":
        return folder / ("x" * 300)
    elif kind == "below a file":
        path.touch()
        return path / "given.json"
    return path


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", ["missing", "device", "folder", "pipe", "loop", "long name", "below a file"])
def test_special_files(tmp_path, reader, kind):
    path = make(tmp_path, kind)
    if kind in ("device", "long name", "below a file") and reader == "simulate":
        options = [f"--served={path}", f"--output={tmp_path}/out.json"]
        assert assert_answers(lambda: call(simulate, *options), tmp_path, seconds=10)
    else:
        assert assert_answers(lambda: READERS[reader](path), tmp_path, seconds=10)


COMMANDS = {
    "simulate": ["export.simulate", "--served={path}", "--output={folder}/out.json"],
    "report": ["export.report", "--workdir={folder}", "--output={folder}/out.html"],
    "inspection": ["export.inspection", "{path}"],
    "data": ["training.data", "--data=folder", "--data_dir={folder}", "--verify"],
}


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("content", [BYTES[0], BYTES[6], BYTES[9]], ids=["empty", "encoding", "nested"])
def test_a_process_ends_with_status_1_and_one_line(tmp_path, command, content):
    path = tmp_path / "given.json"
    path.write_bytes(content)
    module, *options = (word.format(path=path, folder=tmp_path) for word in COMMANDS[command])
    done = subprocess.run(
        [sys.executable, "-m", module, *options], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
    assert os.listdir(tmp_path) == ["given.json"]

"""What is no ordinary file where a command expects one, and real processes that refuse."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("simpy")
pytest.importorskip("ai_edge_litert")

import hsvit_keras
from data_sets import cifar, idx, load_dataset, videos
from export import inspection, simulate
from export.serving import access, manifest
from export.simulation import network
from hsvit_keras.artifacts.opening import open_model
from tests import reference
from tests.command_line.in_process import call
from tests.fuzz.checking import assert_answers
from tests.fuzz.strategies import BYTES

pytestmark = pytest.mark.once
FIXTURE = reference.load("hsvit")
KINDS = (
    *("missing", "device", "folder", "pipe", "loop", "long name", "below a file", "empty"),
    "zero byte in its name",
)
# What reads a file of this suffix; an output would be written into the folder.
READERS = {
    "simulate.json": lambda path, folder: call(simulate, f"--served={path}", f"--output={folder}/out.json"),
    "manifest.json": lambda path, _: manifest.read(path),
    "networks.json": lambda path, _: network.read(path),
    "token.txt": lambda path, _: access.read_token(path),
    "inspection.tflite": lambda path, folder: call(inspection, str(path), f"--output={folder}/out.json"),
    "set.zip": lambda path, _: load_dataset("folder", "train", path),
    "images.idx": lambda path, _: idx.read(path, 3),
    "batches.tar.gz": lambda path, _: cifar._read_archive(path, "batches", ["a"]),
    "clip.mp4": lambda path, _: videos.read_clip(path, 2, 0.1),
    **{f"model{suffix}": lambda path, _: open_model(path) for suffix in (".keras", ".onnx", ".tflite")},
    **{
        f"weights{suffix}": lambda path, _: hsvit_keras.from_torch("hsvit", FIXTURE["config"], path)
        for suffix in (".npz", ".pt", ".safetensors", ".index.json")
    },
}


def make(folder, kind, suffix):
    """The path of something of a kind."""
    path = folder / f"given{suffix}"
    if kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path, 0o600)
    elif kind == "loop":
        path.symlink_to(path)
    elif kind == "long name":
        return folder / ("x" * 300 + suffix)
    elif kind == "below a file":
        path.touch()
        return path / path.name
    elif kind == "empty":
        path.touch()
    elif kind == "zero byte in its name":
        return folder / f"\0{suffix}"
    return path


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", KINDS)
def test_special_files(tmp_path, reader, kind):
    path = make(tmp_path, kind, "." + reader.partition(".")[2])
    assert assert_answers(lambda: READERS[reader](path, tmp_path), tmp_path, seconds=10)


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

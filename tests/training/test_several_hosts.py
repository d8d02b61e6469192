"""Several processes train as one does, each on its part of a batch; one that is lost ends all in one line."""

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

import numpy as np
import pytest

from data_sets.dataset import ImageDataset
from data_sets.pipeline import batches, rows_of_part
from hsvit_keras.tasks import task_named
from hsvit_runtime.errors import InputError
from training.fitting.augmentation import Augmentation
from training.fitting.hosts import ALONE, VARIABLES, Hosts, hosts_of, is_loss_of_a_host
from training.run_files.following import FollowedRun

pytestmark = pytest.mark.once

ROOT = pathlib.Path(__file__).parents[2]
EPOCHS = 3


# ---- parts of batches --------------------------------------------------------------------------------
def pictures(count=20):
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (count, 12, 12, 3), np.uint8)
    labels = (np.arange(count) % 5).astype(np.int32)
    return ImageDataset("some", "train", tuple("abcde"), (12, 12, 3), pixels, labels)


TABLES = {
    "none": None,
    "own": (
        ("RandomResizedCrop", {}),
        ("RandomFlip", {"mode": "horizontal"}),
        ("RandAugment", {}),
        ("MixUpOrCutMix", {}),
        ("RandomErasing", {"chance": 0.9}),
    ),
    "Keras": (("RandomTranslation", {"height_factor": 0.2, "width_factor": 0.2}), ("MixUp", {})),
}


@pytest.mark.parametrize("table", ["none", "own", pytest.param("Keras", marks=pytest.mark.exhaustive)])
def test_parts_are_those_of_whole_batches(table):
    augment = TABLES[table] and Augmentation(TABLES[table], task_named("classification"), 5)
    options = {
        "batch_size": 8,
        "image_shape": (10, 10, 3),
        "shuffle": True,
        "epochs": 2,
        "drop_remainder": True,
    }
    if augment:
        options |= {"augment": augment} | ({"crop": augment.crop} if augment.crop else {})
    whole = list(batches(pictures(), **options))
    parts = [list(batches(pictures(), part=(index, 4), **options)) for index in range(4)]
    assert len(whole) == 4
    for (images, labels), *given in zip(whole, *parts, strict=True):
        assert [len(part) for part, _ in given] == [2] * 4
        np.testing.assert_array_equal(np.concatenate([part for part, _ in given]), images)
        np.testing.assert_array_equal(np.concatenate([part for _, part in given]), labels)


def test_a_process_reads_its_part_and_what_is_mixed_with_it(monkeypatch):
    from data_sets import pipeline

    read = []
    resized_part = pipeline.resized_part
    monkeypatch.setattr(pipeline, "resized_part", lambda *args: read.append(args[1]) or resized_part(*args))
    options = {"batch_size": 8, "image_shape": (10, 10, 3), "shuffle": False, "drop_remainder": True}
    next(iter(batches(pictures(), part=(1, 4), **options)))
    assert read == [2, 3]
    mixing = Augmentation([("MixUpOrCutMix", {})], task_named("classification"), 5)
    for index, expected in ((1, [1, 2, 3]), (0, [0, 1, 7])):
        read.clear()
        next(iter(batches(pictures(), part=(index, 4), augment=mixing, **options)))
        assert read == expected
    everything = Augmentation([("MixUp", {})], task_named("classification"), 5)
    assert everything.reads(np.array([3]), 8).tolist() == list(range(8))


def test_a_batch_that_cannot_be_shared_is_named():
    assert rows_of_part((2, 3), 6).tolist() == [4, 5]
    with pytest.raises(InputError, match="3 processes cannot share a batch of 8 images evenly"):
        rows_of_part((0, 3), 8)


# ---- who they are ------------------------------------------------------------------------------------
def test_processes_are_named_by_flags_or_by_the_variables_of_keras(monkeypatch):
    assert hosts_of() is ALONE
    assert hosts_of("a:1", 2, 1) == Hosts("a:1", 2, 1)
    assert hosts_of("a:1,b:1", None, 0) == Hosts("a:1,b:1", 2, 0)
    for name, value in (("job_addresses", "c:2"), ("num_processes", "3"), ("process_id", "2")):
        monkeypatch.setenv(VARIABLES[name], value)
    assert hosts_of() == Hosts("c:2", 3, 2)
    assert hosts_of(index=0).is_first and hosts_of(index=0).name == "process 0 of 3"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            ("a:1", 2, None),
            "--process_id, or the environment variable KERAS_DISTRIBUTION_PROCESS_ID, is needed",
        ),
        ((None, 2, 1), "--job_addresses, or the environment variable KERAS_DISTRIBUTION_JOB_ADDRESSES"),
        (("a", 2, 1), "--job_addresses takes HOST:PORT; received 'a'"),
        (("a:1,b:1", 3, 1), "--job_addresses names 2 processes, and --num_processes says 3"),
        (("a:1", 2, 2), "--process_id has to be 0 to 1; received 2"),
        (("a:1", "two", 1), "--num_processes and --process_id are integers"),
    ],
)
def test_processes_that_cannot_be_are_named(given, message):
    with pytest.raises(InputError, match=message):
        hosts_of(*given)


def test_what_is_lost_is_told_from_what_is_wrong():
    assert is_loss_of_a_host(ValueError("UNKNOWN: Gloo AllGather failed: Connection closed by peer"))
    assert not is_loss_of_a_host(InputError("Connection closed by peer"))
    assert not is_loss_of_a_host(ValueError("shapes differ"))


def test_a_followed_run_writes_nothing(tmp_path):
    run, asked = FollowedRun(tmp_path / "run", b""), []
    run.start({}, None, task_named("classification").metric)
    for accuracy in (0.5, 0.7, 0.6):
        run.finish_epoch(None, {"val_loss": 1, "val_accuracy": accuracy}, lambda: asked.append(len(run.rows)))
    assert asked == [1, 2] and len(run.rows) == 3
    assert list(tmp_path.iterdir()) == []


# ---- a guarded process -------------------------------------------------------------------------------
GUARDED = """
import os, signal, sys
from command_line import commands, guarding
from hsvit_runtime.errors import InputError

def main(_):
    how = os.environ["HOW"]
    os.write(2, b"a native message\\n")
    if how != "not found":
        guarding.connected()
    if how in ("not found", "lost"):
        os._exit(134)
    if how == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "wrong":
        raise InputError("it is wrong")
    print("said")

commands.run(main, uses_keras=False, first=lambda: guarding.start("nobody is there", "somebody is gone"))
"""


@pytest.mark.parametrize(
    ("how", "status", "out", "line"),
    [
        ("well", 0, "said\n", ""),
        ("wrong", 1, "", "error: it is wrong\n"),
        ("not found", 1, "", "error: nobody is there\n"),
        ("lost", 1, "", "error: somebody is gone\n"),
        ("killed", 1, "", "error: this process was killed; start the command again to go on\n"),
    ],
)
def test_one_line_says_how_a_guarded_process_ended(how, status, out, line):
    done = subprocess.run(
        [sys.executable, "-c", GUARDED],
        cwd=ROOT,
        env={**os.environ, "HOW": how},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (status, out, line)


# ---- a training over loopback ------------------------------------------------------------------------
def start(workdir, *arguments):
    small = {"filters": "(8,)", "pool_strides": "(2,)", "attention_groups": 2, "depth": 1, "hidden_dim": 8}
    settings = {
        "epochs": EPOCHS, "batch_size": 200, "image_shape": "(8, 8, 1)", "warmup_epochs": 0,
        "augmentation": "(('RandAugment', {}), ('MixUpOrCutMix', {}))",
        **{f"model_arguments.{name}": value for name, value in {**small, "num_heads": 2}.items()},
    }  # fmt: skip
    return subprocess.Popen(
        [
            sys.executable, "-m", "training.train", "--config=training/configs/digits.py",
            f"--workdir={workdir}",
            *(f"--config.{name}={value}" for name, value in settings.items()), *arguments,
        ],
        cwd=ROOT,
        env={
            **os.environ,
            "KERAS_BACKEND": "jax",
            "JAX_DISABLE_MOST_OPTIMIZATIONS": "1",
            "PYTHONPATH": f"{ROOT / 'tests/training/no_tensorflow'}:{ROOT}",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip


def start_two(workdir, kind, *arguments):
    """Two processes; the second has no folder of the run."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    return [
        start(
            folder, f"--distribution={kind}", "--num_devices=1", f"--job_addresses={address}",
            "--num_processes=2", f"--process_id={index}", *arguments,
        )
        for index, folder in enumerate((workdir, workdir.with_name("nowhere")))
    ]  # fmt: skip


def ended(*processes):
    """(status, output, errors) of each."""
    return [
        (process.returncode, *said)
        for process, said in [(process, process.communicate(timeout=600)) for process in processes]
    ]


def rows_of(workdir):
    return [json.loads(line) for line in (workdir / "metrics.jsonl").read_text().splitlines()]


def check_same(workdir, expected):
    measured = ("loss", "accuracy", "val_loss", "val_accuracy")
    for row, other in zip(rows_of(workdir), expected, strict=True):
        assert [row[name] for name in measured] == pytest.approx([other[name] for name in measured], rel=1e-4)
    assert not workdir.with_name("nowhere").exists()


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    workdir = tmp_path_factory.mktemp("alone")
    ((status, _, errors),) = ended(start(workdir))
    assert status == 0, errors
    return rows_of(workdir)


@pytest.mark.exhaustive
def test_two_processes_end_when_one_is_killed_and_go_on_to_the_end_of_one(tmp_path, alone):
    workdir = tmp_path / "run"
    first, second = start_two(workdir, "data")
    deadline = time.monotonic() + 600
    while not (workdir / "last.keras").is_file():
        assert first.poll() is None and time.monotonic() < deadline, first.communicate()
        time.sleep(0.05)
    second.send_signal(signal.SIGKILL)
    killed = time.monotonic()
    (status, _, errors), _ = ended(first, second)
    assert time.monotonic() - killed < 30
    assert status == 1 and errors.count("\n") == 1
    assert errors.startswith(
        "error: process 0 of 2 lost the connection to another one, which ended or cannot"
    )
    done = len(rows_of(workdir))
    assert 1 <= done < EPOCHS
    (status, said, errors), (other_status, other_said, other_errors) = ended(*start_two(workdir, "data"))
    assert (status, errors, other_status, other_errors) == (0, "", 0, "")
    assert f"going on after epoch {done} of {EPOCHS}" in said and "2 devices, each sends" in said
    assert other_said == (
        "process 1 of 2: process 0 writes the run and says how it goes\nprocess 1 of 2: done\n"
    )
    check_same(workdir, alone)
    summary = json.loads((workdir / "summary.json").read_text())["distribution"]
    assert (summary["kind"], summary["num_devices"], summary["processes"]) == ("data", 2, 2)


@pytest.mark.exhaustive
def test_groups_on_two_processes_give_the_losses_of_one(tmp_path, alone):
    (status, _, errors), _ = ended(*start_two(tmp_path / "run", "groups"))
    assert status == 0, errors
    check_same(tmp_path / "run", alone)

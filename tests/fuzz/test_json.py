"""JSON files that others wrote: reports, manifests, runs."""

import hashlib
import json

import pytest
from hypothesis import strategies as st

pytest.importorskip("simpy")
pytest.importorskip("ai_edge_litert")

from export import report, simulate
from export.serving import manifest
from export.simulation import input_files, network
from tests.command_line.in_process import call
from tests.fuzz.checking import assert_answers, fuzzed
from tests.fuzz.strategies import BYTES, damaged, wrong_json
from tests.runtime.litert.builder import Builder

pytestmark = pytest.mark.once
_MS = {"latency_ms": [9.0, 8.0], "service_ms": [5.0, 4.0], "nodes_ms": [3.0, 2.0], "shards_ms": [1.0, 1.0]}
SERVED = {
    "num_nodes": 1,
    "deadline_ms": 50.0,
    "rows": [
        {
            "clients": 1,
            "latency_ms": {"p50": 8.5, "p90": 9.0},
            "per_second": 100.0,
            "complete": 1.0,
            "unanswered": 0.0,
            "samples": _MS,
        }
    ],
}
SHARDS = {
    "num_groups": 2,
    "image_bytes": 100,
    "group_bytes": 10,
    "rows": [{"shards": shards, "samples_ms": [1.0, 2.0]} for shards in (1, 2)],
}
SUBSETS = {
    "manifests": ["a/manifest.json"],
    "rows": [{"groups": groups, "accuracies": [{"mean": 0.5}]} for groups in (2, 1)],
}
NETWORKS = {"Wi-Fi": {"delay_ms": 1.5, "spread": 0.6, "up_mbit": 100, "down_mbit": 100}}


def texts(right):
    """JSON files that are damaged, say other things than they should, or are none."""
    return st.one_of(
        wrong_json(right), wrong_json(right), damaged(json.dumps(right).encode()), st.sampled_from(BYTES)
    )


@fuzzed(20, 200, content=texts(SERVED))
def test_served(folder, content):
    (folder / "served.json").write_bytes(content)
    options = [f"--served={folder}/served.json", "--images=3", f"--output={folder}/out.json"]
    assert_answers(lambda: call(simulate, *options), folder)


@fuzzed(20, 200, shards=texts(SHARDS), subsets=texts(SUBSETS), which=st.booleans())
def test_shards_and_subsets(folder, shards, subsets, which):
    one, other = folder / "shards.json", folder / "subsets.json"
    one.write_bytes(shards if which else json.dumps(SHARDS).encode())
    other.write_bytes(subsets if not which else json.dumps(SUBSETS).encode())
    assert_answers(lambda: input_files.read_shards_and_subsets(one, other), folder)


@fuzzed(15, 200, content=texts(NETWORKS))
def test_networks(folder, content):
    (folder / "networks.json").write_bytes(content)
    assert_answers(lambda: network.read(folder / "networks.json"), folder)


def _shards():
    """The content of files by name: two shards of a group each, a head, and their manifest."""
    part = Builder()
    image, token = part.tensor((1, 8, 8, 1)), part.tensor((1, 1, 64))
    part.op("RESHAPE", [image, part.constant([1, 1, 64], "int32")], [token])
    head = Builder()
    mean, logits = head.tensor((1, 1, 64)), head.tensor((1, 64))
    head.op("RESHAPE", [mean, head.constant([1, 64], "int32")], [logits])
    made = {"shard.tflite": part.content([image], [token]), "head.tflite": head.content([mean], [logits])}

    def entry(name):
        return {"file": name, "sha256": hashlib.sha256(made[name]).hexdigest()}

    content = {
        "manifest_version": manifest.VERSION,
        "model": "tiny",
        "preset": "float32",
        "class_names": None,
        "data_set": None,
        "num_groups": 2,
        "dim": 64,
        "input": {"shape": [1, 8, 8, 1], "range": [0, 255]},
        "shards": [{**entry("shard.tflite"), "groups": [group]} for group in range(2)],
        "head": entry("head.tflite"),
    }
    return made, content


_FILES, MANIFEST = _shards()


@fuzzed(20, 200, content=texts(MANIFEST))
def test_manifest(folder, content):
    for name, its in _FILES.items():
        (folder / name).write_bytes(its)
    (folder / "manifest.json").write_bytes(content)
    assert_answers(lambda: manifest.read(folder / "manifest.json"), folder)


def test_what_is_damaged_here_is_right_before(tmp_path):
    """Else the tests above would see refusals of something else."""
    for name, its in _FILES.items():
        (tmp_path / name).write_bytes(its)
    for name, its in {"manifest": MANIFEST, "served": SERVED, "shards": SHARDS, "subsets": SUBSETS}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(its))
    assert manifest.read(tmp_path / "manifest.json").groups == ((0,), (1,))
    assert input_files.read_served(tmp_path / "served.json") == SERVED
    input_files.read_shards_and_subsets(tmp_path / "shards.json", tmp_path / "subsets.json")


RUN = {
    "config.json": {"model": "hsvit_tiny", "data": "digits", "epochs": 2, "seed": 0},
    "summary.json": {"best_epoch": 1, "accuracy": 0.9, "test": {"accuracy": 0.9}, "seconds": 3.0},
    "M.json": {
        "artifact": "M.tflite",
        "sha256": "0" * 64,
        "preset": "float32",
        "bytes": 1000,
        "parity": {"samples": 3, "max_abs_diff": 1e-6, "cosine": 1.0, "top1_agreement": 1.0},
        "ops": {"CONV_2D": 3},
    },
}
METRICS = [{"epoch": epoch, "loss": 1.0, "val_loss": 1.0, "accuracy": 0.5} for epoch in range(2)]


@fuzzed(0, 10, name=st.sampled_from([*RUN, "metrics.jsonl"]), data=st.data())
def test_report(folder, name, data):
    files = {each: json.dumps(content).encode() for each, content in RUN.items()}
    files["metrics.jsonl"] = b"\n".join(json.dumps(row).encode() for row in METRICS)
    files[name] = data.draw(texts(RUN[name]) if name in RUN else damaged(files[name]))
    (folder / "run").mkdir()
    for each, content in files.items():
        (folder / "run" / each).write_bytes(content)
    assert_answers(lambda: call(report, f"--workdir={folder}/run", f"--output={folder}/page.html"), folder)

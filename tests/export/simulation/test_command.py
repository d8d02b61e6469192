"""`python -m export.simulate`: a sweep of known numbers, predictions, figures and bad input."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest
from absl import flags
from PIL import Image

from export import simulate
from export.simulation import input_files, network, prediction, sweep
from hsvit_runtime.errors import InputError, MissingPackageError
from tests.command_line.in_process import call

pytestmark = pytest.mark.once
SHARDS = {
    "num_groups": 4,
    "image_bytes": 1000,
    "group_bytes": 100,
    "rows": [{"shards": 1, "samples_ms": [4.0]}, {"shards": 2, "samples_ms": [2.0]}],
}
ACCURACIES = {4: 0.9, 3: 0.8, 2: 0.6, 1: 0.4}
SUBSETS = {
    "manifests": ["plain/manifest.json"],
    "rows": [{"groups": groups, "accuracies": [{"mean": mean}]} for groups, mean in ACCURACIES.items()],
}
INSTANT = network.Network(0.0, 0.0, np.inf, np.inf)


def simulated(deadlines, losses=(0.0,), images=50):
    steps = []
    rows = sweep.sweep(
        SHARDS, [ACCURACIES], {"instant": INSTANT}, list(losses), deadlines, per_second=1e-6, slowness=2.0,
        images=images, seed=0, progress=lambda *step: steps.append(step),
    )  # fmt: skip
    assert steps == [(number, len(rows)) for number in range(1, len(rows) + 1)]
    return rows


def test_sweep():
    rows = simulated([5.0, 10.0])
    found = [(row["nodes"], row["deadline_ms"], row["p50"], row["complete"]) for row in rows]
    # Twice as slow: 8 ms on one node, 4 on two.
    assert found == [(1, 5.0, 5.0, 0.0), (1, 10.0, 8.0, 1.0), (2, 5.0, 4.0, 1.0), (2, 10.0, 4.0, 1.0)]
    assert [row["unanswered"] for row in rows] == [1.0, 0.0, 0.0, 0.0]
    assert [row["accuracies"] for row in rows] == [[0.0], [0.9], [0.9], [0.9]]
    assert [row["groups"] for row in rows] == [0.0, 4.0, 4.0, 4.0]


def test_accuracy_is_that_of_the_groups_that_arrive():
    (one, two) = simulated([50.0], losses=[0.5], images=4000)
    arrives = 0.5**2  # there and back
    assert one["accuracies"][0] == pytest.approx(0.9 * arrives, abs=0.02)
    expected = 0.9 * arrives**2 + 0.6 * 2 * arrives * (1 - arrives)
    assert two["accuracies"][0] == pytest.approx(expected, abs=0.02)


def served(num_nodes, clients, samples):
    row = {"clients": clients, "latency_ms": {"p50": 1.0, "p90": 2.0}, "per_second": 3.0, "complete": 1.0}
    return {"num_nodes": num_nodes, "deadline_ms": 100.0, "rows": [{**row, "samples": samples}]}


def test_predictions():
    samples = {"latency": 10.0, "service": 5.0, "nodes": 3.0, "shards": 1.0}
    samples = {f"{part}_ms": [time] * 3 for part, time in samples.items()}
    one, two, busy = prediction.predict(
        [served(1, 1, samples), served(2, 1, {}), served(1, 3, {})], images=60
    )
    assert one["calibration"] and not two["calibration"]
    assert one["predicted"] == pytest.approx({"p50": 10.0, "p90": 10.0, "per_second": 100.0, "complete": 1.0})
    # 5 ms of HTTP, 2 of the service's own, two calls of 2 ms, and the last node's half of the shards.
    assert two["predicted"]["p50"] == pytest.approx(11.5)
    # HTTP takes 5 ms of each image, and the service, which takes less, keeps pace.
    assert busy["predicted"]["p50"] == pytest.approx(3 * 5.0, abs=0.1)
    assert busy["predicted"]["per_second"] == pytest.approx(1e3 / 5, rel=0.05)
    assert busy["measured"] == {"p50": 1.0, "p90": 2.0, "per_second": 3.0, "complete": 1.0}


def test_table_of_predictions():
    samples = {f"{part}_ms": [time] for part, time in (("latency", 10.0), ("service", 5.0), ("nodes", 3.0))}
    (row,) = prediction.predict([served(1, 1, {**samples, "shards_ms": [1.0]})], images=10)
    titles, line = (re.split(r"\s{2,}", text) for text in prediction.table([row]).splitlines())
    assert titles == ["nodes", "clients", "p50 ms", "p90 ms", "per second", "all groups"]
    cells = ["1", "1", "1.0 (10.0)", "2.0 (10.0)", "3.0 (100.0)", "100% (100%)", "calibrated on"]
    assert [cell for cell in line if cell] == cells


@pytest.fixture
def files(tmp_path):
    (tmp_path / "shards.json").write_text(json.dumps(SHARDS))
    (tmp_path / "subsets.json").write_text(json.dumps(SUBSETS))
    return [f"--shards={tmp_path / 'shards.json'}", f"--subsets={tmp_path / 'subsets.json'}"]


def test_the_command_writes_numbers_and_figures(files, tmp_path):
    output = tmp_path / "out" / "simulation.json"
    command = [sys.executable, "-m", "export.simulate", *files, "--images=20", f"--output={output}"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    rows = json.loads(output.read_text())["rows"]
    assert len(rows) == 3 * 2 * 4 * 3
    assert {row["network"] for row in rows} == {"ethernet", "wifi", "5g"}
    assert len(done.stdout.splitlines()) == 1 + len(rows) + 1
    for name in ("latency", "accuracy"):
        with Image.open(output.with_name(f"simulation_{name}.png")) as figure:
            assert min(figure.size) > 300


def test_bad_input(files, tmp_path):
    output = f"--output={tmp_path / 'o.json'}"
    with pytest.raises(InputError, match=r"^needs --shards and --subsets to simulate, or --served to check"):
        call(simulate, output)
    with pytest.raises(flags.Error, match=r"--loss=1: 1.0 is not a number in the range \[0, 0.999\]"):
        call(simulate, *files, "--loss=1", output)
    with pytest.raises(flags.Error, match=r"--deadline_ms=0: 0.0 is not a number in the range \[0.001,"):
        call(simulate, *files, "--deadline_ms=0", output)
    (tmp_path / "networks.json").write_text('{"wifi": {"one_way_ms": -1}}')
    with pytest.raises(InputError, match=r"networks\.json is no table of networks: wifi is wrong: "):
        call(simulate, *files, f"--networks={tmp_path / 'networks.json'}", output)


def test_without_simpy(files, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "simpy", None)
    with pytest.raises(MissingPackageError, match=r"^simulating needs SimPy: pip install 'hsvit-keras\[hor"):
        call(simulate, *files, f"--output={tmp_path / 'o.json'}")


def test_files_that_do_not_belong_together(files, tmp_path):
    output = f"--output={tmp_path / 'o.json'}"
    (tmp_path / "shards.json").write_text(json.dumps({**SHARDS, "num_groups": 8}))
    with pytest.raises(
        InputError, match=r"is about 4 groups, .* about 8: both have to be of models with the"
    ):
        call(simulate, *files, output)
    (tmp_path / "shards.json").write_text("[]")
    with pytest.raises(
        InputError, match=r"is no report of export\.shards: the whole is wrong: .* not of type 'object'"
    ):
        call(simulate, *files, output)
    (tmp_path / "served.json").write_text(
        json.dumps({"num_nodes": 1, "deadline_ms": 50, "rows": [{"clients": 1}]})
    )
    with pytest.raises(
        InputError, match=r"served\.json is no report of export\.serve --bench: rows\[0\] is wrong"
    ):
        call(simulate, f"--served={tmp_path / 'served.json'}", output)
    with pytest.raises(InputError, match="a run with --num_nodes=1 and one client is needed"):
        prediction.predict([served(2, 1, {})])


def test_labels_of_models():
    assert input_files.labels_of(["plain/manifest.json"]) == [""]
    assert input_files.labels_of(["a/4/m.json", "b/4/m.json"]) == [", a", ", b"]
    assert input_files.labels_of(["m.json", "b/m.json"]) == [", m.json", ", b/m.json"]

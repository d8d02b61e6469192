"""`python -m export.simulate`: what a sweep says of known numbers, predictions, pictures and bad input."""

import json
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from export.simulation import network, prediction, sweep

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
    told = [(row["nodes"], row["deadline_ms"], row["p50"], row["complete"]) for row in rows]
    # Twice as slow: 8 ms on one node, 4 on two.
    assert told == [(1, 5.0, 5.0, 0.0), (1, 10.0, 8.0, 1.0), (2, 5.0, 4.0, 1.0), (2, 10.0, 4.0, 1.0)]
    assert [row["unanswered"] for row in rows] == [1.0, 0.0, 0.0, 0.0]
    assert [row["accuracies"] for row in rows] == [[0.0], [0.9], [0.9], [0.9]]
    assert [row["groups"] for row in rows] == [0.0, 4.0, 4.0, 4.0]


def test_accuracy_is_that_of_the_groups_that_answer():
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


def run(*options):
    command = [sys.executable, "-m", "export.simulate", *map(str, options)]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def files(tmp_path):
    (tmp_path / "shards.json").write_text(json.dumps(SHARDS))
    (tmp_path / "subsets.json").write_text(json.dumps(SUBSETS))
    return [f"--shards={tmp_path / 'shards.json'}", f"--subsets={tmp_path / 'subsets.json'}"]


def test_the_command_writes_numbers_and_pictures(files, tmp_path):
    output = tmp_path / "out" / "simulation.json"
    status, shown, errors = run(*files, "--images=20", f"--output={output}")
    assert (status, errors) == (0, "")
    rows = json.loads(output.read_text())["rows"]
    assert len(rows) == 3 * 2 * 4 * 3
    assert {row["network"] for row in rows} == {"ethernet", "wifi", "5g"}
    assert len(shown.splitlines()) == 1 + len(rows) + 1
    for name in ("latency", "accuracy"):
        with Image.open(output.with_name(f"simulation_{name}.png")) as picture:
            assert min(picture.size) > 300


def test_bad_input(files, tmp_path):
    needs = "error: needs --shards and --subsets to simulate, or --served to check the simulator\n"
    assert run(f"--output={tmp_path / 'o.json'}") == (1, "", needs)
    problem = run(*files, "--loss=1", f"--output={tmp_path / 'o.json'}")
    assert problem == (1, "", "error: --loss takes shares from 0 to below 1; received 1\n")
    (tmp_path / "networks.json").write_text('{"wifi": {"one_way_ms": -1}}')
    status, _, errors = run(*files, f"--networks={tmp_path / 'networks.json'}", f"--output={tmp_path / 'o'}")
    assert (
        status == 1 and "networks.json has to map names to objects with the numbers ['one_way_ms'" in errors
    )


def test_without_simpy(files, tmp_path):
    code = (
        "import sys; sys.modules['simpy'] = None; from export import simulate; "
        "simulate.define_flags(); simulate.commands.run(simulate.main, uses_keras=False)"
    )
    options = [*files, f"--output={tmp_path / 'o.json'}"]
    done = subprocess.run([sys.executable, "-c", code, *options], capture_output=True, text=True)
    message = "error: simulating needs SimPy: pip install 'hsvit-keras[horizontal]'\n"
    assert (done.returncode, done.stderr) == (1, message)


def test_files_that_do_not_belong_together(files, tmp_path):
    (tmp_path / "shards.json").write_text(json.dumps({**SHARDS, "num_groups": 8}))
    status, _, errors = run(*files, f"--output={tmp_path / 'o.json'}")
    assert (
        status == 1 and "is about 4 groups" in errors and "about 8: both have to be of models alike" in errors
    )
    (tmp_path / "shards.json").write_text("[]")
    status, _, errors = run(*files, f"--output={tmp_path / 'o.json'}")
    assert status == 1 and "a JSON object with 'num_groups' and 'rows'" in errors
    with pytest.raises(ValueError, match="a measured run has no samples"):
        prediction.predict([{"num_nodes": 1, "rows": [{"clients": 1}]}])
    with pytest.raises(ValueError, match="a run with --num_nodes=1 and one client is needed"):
        prediction.predict([served(2, 1, {})])

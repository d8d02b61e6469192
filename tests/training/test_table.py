"""A table trains what is left, goes on after a kill, shares its runs, and tells what was measured."""

import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import time

import keras
import numpy as np
import pytest

from hsvit_keras.tasks import task_named
from hsvit_runtime.errors import InputError
from measuring.finished_runs import finished_runs
from tests.command_line.in_process import call
from tests.data_sets.making import write_class_folder
from tests.training.breaking import broken_off
from training import table
from training.configs import digits
from training.recipes.settings import settings_of
from training.run_files.claiming import claim
from training.tables import hvt_table1
from training.tabulating import estimating, paper, running
from training.tabulating.paper import Row, Table
from training.tabulating.plan import choose_rows, config_of, plan
from training.tabulating.results import in_the_form_of, results
from training.tabulating.results import table as text_of
from training.tabulating.sources import Source, sources_of

pytestmark = pytest.mark.once

ROOT = pathlib.Path(__file__).parents[2]
SMALL = {
    "filters": (8,), "pool_strides": (2,), "attention_groups": 2, "depth": 1, "hidden_dim": 8, "num_heads": 2,
}  # fmt: skip


def recipe():
    config = digits.get_config()
    config.image_shape, config.augmentation, config.batch_size, config.epochs = (8, 8, 1), (), 200, 2
    return config


TINY = Table(
    title="A tiny table",
    paper="none",
    recipes={"digits": recipe},
    rows=(
        Row("Small", "hsvit_tiny", SMALL, {"digits": (91.0, 99.5)}, "0.1 M", "2 + 1", "0.50 G"),
        Row("Missing", accuracy={"digits": 50.0}, why_not="the model is not in the package"),
        Row("Deeper", "hsvit_tiny", {**SMALL, "depth": 2}),
    ),
)
DIGITS = Source("digits", "digits", None)


def cells_of(workdir, seeds=(0, 1), **settings):
    return plan(TINY, TINY.rows, [DIGITS], seeds, settings, workdir)


def runs_of(cells):
    return [run for cell in cells for run in cell.runs]


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr(paper, "load_table", lambda name: TINY)


def write_run(run, accuracy, top5, part="train, 10 %, seed 0"):
    """A finished run without a training."""
    run.path.mkdir(parents=True)
    (run.path / "best.keras").touch()
    (run.path / "last.keras").touch()
    (run.path / "config.json").write_text(json.dumps(run.values))
    summary = {
        "parameters": 54_522, "layers": {"convolutions": 2, "attentions": 1}, "multiply_adds": 6_400_000,
        "epochs": 2, "images_seen": 2400, "seconds": 3.0, "best": {"epoch": 2}, "validation": {"part": part},
        "test": {"accuracy": accuracy} | ({} if top5 is None else {"top5_accuracy": top5}),
    }  # fmt: skip
    (run.path / "summary.json").write_text(json.dumps(summary))


# ---- what was measured -------------------------------------------------------------------------------
def test_results_are_the_mean_and_the_spread_of_the_runs(tmp_path):
    cells = cells_of(tmp_path, seeds=(0, 1, 2))
    for run, accuracy in zip(cells[0].runs, (0.90, 0.92, 0.97), strict=True):
        write_run(run, accuracy, 0.99)
    small, missing, deeper = results(cells, tmp_path)
    assert small["measured"]["top1"] == {
        "mean": 93.0, "spread": round(statistics.stdev((90, 92, 97)), 4), "values": [90.0, 92.0, 97.0],
    }  # fmt: skip
    assert small["measured"]["top5"]["mean"] == 99.0 and small["measured"]["top5"]["spread"] == 0.0
    assert [run["seed"] for run in small["measured"]["runs"]] == [0, 1, 2]
    assert small["paper"]["top1"] == 91.0 and small["paper"]["top5"] == 99.5 and small["note"] == ""
    assert missing["measured"] is None and missing["note"] == "the model is not in the package"
    assert deeper["measured"] is None and deeper["note"] == "not run: seed 0, 1, 2"
    assert small["measured"]["epoch_chosen_on"] == ["validation (train, 10 %, seed 0)"]


def test_the_table_as_text_leaves_empty_what_was_not_run(tmp_path):
    cells = cells_of(tmp_path)
    write_run(cells[0].runs[0], 0.9, None, part="test")
    found = results(cells, tmp_path)
    title, small, missing, deeper = text_of(found).splitlines()
    assert small.split()[:5] == ["Small", "digits", "1", "91.00", "90.00"]
    assert "0.1 M" in small and "2 + 1" in small and "0.01 G" in small and "2,400" in small
    assert small.endswith("not run: seed 1")
    assert missing.split(maxsplit=3) == ["Missing", "digits", "50.00", "the model is not in the package"]
    assert deeper.split(maxsplit=2) == ["Deeper", "digits", "not run: seed 0, 1"]
    assert "top-5 %, paper" in title and not title.endswith("top-5 %")
    assert found[0]["measured"]["epoch_chosen_on"] == ["the test part, as the papers do"]


@pytest.mark.parametrize(
    ("printed", "count", "shown"),
    [
        ("11.3 M", 11_276_232, "11.3 M"),
        ("29 M", 28_589_128, "29 M"),
        ("530,442", 530_442, "530,442"),
        ("1.25 G", 1_166_600_000, "1.17 G"),
        (None, 54_522, "0.05 M"),
        ("4 + 2", {"convolutions": 4, "attentions": 2}, "4 + 2"),
        ("4 + 2", None, ""),
    ],
)
def test_counts_are_shown_as_the_paper_prints_them(printed, count, shown):
    assert in_the_form_of(printed, count) == shown


def test_runs_are_read_without_the_table(tmp_path):
    cells = cells_of(tmp_path)
    write_run(cells[0].runs[1], 0.9, 0.99)
    (tmp_path / "table.json").touch()
    (tmp_path / "begun-digits-0").mkdir()
    ((name, run),) = finished_runs(tmp_path).items()
    assert name == "small-digits-1" and run.model == tmp_path / name / "best.keras"
    assert run.config["seed"] == 1 and run.summary["test"]["accuracy"] == 0.9
    (tmp_path / name / "summary.json").write_text("{")
    with pytest.raises(InputError, match=r"summary\.json is no JSON: "):
        finished_runs(tmp_path)
    with pytest.raises(InputError, match="is not a folder: give one that holds the folders of runs"):
        finished_runs(tmp_path / "nowhere")


def test_top5_is_how_often_the_right_class_is_among_five():
    rng = np.random.default_rng(0)
    logits, labels = rng.normal(size=(200, 10)).astype("float32"), rng.integers(10, size=200)
    *_, metric = task_named("classification").test_metrics(10)
    metric.update_state(np.eye(10, dtype="float32")[labels], logits)
    expected = np.mean([label in np.argsort(row)[-5:] for row, label in zip(logits, labels, strict=True)])
    assert metric.name == "top5_accuracy" and float(metric.result()) == pytest.approx(expected, abs=1e-6)
    assert len(task_named("classification").test_metrics(5)) == 1
    assert len(task_named("segmentation").test_metrics(11)) == 1


# ---- what would run ----------------------------------------------------------------------------------
def test_a_dry_run_counts_what_is_left_and_runs_nothing(tmp_path, tiny, monkeypatch, capsys):
    cells = cells_of(tmp_path)
    write_run(cells[0].runs[0], 0.9, 0.99)
    monkeypatch.setattr(estimating, "_images_a_second", lambda values, multiply_adds: 10.0)
    before = sorted(tmp_path.rglob("*"))
    output = tmp_path.parent / "estimate.json"
    call(table, "--table=tiny", f"--workdir={tmp_path}", "--seeds=0,1", "--dry_run", f"--output={output}")
    assert sorted(tmp_path.rglob("*")) == before
    small, missing, deeper = json.loads(output.read_text())["rows"]
    # 1,298 images to train on in batches of 200, in two epochs; of the first row one run is left.
    assert (small["images"], small["seconds"], small["state"]) == (2400, 240, "2, of which 1 finished")
    assert (deeper["images"], deeper["seconds"], deeper["state"]) == (4800, 480, "2")
    assert deeper["multiply_adds"] > small["multiply_adds"] > 0
    assert (missing["images"], missing["state"]) == (None, "the model is not in the package")
    assert "about 12.0 min of training in one process" in capsys.readouterr().out


@pytest.mark.slow
def test_the_speed_is_measured_on_the_rows_own_model():
    (cell, *_) = cells_of(pathlib.Path("nowhere"))
    assert 10 < estimating._images_a_second(cell.runs[0].values, 1_000_000) < 1e6


def test_durations():
    shown = [estimating.duration(seconds) for seconds in (5, 119, 120, 7200, 200_000)]
    assert shown == ["5 s", "119 s", "2.0 min", "2.0 h", "2.3 d"]


# ---- training ----------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    workdir = tmp_path_factory.mktemp("unbroken")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paper, "load_table", lambda name: TINY)
        call(table, "--table=tiny", f"--workdir={workdir}", "--seeds=0,1")
    return workdir


@pytest.mark.slow
def test_a_table_trains_its_rows_and_writes_what_came_out(unbroken):
    report = json.loads((unbroken / "table.json").read_text())
    assert (unbroken / "table.png").read_bytes().startswith(b"\x89PNG")
    small, missing, deeper = report["rows"]
    assert missing["measured"] is None
    for row in (small, deeper):
        assert len(row["measured"]["runs"]) == 2 and row["measured"]["images_seen"] == 2 * 6 * 200
        assert 0 < row["measured"]["top1"]["mean"] < row["measured"]["top5"]["mean"] <= 100
        assert row["measured"]["layers"]["attentions"] == (1 if row is small else 2)
    names = {"small-digits-0", "small-digits-1", "deeper-digits-0", "deeper-digits-1"}
    assert set(finished_runs(unbroken)) == names
    for run in finished_runs(unbroken).values():
        model = keras.models.load_model(run.model)
        assert model.count_params() == run.summary["parameters"] + run.summary["non_trainable_parameters"]


@pytest.mark.exhaustive
def test_a_table_that_was_killed_ends_with_the_same_numbers(tmp_path, unbroken, tiny, capsys):
    with broken_off():
        call(table, "--table=tiny", f"--workdir={tmp_path}", "--seeds=0,1")
    assert not list(tmp_path.glob("*/summary.json"))
    call(table, "--table=tiny", f"--workdir={tmp_path}", "--seeds=0,1")
    assert "going on after epoch 1 of 2" in capsys.readouterr().out
    ours, theirs = (
        json.loads((folder / "table.json").read_text())["rows"] for folder in (tmp_path, unbroken)
    )
    for one, other in zip(ours, theirs, strict=True):
        for row in (one, other):
            (row["measured"] or {}).pop("seconds", None)
        assert one == other
    call(table, "--table=tiny", f"--workdir={tmp_path}", "--seeds=0,1")
    assert "run 1 of" not in capsys.readouterr().out  # nothing is trained again


@pytest.mark.slow
def test_rows_and_data_of_ones_own(tmp_path, tiny):
    for part in ("train", "test"):
        for name in ("cat", "dog"):
            write_class_folder(tmp_path / "pets" / part / name, 20)
    call(
        table, "--table=tiny", f"--workdir={tmp_path / 'runs'}", f"--data={tmp_path / 'pets'}",
        "--rows=deeper", "--epochs=1", "--setting=batch_size=8", "--setting=num_workers=0",
        "--setting=image_shape=(8,8,3)", "--setting=validation=test",
    )  # fmt: skip
    report = json.loads((tmp_path / "runs" / "table.json").read_text())
    ((row,), (note,)) = report["rows"], report["notes"]
    assert row["data"] == "pets" and row["paper"]["top1"] is None and row["measured"]["top5"] is None
    assert report["epoch_chosen_on"] == ["the test part, as the papers do"]
    assert note == "pets is not in the paper: pixels and augmentation are its own"


def test_a_folder_of_ones_own_is_trained_at_the_size_of_its_images(tmp_path):
    write_class_folder(tmp_path / "pets" / "train" / "cat", 3)
    pets = Source("pets", "folder", str(tmp_path / "pets"))
    # Images of 8 x 8 are trained at the least side.
    assert config_of(TINY, TINY.rows[0], pets, {})["image_shape"] == [32, 32, 1]
    larger = config_of(TINY, Row("Cut", "hsvit_tiny", SMALL, least_size=48), pets, {})
    assert larger["image_shape"] == [48, 48, 1]


COMMAND = (
    "--table=hsvit_table4", "--data=digits", "--rows=hsvit_c2a2_both", "--seeds=0,1", "--epochs=2",
    "--setting=batch_size=400", "--setting=image_shape=(16,16,1)", "--setting=augmentation=()",
)  # fmt: skip


@pytest.mark.slow
def test_processes_share_the_runs_and_one_takes_up_what_a_killed_one_leaves(tmp_path):
    command = [sys.executable, "-m", "training.table", *COMMAND, f"--workdir={tmp_path}", "--processes=2"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    begun = [tmp_path / f"hsvit_c2a2_both-digits-{seed}" / "metrics.jsonl" for seed in (0, 1)]
    deadline = time.monotonic() + 300
    while not all(path.is_file() and path.read_text() for path in begun):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.1)
    os.kill(workers_of(process.pid)[0], signal.SIGKILL)
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 0, said
    assert "1| run" in said and "2| run" in said
    assert len(finished_runs(tmp_path)) == 2
    assert "error" not in said
    (row,) = json.loads((tmp_path / "table.json").read_text())["rows"]
    assert [run["seed"] for run in row["measured"]["runs"]] == [0, 1] and row["note"] == ""


def workers_of(pid):
    found = subprocess.run(["ps", "-e", "-o", "pid=,ppid="], capture_output=True, text=True).stdout
    return sorted(
        one for one, parent in (map(int, line.split()) for line in found.splitlines()) if parent == pid
    )


def test_a_run_belongs_to_one_process_until_it_ends(tmp_path):
    code = "import pathlib, sys, time; from training.run_files.claiming import claim\n"
    code += "held = claim(pathlib.Path(sys.argv[1])); print('held', flush=True); time.sleep(100)"
    path = tmp_path / "lock"
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(path)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout.readline() == "held\n"
    assert claim(path) is None
    holder.kill()
    holder.communicate()
    with claim(path):
        assert claim(path) is None
    claim(path).close()


def test_a_claimed_run_is_left_alone(tmp_path, monkeypatch):
    trained = []
    monkeypatch.setattr(running, "_fit", lambda run: (trained.append(run.name), write_run_in(run)))
    runs = runs_of(cells_of(tmp_path))
    runs[1].path.mkdir()
    with claim(runs[1].path / "lock"):
        running.work(runs)
    assert trained == [runs[0].name, runs[2].name, runs[3].name]
    running.work(runs)
    assert trained[3:] == [runs[1].name]


def write_run_in(run):
    for name in ("summary.json", "last.keras"):
        (run.path / name).write_text("{}")


def test_a_failure_is_noted_and_not_tried_again_with_the_same_settings(tmp_path, monkeypatch):
    def fail(*_):
        raise InputError("loss became nan in epoch 1")

    monkeypatch.setattr("training.fitting.run.train", fail)
    cells = cells_of(tmp_path, seeds=(0,))
    running.work(runs_of(cells))
    assert results(cells, tmp_path)[0]["note"] == "seed 0 failed: loss became nan in epoch 1"
    monkeypatch.setattr(running, "_fit", None)
    running.work(runs_of(cells))
    (other, *_) = runs_of(cells_of(tmp_path, seeds=(0,), learning_rate=1e-4))
    assert running.failure(other) is None


def test_runs_of_another_config_are_refused_before_any_is_trained(tmp_path, tiny):
    (run, *_) = runs_of(cells_of(tmp_path))
    write_run(run, 0.9, 0.99)
    with pytest.raises(
        InputError, match="small-digits-0 holds a run with another config: epochs was 2 and is 5"
    ):
        call(table, "--table=tiny", f"--workdir={tmp_path}", "--epochs=5")


# ---- bad input ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--data=digit"], "--data: 'digit' is neither a data set nor a folder; did you mean 'digits'"),
        (["--data=cifar10"], "--data: CIFAR-10 was not found because no data_dir was given"),
        (["--data=digits,digits"], "--data names digits more than once"),
        (
            ["--data=digits_segmentation"],
            "the table is for classification, and digits_segmentation is for segm",
        ),
        (["--rows=smal"], "--rows: A tiny table has no row 'smal'; did you mean 'small'"),
        (["--seeds=1,1"], "--seeds takes different integers; received 1,1"),
        (["--setting=epoch=1"], "--setting: a recipe has no setting 'epoch'; did you mean 'epochs'"),
        (["--setting=epochs"], "--setting takes a name and a value, as in batch_size=64; received 'epochs'"),
        (["--setting=epochs=many"], "--setting=epochs='many' cannot be used"),
        (["--setting=seed=1"], "--setting=seed: name seeds by --seeds"),
        (["--setting=batch_size=0"], "config.batch_size has to be an integer from 1 to"),
        (["--output=nowhere/table.json"], "cannot write nowhere/table.json: there is no folder nowhere"),
    ],
)
def test_bad_input_is_named(flags, message, tmp_path, tiny):
    with pytest.raises(InputError, match=message):
        call(table, "--table=tiny", f"--workdir={tmp_path / 'runs'}", *flags)
    assert not list(tmp_path.iterdir())


def test_a_table_is_listed_and_needs_a_workdir(capsys):
    call(table)
    assert "hsvit_table3: HSViT, Table 3, on cifar10, cifar100" in capsys.readouterr().out
    with pytest.raises(InputError, match="--workdir is needed"):
        call(table, "--table=hsvit_table3")


def test_folders_of_data_sets(tmp_path, monkeypatch):
    """One folder for each set, or all in one; a set that comes as class folders by its name."""
    (tmp_path / "cifar10").mkdir()
    monkeypatch.setattr(Source, "missing", "")
    found = sources_of(paper.load_table("dhvt_table10"), ["cifar10", "cifar100", "clipart"], str(tmp_path))
    folders = [str(tmp_path / "cifar10"), str(tmp_path), str(tmp_path / "clipart")]
    assert [source.folder for source in found] == folders
    assert [source.data for source in found] == ["cifar10", "cifar100", "folder"]


def test_settings_are_numbers_lists_or_text():
    texts = ["batch_size=64", "learning_rate=1e-3", "dtype=mixed_bfloat16", "image_shape=(8,8,1)"]
    assert settings_of(texts) == {
        "batch_size": 64, "learning_rate": 1e-3, "dtype": "mixed_bfloat16", "image_shape": (8, 8, 1),
    }  # fmt: skip


def test_rows_by_name_key_or_model():
    both = [TINY.rows[0], TINY.rows[2]]
    assert choose_rows(TINY, ["hsvit_tiny"]) == both == choose_rows(TINY, ["Deeper", "small"])
    assert choose_rows(TINY) == list(TINY.rows)


def test_stochastic_depth_of_a_recipe_is_that_of_each_row():
    table = hvt_table1.get_table()
    values = config_of(table, table.rows[0], DIGITS, {})
    assert (values["model"], values["model_arguments"]) == ("deit_tiny", {"stochastic_depth_rate": 0.1})


def test_settings_of_a_row_win_over_the_recipe_and_the_users_over_both():
    row = Row("Own", "hsvit_tiny", SMALL, training={"epochs": 5}, training_on={"digits": {"batch_size": 7}})
    values = config_of(TINY, row, DIGITS, {"epochs": 9})
    assert (values["epochs"], values["batch_size"]) == (9, 7)
    assert config_of(TINY, row, DIGITS, {})["epochs"] == 5

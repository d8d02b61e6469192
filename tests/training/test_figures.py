"""A figure trains what it needs, measures it, and draws what its files hold."""

import dataclasses
import json

import numpy as np
import pytest

import hsvit_keras
from command_line import plots
from hsvit_runtime.errors import InputError
from tests.command_line.in_process import call
from tests.training.test_table import DIGITS, TINY, write_run
from training import figures
from training.paper_figures import hsvit_stems
from training.tabulating.paper import Table
from training.tabulating.plan import choose_rows, config_of, plan
from training.tabulating.results import count_of, results
from training.visualizing import curves, paper_figure
from training.visualizing.paper_figure import PaperFigure, Trained

pytestmark = pytest.mark.once

FIGURES = {name: paper_figure.load_figure(name) for name in paper_figure.list_figures()}


@pytest.mark.parametrize("name", FIGURES)
def test_every_row_can_be_planned_on_a_data_set_of_ones_own(name):
    table = FIGURES[name].table
    assert table.title and table.paper and (table.recipes or not table.rows)
    for row in table.rows:
        config = config_of(table, row, DIGITS, {})
        arguments = json.loads(json.dumps(row.arguments))  # a config has lists
        assert config["data"] == "digits" and config["model_arguments"].items() >= arguments.items()


def test_titles_tell_the_figures_apart():
    titles = [figure.table.title for figure in FIGURES.values()]
    assert len(set(titles)) == len(titles)


def test_a_figure_that_is_not_there_is_named():
    with pytest.raises(InputError, match=r"--figure: there is no figure 'hsvit_figure55'; .*hsvit_figure5"):
        paper_figure.load_figure("hsvit_figure55")


def test_all_are_listed(capsys):
    call(figures)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(FIGURES)
    assert "hsvit_figure5: HSViT, Figure 5, 25 models on cifar10" in lines


# ---- HSViT -------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "axes"),
    [
        ("hsvit_figure5", {"kernels": (16, 32, 64, 128, 256), "groups": (0, 1, 2, 4, 8)}),
        ("hsvit_figure6", {"share": (16, 32, 64, 128), "groups": (1, 2, 4, 8)}),
        ("hsvit_figure7", {"kernels": (16, 32, 64, 128, 256), "groups": (1, 2), "depth": (1, 2)}),
        ("hsvit_figure8", {"kernels": (16, 32, 64, 128, 256), "stages": (1, 2), "depth": (1, 2)}),
    ],
)
def test_sensitivity_has_a_model_for_each_combination(name, axes):
    found = {axis: set() for axis in axes}
    rows = FIGURES[name].table.rows
    for row in rows:
        kernels, groups = row.arguments["filters"][-1], row.arguments["attention_groups"]
        values = {"kernels": kernels, "groups": groups, "depth": row.arguments["depth"]}
        values |= {"stages": len(row.arguments["filters"]), "share": kernels // max(groups, 1)}
        for axis in axes:
            found[axis].add(values[axis])
        assert row.arguments["filters"] in ((kernels,), (kernels // 2, kernels))
    assert found == {axis: set(values) for axis, values in axes.items()}
    assert len(rows) == np.prod([len(values) for values in axes.values()])


def test_figures_share_the_runs_of_equal_models():
    """One folder of runs serves all four: what has one name is one model."""
    named = {}
    for name in ("hsvit_figure5", "hsvit_figure6", "hsvit_figure7", "hsvit_figure8"):
        for row in FIGURES[name].table.rows:
            assert named.setdefault(row.key, row.arguments) == row.arguments


def test_rows_are_chosen_by_patterns():
    chosen = choose_rows(FIGURES["hsvit_figure5"].table, ["*_k16_*", "c1a1_k64_g2"])
    assert [row.key for row in chosen if "k16" not in row.key] == ["c1a1_k64_g2"] and len(chosen) == 6
    with pytest.raises(InputError, match=r"--rows: .* has no row '\*_k17_\*'"):
        choose_rows(FIGURES["hsvit_figure5"].table, ["*_k17_*"])


def test_figure2_shows_the_papers_points_beside_those_measured_here():
    figure = FIGURES["hsvit_figure2"]
    printed = figure.measure(None)["paper"]
    assert {"row": "HSViT-C3A4", "parameters": 2_300_000, "top1": 56.73} in printed and len(printed) == 18
    rows = [
        _row("HSViT-C2A2", {}, 90.0, parameters=812_000),
        _row("HSViT-C3A4", {}, 95.0, parameters=2_240_000),
        {**_row("ViT-B", {}, 0.0), "measured": None},
    ]
    paper, here = figure.draw({"paper": printed, "rows": rows}).axes
    assert _lines(here) == {"HSViT": ([0.812, 2.24], [90, 95])}
    assert _lines(paper)["MobileNetV2"] == ([2.5, 4.7], [48.07, 54.12])


@pytest.mark.exhaustive
def test_nodes_of_a_stem_answer_as_the_model_with_their_groups(tmp_path, monkeypatch):
    table = dataclasses.replace(FIGURES["hsvit_stems"].table, image_size=16)
    (cell,) = plan(table, choose_rows(table, ["tiny_shared"]), [DIGITS], [0], {}, tmp_path)
    write_run(cell.runs[0], 0.9, 0.99)
    model = hsvit_keras.create_model("hsvit_tiny", input_shape=(16, 16, 1), mean=0.3, std=0.3)
    model.save(cell.runs[0].path / "best.keras")
    monkeypatch.setattr(hsvit_stems, "_IMAGES", 100)
    trained = Trained([cell], [DIGITS], [], tmp_path)
    (found,) = hsvit_stems._measure(trained)["nodes"]
    images, labels = trained.images(*trained.runs()[0], 100)
    for kept, accuracy in (
        ([0, 1, 2, 3], found["all"]),
        ([0, 1, 3], found["without_a_node"][2]),
        ([3], found["alone"][3]),
    ):
        answers = np.asarray(hsvit_keras.slim(model, groups=kept)(images)).argmax(-1)
        assert accuracy == pytest.approx(100 * np.mean(answers == labels), abs=1.01)  # one image


def test_stems_are_drawn_in_the_order_of_their_rows():
    one = {"row": "Tiny shared", "data": "digits", "multiply_adds_of_a_node": 2_000_000}
    one |= {"all": 99.0, "without_a_node": [98.0, 97.0, 96.0, 95.0], "alone": [50.0, 60.0, 40.0, 30.0]}
    other = {**one, "row": "Tiny split", "multiply_adds_of_a_node": 500_000, "all": 96.0}
    accuracy, cost = FIGURES["hsvit_stems"].draw({"nodes": [one, other]}).axes
    drawn = _lines(accuracy)
    assert drawn["all nodes"] == ([99, 96], [0, 1])
    assert drawn["one of four alone"] == (2 * one["alone"], 4 * [0] + 4 * [1])
    assert [label.get_text() for label in accuracy.get_yticklabels()] == ["Tiny shared", "Tiny split"]
    assert [bar.get_width() for bar in cost.patches] == [2, 0.5]


# ---- curves ------------------------------------------------------------------------------------------
def _row(name, arguments, mean, spread=None, parameters=1, data="digits"):
    top1 = {"mean": mean, "spread": spread}
    return {
        "row": name, "data": data, "model": "hsvit_tiny", "arguments": arguments,
        "measured": {"top1": top1, "parameters": parameters},
    }  # fmt: skip


def _lines(axes):
    """Label to (x, y) of the lines of a panel that have points."""
    return {
        line.get_label(): (list(line.get_xdata()), list(line.get_ydata()))
        for line in axes.lines
        if len(line.get_xdata()) and not line.get_label().startswith("_")
    }


def test_a_curve_has_the_accuracies_of_its_rows_in_the_order_of_x():
    rows = [
        _row("b", {"width": 32, "depth": 1}, 91.0, 0.5),
        _row("a", {"width": 16, "depth": 1}, 88.0),
        _row("c", {"width": 16, "depth": 2}, 93.0),
        {**_row("d", {"width": 32, "depth": 2}, 0.0), "measured": None},
        _row("a", {"width": 16, "depth": 1}, 70.0, data="fashion_mnist"),
    ]
    with plots.style():
        figure = curves.lines(
            {"rows": rows},
            x=lambda arguments: arguments["width"],
            line=lambda arguments: f"depth {arguments['depth']}",
            x_label="width",
            log_x=True,
        )
    digits, clothes = figure.axes
    assert _lines(digits) == {"depth 1": ([16, 32], [88, 91]), "depth 2": ([16], [93])}
    assert _lines(clothes) == {"depth 1": ([16], [70])}
    assert [label.get_text() for label in digits.get_xticklabels()] == ["16", "32"]
    assert [axes.get_title("left") for axes in figure.axes] == ["digits", "fashion_mnist"]
    assert (digits.get_xlabel(), digits.get_ylabel()) == ("width", "top-1 in %")


@pytest.mark.parametrize(
    ("printed", "count"), [("11.3 M", 11_300_000), ("530,442", 530_442), ("1.25 G", 1_250_000_000)]
)
def test_a_printed_count_is_a_number(printed, count):
    assert count_of(printed) == count


# ---- the command -------------------------------------------------------------------------------------
def test_the_command_measures_what_is_trained_and_writes_all_that_it_draws(tmp_path, monkeypatch, capsys):
    seen = {}

    def measure(trained):
        ((cell, run),) = trained.runs()
        (run.path / "metrics.jsonl").write_text('{"epoch": 1, "val_accuracy": 0.5}\n')
        images, labels = trained.images(cell, run, 20)
        seen["labels"] = sorted(labels)
        return {"model": run.model.name, "epochs": trained.epochs(run), "pictures": images}

    def draw(numbers):
        seen["numbers"] = numbers
        return plots.new_figure()

    table = dataclasses.replace(TINY, rows=TINY.rows[:2])
    monkeypatch.setattr(paper_figure, "load_figure", lambda name: PaperFigure(table, draw, measure))
    write_run(plan(table, table.rows, [DIGITS], [0], {}, tmp_path)[0].runs[0], 0.9, 0.99)
    call(figures, "--figure=tiny", f"--workdir={tmp_path}")
    told = json.loads((tmp_path / "tiny.json").read_text())
    assert told["figure"] == "A tiny table" and told["model"] == "best.keras"
    assert told["epochs"] == [{"epoch": 1, "val_accuracy": 0.5}]
    assert [row["row"] for row in told["rows"]] == ["Small", "Missing"]
    assert told["rows"][0]["measured"]["top1"]["mean"] == 90.0
    with np.load(tmp_path / "tiny.npz") as arrays:
        assert arrays["pictures"].shape == (20, 8, 8, 1) and arrays["pictures"].max() > 200
        np.testing.assert_array_equal(arrays["pictures"], seen["numbers"]["pictures"])
    assert seen["labels"] == sorted(2 * list(range(10)))
    assert (tmp_path / "tiny.png").read_bytes().startswith(b"\x89PNG")
    assert "91.00" in capsys.readouterr().out  # the paper's


def test_without_a_finished_run_there_is_nothing_to_measure(tmp_path):
    cells = plan(TINY, TINY.rows, [DIGITS], [0], {}, tmp_path)
    with pytest.raises(InputError, match=r"no run in .* has finished, so there is nothing to draw"):
        Trained(cells, [DIGITS], results(cells, tmp_path), tmp_path).runs()


def test_a_figure_of_costs_needs_no_training(tmp_path, monkeypatch):
    costs = PaperFigure(
        Table("Costs", "none", {}, ()),
        lambda numbers: plots.new_figure(),
        lambda trained: {"seconds": [1, 2]},
    )
    monkeypatch.setattr(paper_figure, "load_figure", lambda name: costs)
    call(figures, "--figure=costs", f"--workdir={tmp_path / 'new'}")
    assert json.loads((tmp_path / "new" / "costs.json").read_text())["seconds"] == [1, 2]

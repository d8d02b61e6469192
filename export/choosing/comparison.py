"""Measures the artifacts of several models in one run, judges them, and finds the fronts."""

import itertools
import pathlib

from command_line.tables import table as text_table
from export.benchmarking import comparing
from export.benchmarking.table import ratio_text
from export.choosing import answer, costs, judging
from export.choosing.front import front, told_apart
from export.page.words import device_name
from hsvit_runtime import files
from hsvit_runtime.errors import InputError
from hsvit_runtime.measure import Measure
from measuring import latency_statistics

COSTS = {"latency": "p50_ms", "instructions": "instructions", "size": "bytes"}  # their keys in a row


def compare(artifacts, workdir, *, core="cortex-a76", **measuring):
    """Measures artifacts in turn, counts their instructions, judges them, and writes what was found.

    Args:
        artifacts: list of `artifacts.Artifact`.
        workdir: path of the folder of `benchmark.json`, in the form of `benchmark.schema.json`,
            `arm_cost.json`, as `export.arm_cost` writes it, and `comparison.json`.
        core: str, the core whose instructions are counted.
        **measuring: arguments of `comparing.run`.

    Returns:
        (comparison, benchmark, cost): three dicts, those of the files; `cost` is None where instructions
        were not counted. The comparison has the `task`, the `data`, the `device`, the `threads`, the `core`;
        `rows`, one for each artifact with the `standard_error` of its metric; `fronts`, for each of `COSTS` a
        list of files, the least costly first; `worth`, those of the front of latencies that measurements tell
        apart; `steps`, the ratio of latencies from each file of that front to the next; `refused`; and
        `answer`, lines of text.

    Raises:
        InputError: fewer than two artifacts could be made, or one cannot be measured.
    """
    workdir = pathlib.Path(workdir)
    made = [artifact for artifact in artifacts if artifact.report is not None]
    refused = [
        {"model": artifact.model.name, "preset": artifact.preset, "reason": artifact.refusal}
        for artifact in artifacts
        if artifact.report is None
    ]
    if len(made) < 2:
        reasons = "; ".join(f"{one['model']}, {one['preset']}: {one['reason']}" for one in refused)
        raise InputError(f"there are not two artifacts to compare{': ' + reasons if reasons else ''}")
    paths = [artifact.path for artifact in made]
    measured = comparing.run(paths, **measuring)
    benchmark = measured.report
    files.write_json(workdir / "benchmark.json", benchmark)
    cost = costs.counted(paths, core, workdir / "arm_cost.json")
    rows = _rows(made, measured, cost)
    comparison = {
        "task": benchmark["task"],
        "data": benchmark["settings"]["data"],
        "device": device_name(benchmark),
        "threads": benchmark["settings"]["threads"],
        "core": cost and cost["core"],
        "rows": rows,
        **_fronts(rows, measured),
        "refused": refused,
    }
    comparison["answer"] = answer.lines(comparison)
    files.write_json(workdir / "comparison.json", comparison)
    return comparison, benchmark, cost


def _rows(made, measured, cost):
    """The facts of each artifact, the fastest first."""
    metric = measured.task.metric.name
    ratios = {pair["mobile"]: pair["ratio"] for pair in measured.report["pairs"]}
    instructions = {model["name"]: model["instructions"] for model in cost["models"]} if cost else {}
    rows = [
        {
            "file": artifact.path.name,
            "model": artifact.model.name,
            "preset": artifact.preset,
            "parameters": artifact.model.parameters,
            "bytes": artifact.report["bytes"],
            "p50_ms": model["latency_ms"]["p50"],
            "ratio": ratios.get(model["name"]),
            "instructions": instructions.get(model["name"]),
            metric: model["metrics"][metric],
            "standard_error": judging.standard_error(measured.task, outputs, measured.labels),
        }
        for artifact, model, outputs in zip(made, measured.report["models"], measured.outputs, strict=True)
    ]
    return sorted(rows, key=lambda row: row["p50_ms"])


def _fronts(rows, measured):
    metric = measured.task.metric
    by_file = {row["file"]: row for row in rows}
    values = {file: row[metric.name] for file, row in by_file.items()}
    fronts = {
        name: front({file: (row[key], values[file]) for file, row in by_file.items()}, metric)
        for name, key in COSTS.items()
        if all(row[key] is not None for row in rows)
    }
    blocks = {model["name"]: model["blocks_ms"] for model in measured.report["models"]}

    def ratio(file, other):
        return latency_statistics.ratio_of_medians(blocks[other], blocks[file])

    def is_better(file, other):
        return (
            answer.differ(by_file[file], by_file[other], metric)
            and metric.best([values[file], values[other]]) == 0
        )

    worth = told_apart(fronts["latency"], is_better, lambda file, other: ratio(file, other)["low"] > 1)
    steps = [
        {"file": file, "from": before, "ratio": ratio(file, before)}
        for before, file in itertools.pairwise(fronts["latency"])
    ]
    return {"fronts": fronts, "worth": worth, "steps": steps}


def table(comparison):
    """A line for each artifact, the fastest first, as text."""
    metric = Measure(**comparison["task"]["metric"])
    columns = ["model", "preset", "p50 ms", "ratio [low, high]", "M instructions", "kB", metric.title.lower()]
    rows = [
        [
            row["model"],
            row["preset"],
            f"{row['p50_ms']:.3f}",
            ratio_text(row["ratio"]) if row["ratio"] else "1",
            None if row["instructions"] is None else f"{row['instructions'] / 1e6:.2f}",
            f"{row['bytes'] / 1e3:.1f}",
            metric.format(row[metric.name]),
            ", ".join(fronts_of(row, comparison)) or None,
        ]
        for row in comparison["rows"]
    ]
    return text_table([*columns, "on the front of"], rows)


def fronts_of(row, comparison):
    """The costs on whose front an artifact lies: list of str."""
    return [cost for cost, front_of_it in comparison["fronts"].items() if row["file"] in front_of_it]

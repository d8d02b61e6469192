"""What came out of the runs of a table, beside what the paper prints."""

import re
import statistics

from command_line import tables
from hsvit_keras.tasks.classification import TOP_METRIC, Classification
from hsvit_keras.tasks.detection import Detection
from measuring.finished_runs import finished_runs
from training.tabulating.running import epochs_done, failure

ACCURACIES = {"top1": Classification.metric.name, "top5": TOP_METRIC, "ap": Detection.metric.name}
TITLES = {"top1": "top-1", "top5": "top-5", "ap": "AP"}
_COUNTS = ("parameters", "layers", "multiply_adds")
_UNITS = {"": 1, "M": 1e6, "G": 1e9}


def results(cells, workdir):
    """The rows of a table with what was measured.

    Args:
        cells: list of `Cell`.
        workdir: path of the folder of runs.

    Returns:
        list of dicts, one a cell: `row`, `data`, `model`, `arguments`; `paper`, the figures that it prints,
        accuracies in percent; `measured`, the same of the finished runs, or None where there is none;
        `note`, why the row is empty or not complete.
    """
    finished = finished_runs(workdir) if workdir.is_dir() else {}
    return [_result(cell, finished) for cell in cells]


def table(found):
    """The results as text: what nobody prints or measured is left out, what was not run is empty."""
    columns = {
        "model": [one["row"] for one in found],
        "data": [one["data"] for one in found],
        "runs": [str(len(one["measured"]["runs"])) if one["measured"] else "" for one in found],
    }
    for key, title in TITLES.items():
        columns[f"{title} %, paper"] = [_percent(one["paper"][key]) for one in found]
        columns[f"{title} %"] = [_spread(one["measured"] and one["measured"][key]) for one in found]
    for key, title in zip(_COUNTS, ("parameters", "layers", "MACs"), strict=True):
        columns[f"{title}, paper"] = [one["paper"][key] or "" for one in found]
        columns[title] = [
            in_the_form_of(one["paper"][key], one["measured"] and one["measured"][key]) for one in found
        ]
    for key, title in (("epochs", "epochs"), ("images_seen", "images seen")):
        columns[title] = [f"{one['measured'][key]:,}" if one["measured"] else "" for one in found]
    columns["note"] = [one["note"] for one in found]
    shown = {title: cells for title, cells in columns.items() if any(cells)}
    return tables.table(list(shown), list(zip(*shown.values(), strict=True)))


def chosen_on(found):
    """Which part chose the epochs of the measured rows: list of str, mostly of one."""
    return sorted({part for one in found if one["measured"] for part in one["measured"]["epoch_chosen_on"]})


def in_the_form_of(printed, count):
    """A count in the form in which the paper prints it.

    Args:
        printed: str such as "11.3 M", or None where the paper prints nothing.
        count: int, the dict of `count_layers`, or None.
    """
    if count is None:
        return ""
    if isinstance(count, dict):
        return f"{count['convolutions']} + {count['attentions']}"
    decimals, unit = re.fullmatch(r"[\d,]+(?:\.(\d+))?\s*([MG]?)", printed or "0.00 M").groups()
    return f"{count / _UNITS[unit]:,.{len(decimals or '')}f} {unit}".strip()


def _result(cell, finished):
    row, done = cell.row, [finished[run.name] for run in cell.runs if run.name in finished]
    top1, top5 = row.printed(cell.source.label)
    counts = {key: getattr(row, key) for key in _COUNTS}
    return {
        "row": row.name,
        "data": cell.source.label,
        "model": row.model,
        "arguments": row.arguments,
        "paper": {
            "top1": top1,
            "top5": top5,
            "ap": row.average_precision.get(cell.source.label),
            **counts,
            "others": row.others,
        },
        "measured": _measured(done) if done else None,
        "note": cell.why_not or _unfinished(cell.runs, finished),
    }


def _measured(runs):
    summaries = [run.summary for run in runs]
    first = summaries[0]
    return {
        **{
            key: _statistics([one["test"].get(name) for one in summaries]) for key, name in ACCURACIES.items()
        },
        "parameters": first["parameters"],
        "layers": first["layers"],
        "multiply_adds": first["multiply_adds"],
        "epochs": first["epochs"],
        "images_seen": first["images_seen"],
        "seconds": round(statistics.mean(one["seconds"] for one in summaries), 1),
        "epoch_chosen_on": sorted({_part(one["validation"]["part"]) for one in summaries}),
        "runs": [
            {"name": run.path.name, "seed": run.config["seed"], "best_epoch": run.summary["best"]["epoch"]}
            for run in runs
        ],
    }


def _statistics(shares):
    """Mean and standard deviation in percent; None where a run has not measured it."""
    if None in shares:
        return None
    values = [100 * share for share in shares]
    spread = statistics.stdev(values) if len(values) > 1 else None
    return {
        "mean": round(statistics.mean(values), 4),
        "spread": spread if spread is None else round(spread, 4),
        "values": [round(value, 4) for value in values],
    }


def _part(part):
    return "the test part, as the papers do" if part == "test" else f"validation ({part})"


def _unfinished(runs, finished):
    """What is missing of the runs, in words."""
    missing = [run for run in runs if run.name not in finished]
    failures = [f"seed {run.seed} failed: {failure(run)}" for run in missing if failure(run)]
    waiting = [run for run in missing if not failure(run)]
    if not waiting:
        return "; ".join(failures)
    begun = [f"seed {run.seed} after epoch {epochs_done(run)}" for run in waiting if epochs_done(run)]
    untouched = [str(run.seed) for run in waiting if not epochs_done(run)]
    return "; ".join(failures + begun + ([f"not run: seed {', '.join(untouched)}"] if untouched else []))


def _percent(value):
    return "" if value is None else f"{value:.2f}"


def _spread(found):
    if not found:
        return ""
    return f"{found['mean']:.2f}" + ("" if found["spread"] is None else f" ± {found['spread']:.2f}")

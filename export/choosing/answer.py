"""The answer in words: the front from fastest to best, and only what the measurement can tell."""

import math

from export.benchmarking.table import ratio_text
from hsvit_runtime.measure import Measure


def lines(comparison):
    """What a comparison says, for people.

    Args:
        comparison: dict of `comparison.compare`, without its `answer`.

    Returns:
        list of str.
    """
    return [
        _measured(comparison),
        *_steps(comparison),
        *_other_fronts(comparison),
    ]


def name_of(row):
    """What an artifact is called."""
    return f"{row['model']} {row['preset']}"


def metric_name(metric):
    """A metric's title within a sentence."""
    return metric.title[0].lower() + metric.title[1:]


def differ(row, other, metric):
    """Whether the metrics of two artifacts differ by more than the larger one of their standard errors.

    One sample, where all others are right, is just that error.
    """
    gap = abs(row[metric.name] - other[metric.name])
    error = max(row["standard_error"], other["standard_error"])
    return gap > error and not math.isclose(gap, error, rel_tol=0.01)


def difference(metric, value):
    """A difference or an error of a metric as text."""
    return f"{100 * value:.2g} points" if metric.is_share else f"{value:.2g}"


def _measured(comparison):
    data, metric = comparison["data"], Measure(**comparison["task"]["metric"])
    threads = comparison["threads"]
    errors = [row["standard_error"] for row in comparison["rows"]]
    return (
        f"Measured on {comparison['device']}, {threads} thread{'s' if threads > 1 else ''}; "
        f"{metric_name(metric)} on {data['samples']:,} samples of {data['name']}, {data['split']} part. Its "
        f"standard error is {difference(metric, min(errors))} to {difference(metric, max(errors))}: two that "
        "differ by less are called equal."
    )


def _steps(comparison):
    """A sentence for each member of the front of latencies, the fastest first."""
    metric = Measure(**comparison["task"]["metric"])
    rows = {row["file"]: row for row in comparison["rows"]}
    fastest = comparison["fronts"]["latency"][0]
    yield f"{_facts(rows[fastest], metric)}; the fastest{_reach(fastest, comparison, rows, metric)}."
    for step in comparison["steps"]:
        row, before = rows[step["file"]], rows[step["from"]]
        against = f"{_latency(step['ratio'], before)}, {_quality(row, before, metric)}"
        yield f"{_facts(row, metric)}; {against}{_reach(row['file'], comparison, rows, metric)}."


def _facts(row, metric):
    return f"{name_of(row)}: {row['p50_ms']:.3g} ms, {metric_name(metric)} {metric.format(row[metric.name])}"


def _latency(ratio, before):
    if ratio["low"] <= 1:
        return f"not measurably slower than {name_of(before)}, {ratio_text(ratio)}"
    return f"{ratio_text(ratio)} times the latency of {name_of(before)}"


def _quality(row, before, metric):
    if not differ(row, before, metric):
        return f"{metric_name(metric)} equal"
    return (
        f"{metric_name(metric)} better by {difference(metric, abs(row[metric.name] - before[metric.name]))}"
    )


def _reach(file, comparison, rows, metric):
    """Up to which latency nothing is better; nothing to say of those that measurements do not tell apart."""
    worth = comparison["worth"]
    if file not in worth:
        return ""
    costlier = worth[worth.index(file) + 1 :]
    below = f" below {rows[costlier[0]]['p50_ms']:.3g} ms" if costlier else ""
    return f"; nothing{below} has a measurably better {metric_name(metric)}"


def _other_fronts(comparison):
    rows = {row["file"]: row for row in comparison["rows"]}
    titles = {"instructions": f"By instructions on {comparison['core']}", "size": "By size"}
    for cost, title in titles.items():
        if cost in comparison["fronts"]:
            names = ", ".join(name_of(rows[file]) for file in comparison["fronts"][cost])
            yield f"{title}, the front is, from least to best: {names}."

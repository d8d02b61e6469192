"""The answer in words: the front from fastest to best, and only what the measurement can tell."""

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


def interval(ratio):
    """A ratio with its interval, if it has one."""
    known = ratio["low"] is not None
    return f"{ratio['value']:.2f}" + (f" [{ratio['low']:.2f}, {ratio['high']:.2f}]" if known else "")


def metric_name(metric):
    """A metric's title within a sentence."""
    return metric.title[0].lower() + metric.title[1:]


def difference(metric, value):
    """A difference or an error of a metric as text."""
    return f"{100 * value:.2g} points" if metric.is_share else f"{value:.2g}"


def _measured(comparison):
    data, metric = comparison["data"], Measure(**comparison["task"]["metric"])
    threads = comparison["threads"]
    return (
        f"Measured on {comparison['device']}, {threads} thread{'s' if threads > 1 else ''}; "
        f"{metric_name(metric)} on {data['samples']:,} samples of {data['name']}, {data['split']} part. Its "
        f"standard error there is up to {difference(metric, comparison['standard_error'])}: what differs by "
        "less is called equal."
    )


def _steps(comparison):
    """A sentence for each member of the front of latencies, the fastest first."""
    metric = Measure(**comparison["task"]["metric"])
    rows = {row["file"]: row for row in comparison["rows"]}
    ratios = {step["file"]: step["ratio"] for step in comparison["steps"]}
    files, worth = comparison["fronts"]["latency"], comparison["worth"]
    for before, file in zip([None, *files], files, strict=False):
        row = rows[file]
        text = f"{name_of(row)}: {row['p50_ms']:.3g} ms, {metric_name(metric)} {metric.format(row[metric.name])}"
        if before is None:
            text += "; the fastest"
        else:
            text += f"; {_against(rows[before], row, ratios[file], metric, comparison['standard_error'])}"
        yield text + _range(file, worth, rows, metric) + "."


def _against(before, row, ratio, metric, error):
    """How a member of the front differs from the next faster one."""
    gain = abs(row[metric.name] - before[metric.name])
    slower = "as fast as" if ratio["low"] <= 1 else "times the latency of"
    slower = f"{slower} {name_of(before)}"
    latency = f"{slower} ({interval(ratio)})" if ratio["low"] <= 1 else f"{interval(ratio)} {slower}"
    if gain <= error:
        return f"{latency}, {metric_name(metric)} equal"
    return f"{latency}, {metric_name(metric)} better by {difference(metric, gain)}"


def _range(file, worth, rows, metric):
    """From which latency to which an artifact is the one to take."""
    if file not in worth:
        return ""
    following = worth[worth.index(file) + 1 :]
    best = f"the best {metric_name(metric)}"
    if not following:
        return f"; {best} of all"
    return f"; {best} below {rows[following[0]]['p50_ms']:.3g} ms"


def _other_fronts(comparison):
    rows = {row["file"]: row for row in comparison["rows"]}
    titles = {"instructions": f"By instructions on {comparison['core']}", "size": "By size"}
    for cost, title in titles.items():
        if cost in comparison["fronts"]:
            names = ", ".join(name_of(rows[file]) for file in comparison["fronts"][cost])
            yield f"{title}, the front is, from least to best: {names}."

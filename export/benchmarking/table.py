"""The main numbers of a benchmark report as text."""

from command_line.tables import table as text_table
from hsvit_runtime.measure import Measure


def table(report):
    """One line a model, and the report's warnings below."""
    metric, agreement = (_measure(report["task"][key]) for key in ("metric", "agreement"))
    pairs = {pair["mobile"]: pair for pair in report["pairs"]}
    columns = ["artifact", "size KB", "p50 ms", "p90 ms", "ratio [low, high]"]
    columns += [measure.title.lower() for measure in (agreement, metric) if measure] or ["cosine"]
    rows = []
    for model in report["models"]:
        pair = pairs.get(model["name"])
        found = (pair and pair["agreement"]) or {}
        measured = [agreement.format(found.get(agreement.name))] if agreement else []
        measured += [metric.format(model["metrics"].get(metric.name))] if metric else []
        rows.append(
            [
                model["name"],
                _number(model["bytes"] and model["bytes"] / 1000, ".0f"),
                _number(model["latency_ms"]["p50"], ".3f"),
                _number(model["latency_ms"]["p90"], ".3f"),
                ratio_text(pair["ratio"]) if pair else "original",
                *(measured or [_number(found.get("cosine"), ".6f")]),
            ]
        )
    return "\n".join([text_table(columns, rows), *warnings(report)])


def warnings(report):
    """A line for each of the report's warnings."""
    for entry in report["warnings"]:
        about = f"{entry['model']}: " if entry["model"] else ""
        yield f"warning: {about}{entry['message']}"


def _measure(content):
    return None if content is None else Measure(**content)


def _number(value, form):
    return "-" if value is None else format(value, form)


def ratio_text(ratio):
    """A ratio of a benchmark report with its interval."""
    interval = "[no interval]" if ratio["low"] is None else f"[{ratio['low']:.3f}, {ratio['high']:.3f}]"
    return f"{ratio['value']:.3f} {interval}"

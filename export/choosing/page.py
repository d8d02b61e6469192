"""The page of a comparison: the answer, the fronts, and what they rest on."""

from command_line import plots as style
from export.choosing import answer
from export.choosing.comparison import COSTS, fronts_of
from export.page import (
    artifacts_section,
    building,
    cost_section,
    formats,
    latency_section,
    plots,
    report_page,
    summary_section,
)
from export.page.words import device_name

_AXES = {
    "latency": ("median latency, ms", 1),
    "instructions": ("million instructions", 1e6),
    "size": ("size, kB", 1e3),
}


def write(output, comparison, benchmark, cost, reports):
    """Writes the page and its figures beside it, and prints where.

    Args:
        output: path of the HTML file.
        comparison, benchmark, cost: dicts of `comparison.compare`.
        reports: list of the converters' reports of the artifacts.
    """
    building.save(output, *build(comparison, benchmark, cost, reports))


def build(comparison, benchmark, cost, reports):
    """Makes the page.

    Args:
        comparison, benchmark, cost, reports: see `write`.

    Returns:
        (html, images): str, and a dict from a figure's name to the bytes of its PNG.
    """
    metric = formats.measure_of(comparison["task"], "metric")
    data = comparison["data"]
    with building.figures() as (figure, images):
        sections = [
            report_page.section(
                "In short",
                *summary_section.alarms([benchmark]),
                *map(report_page.paragraph, comparison["answer"]),
                *summary_section.warnings_in_short(benchmark["warnings"]),
            ),
            report_page.section("Fronts", report_page.figures(_fronts(comparison, metric, figure))),
            _artifacts(comparison, metric, benchmark["models"][0]["name"]),
            artifacts_section.section([{**report, "name": report["artifact"]} for report in reports]),
            report_page.section(
                f"Measured on {device_name(benchmark)}",
                *latency_section.details(benchmark),
            ),
            *([cost_section.section(cost)] if cost else []),
        ]
    models = len({row["model"] for row in comparison["rows"]})
    lead = (
        f"{models} models, {len(comparison['rows'])} artifacts, judged on {data['name']}. Latencies are "
        "those of the machine that is named; the Android app measures the bundle on a phone."
    )
    return report_page.page("Which model for my phone?", lead, sections), images


def _fronts(comparison, metric, figure):
    rows = {row["file"]: row for row in comparison["rows"]}
    on_any = dict.fromkeys(file for files in comparison["fronts"].values() for file in files)
    looks = style.looks(answer.name_of(rows[file]) for file in on_any)
    better = "up" if metric.higher_is_better else "down"
    for cost, files in comparison["fronts"].items():
        x_label, unit = _AXES[cost]
        names = [answer.name_of(rows[file]) for file in files]
        points = [
            (answer.name_of(row), row[COSTS[cost]] / unit, row[metric.name]) for row in comparison["rows"]
        ]
        points.sort(key=lambda point: point[1])
        drawn = plots.scatter(
            f"{metric.title} against {cost}", points, looks, x_label=x_label, measure=metric, front=names
        )
        listed = ", ".join(
            f"{name} {metric.format(value)} at {x:.3g}" for name, x, value in points if name in names
        )
        yield figure(
            cost,
            drawn,
            f"The line joins the front: nothing measured is further {better} and to the left.",
            f"{metric.title} against {x_label}; on the front: {listed}",
        )


def _artifacts(comparison, metric, first):
    rows = [
        [
            answer.name_of(row),
            formats.milliseconds(row["p50_ms"]),
            formats.ratio(row["ratio"]) if row["ratio"] else "1",
            formats.number(row["instructions"] and row["instructions"] / 1e6, ",.2f", " M"),
            formats.size(row["bytes"]),
            f"{row['parameters']:,}",
            metric.format(row[metric.name]),
            answer.difference(metric, row["standard_error"]),
            ", ".join(fronts_of(row, comparison)) or None,
        ]
        for row in comparison["rows"]
    ]
    columns = ["<Artifact", "Median", "Ratio", "Instructions", "Size", "Parameters", metric.title]
    table = report_page.table("All artifacts", [*columns, "Standard error", "<On the front of"], rows)
    reading = report_page.paragraph(
        f"Ratio: median latency over that of {first}, with its 95 % interval; below 1 is faster.", "quiet"
    )
    refused = [
        report_page.paragraph(f"{one['model']} {one['preset']} was refused: {one['reason']}", "warning")
        for one in comparison["refused"]
    ]
    return report_page.section("All artifacts, the fastest first", table, reading, *refused)

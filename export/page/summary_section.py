"""The first section of the page: the original and its artifacts in one table, and what is wrong."""

from export.page import formats, report_page
from export.page.words import device_name, runtimes


def section(run):
    """The section as HTML.

    Args:
        run: `run_folder.Run`.
    """
    if not run.benchmarks:
        return report_page.section("In short", report_page.missing("No benchmark report was found."))
    report = run.benchmarks[0]
    original = report["models"][0]
    metric, agreement = (formats.measure_of(report["task"], kind) for kind in ("metric", "agreement"))
    pairs = {pair["mobile"]: pair for pair in report["pairs"]}
    wrong = {entry["model"] for entry in _wrong_outputs(report)}
    rows = []
    for model in report["models"]:
        pair = pairs.get(model["name"])
        rows.append(
            [
                model["name"] + (", WRONG" if model["name"] in wrong else ""),
                formats.ratio(pair["ratio"]) if pair else "1.000",
                formats.size(model["bytes"]),
                formats.share(model["bytes"], original["bytes"]),
                formats.milliseconds(model["latency_ms"]["p50"]),
                formats.number(pair and pair["agreement"] and pair["agreement"]["cosine"], ".6f"),
                *([formats.measured(agreement, pair and pair["agreement"])] if agreement else []),
                *([formats.measured(metric, model["metrics"])] if metric else []),
            ]
        )
    columns = ["<Artifact", "Time ratio", "Size", "of original", "Median", "Cosine"]
    columns += [measure.title for measure in (agreement, metric) if measure]
    return report_page.section(
        "In short",
        *alarms(run.benchmarks),
        report_page.table("The original and its artifacts", columns, rows),
        report_page.paragraph(_reading(report), "quiet"),
        *warnings_in_short(report["warnings"]),
    )


def alarms(benchmarks):
    """Wrong outputs of all measurements, which are worse than being slow and easily overlooked."""
    for report in benchmarks:
        for entry in _wrong_outputs(report):
            model = entry["model"] or "A model"
            text = f"{model} computes wrong outputs on {device_name(report)}: {entry['message']}."
            yield report_page.paragraph(text, "alarm")


def _wrong_outputs(report):
    return [entry for entry in report["warnings"] if entry["code"] in ("wrong_answers", "not_finite")]


def warnings_in_short(warnings):
    """How many warnings a benchmark has, which stand with its details."""
    if warnings:
        count = "is a warning" if len(warnings) == 1 else f"are {len(warnings)} warnings"
        yield report_page.paragraph(f"There {count} about this measurement, see below.", "warning")


def _reading(report):
    """How to read the summary's numbers."""
    data = report["settings"]["data"]
    shown = (
        f"Outputs for {data['samples']:,} samples of {data['name']}, {data['split']} part. " if data else ""
    )
    confidences = {pair["ratio"]["confidence"] for pair in report["pairs"]} - {None}
    interval = f", with its {confidences.pop():.0%} interval" if confidences else ", without an interval"
    return (
        f"{shown}Time ratio: median latency over that of {report['models'][0]['name']}{interval}; "
        f"below 1 is faster. Measured on {device_name(report)}, {runtimes(report)}."
    )

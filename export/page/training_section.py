"""How the training went: facts, curves, settings."""

from export.page import formats, plots, report_page


def section(run, figure):
    """The section as HTML.

    Args:
        run: `run_folder.Run`.
        figure: function (name, drawn figure, caption, description) that gives the figure as HTML.
    """
    if not run.metrics:
        parts = [report_page.missing("There is no metrics.jsonl with epochs: the training is not known.")]
    else:
        parts = [report_page.facts(_facts(run)), report_page.figures(_curves(run, figure))]
    if run.samples is not None:
        parts.append(report_page.picture(run.samples, "Samples of the test part, by the best model."))
    if run.config is None:
        parts.append(report_page.missing("There is no config.json: the settings are not known."))
    else:
        parts += ["<details><summary>Settings</summary>", report_page.facts(_flat(run.config)), "</details>"]
    return report_page.section("Training", *parts)


def _facts(run):
    speeds = sorted(row["images_per_second"] for row in run.metrics if row.get("images_per_second"))
    summary = run.summary or {}
    return [
        ("Epochs", len(run.metrics)),
        *_quality(run, summary),
        ("Speed", f"{speeds[len(speeds) // 2]:,.0f} images/s" if speeds else None),
        ("Time", formats.number(summary.get("seconds"), ",.0f", " s")),
        ("Parameters", formats.number(summary.get("parameters"), ",d")),
        ("Backend", summary.get("backend")),
    ]


def _quality(run, summary):
    """The task's metric on the part that chose the epoch, and on the test part."""
    metric, best, test = _metric(run), summary.get("best"), summary.get("test")
    if metric is None or best is None:
        return
    title, part = metric.title, (summary.get("validation") or {}).get("part")
    chosen = {metric.name: best.get(f"val_{metric.name}")}
    if part == "test":
        yield "Best epoch", f"{best.get('epoch')}, chosen on the test part, as the papers do"
        yield f"{title}, test part, best epoch", formats.measured(metric, chosen)
        return
    yield "Best epoch", f"{best.get('epoch')}, chosen on validation ({part})"
    yield f"{title}, validation", formats.measured(metric, chosen)
    if test is not None:
        yield f"{title}, test part, measured once", formats.measured(metric, test)


def _metric(run):
    return formats.measure_of((run.summary or {}).get("task"), "metric")


def _curves(run, figure):
    part = ((run.summary or {}).get("validation") or {}).get("part")
    judged = "test" if part == "test" else "validation"
    metric = _metric(run)
    wanted = [("loss", "Loss", {"training": "loss", judged: "val_loss"}, {})]
    if metric:
        lines = {"training": metric.name, judged: f"val_{metric.name}"}
        wanted.append((metric.name.replace("_", "-"), metric.title, lines, {"percent": metric.is_share}))
    wanted.append(("learning-rate", "Learning rate", {"learning rate": "learning_rate"}, {}))
    for name, title, lines, options in wanted:
        series = {
            label: tuple(zip(*values, strict=True))
            for label, key in lines.items()
            if (values := _values(run.metrics, key))
        }
        if series:
            first, last = (
                ", ".join(f"{label} {values[at]:.4g}" for label, (_, values) in series.items())
                for at in (0, -1)
            )
            yield figure(
                name,
                plots.curves(title, series, **options),
                f"{title} over {len(run.metrics)} epochs.",
                f"{title}: {first} in the first epoch, {last} in the last.",
            )


def _values(metrics, key):
    """(epoch, value) of each epoch that has the value."""
    rows = enumerate((row.get("epoch"), row.get(key)) for row in metrics)
    return [(epoch or index + 1, value) for index, (epoch, value) in rows if value is not None]


def _flat(config, prefix=""):
    for key, value in config.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value

"""One page about a run: how it trained, what was exported, how fast that is and whether it answers alike.

    python -m export.report --workdir=RUN --output=report.html

The page is one file that needs no other; its figures are written beside it as PNG too. It shows what is
in the folder of the run and says what is not: the training's metrics.jsonl and config.json, the
converters' reports, benchmark reports, also those of a phone (`--benchmark=pc.json,phone.json`), and what
`export.arm_cost` counted.
"""

import math
import pathlib

from absl import flags

from command_line import commands
from export.page import plots, report_page, run_folder
from hsvit_runtime import files

FLAGS = flags.FLAGS


def define_flags():
    flags.DEFINE_string("workdir", None, "Folder of the run.")
    flags.DEFINE_string("output", None, "HTML file to write.")
    flags.DEFINE_list("benchmark", None, "Benchmark reports; those in --workdir if not given.")
    flags.DEFINE_string("exports", None, "Folder of the artifacts and their reports; --workdir if not given.")
    flags.mark_flags_as_required(["workdir", "output"])


def main(_):
    write(run_folder.read_run(FLAGS.workdir, exports=FLAGS.exports, benchmarks=FLAGS.benchmark), FLAGS.output)


def write(run, output):
    """Writes the page of a run, its figures beside it, and tells where.

    Args:
        run: `run_folder.Run`.
        output: path of the HTML file.
    """
    output = pathlib.Path(output)
    for note in run.skipped:
        print(f"left out: {note}")
    with files.replacing(output) as temporary:
        html, images = build(run)
        temporary.write_text(html, encoding="utf-8")
        for name, png in images.items():
            with files.replacing(output.with_name(f"{output.stem}_{name}.png")) as image:
                image.write_bytes(png)
    print(f"wrote {output}, and its {len(images)} figures as {output.stem}_*.png")


def build(run):
    """Makes the page of a run.

    Args:
        run: `run_folder.Run`.

    Returns:
        (html, images): str, and a dict from a figure's name to the bytes of its PNG.
    """
    images = {}

    def figure(name, drawn, caption, description):
        images[name] = plots.as_png(drawn)
        return report_page.figure(plots.as_svg(drawn, name), caption, description)

    with plots.style():
        sections = [
            _summary(run),
            *_skipped(run),
            _training(run, figure),
            _artifacts(run),
            *_measurements(run, figure),
            *map(_cost, run.costs),
        ]
    return report_page.page(
        f"{_title(run)}: training, export, speed", f"From the folder {run.name}", sections
    ), images


def _title(run):
    model = (run.config or {}).get("model")
    return model if isinstance(model, str) else run.name


# ---- summary ---------------------------------------------------------------------------------------
def _summary(run):
    if not run.benchmarks:
        return report_page.section("In short", report_page.missing("No benchmark report was found."))
    report = run.benchmarks[0]
    original = report["models"][0]
    pairs = {pair["mobile"]: pair for pair in report["pairs"]}
    wrong = {entry["model"] for entry in _wrong_answers(report)}
    rows = []
    for model in report["models"]:
        pair = pairs.get(model["name"])
        agreement = pair and pair["agreement"]
        rows.append(
            [
                model["name"] + (", WRONG" if model["name"] in wrong else ""),
                _ratio(pair["ratio"]) if pair else "1.000",
                _size(model["bytes"]),
                _share(model["bytes"], original["bytes"]),
                _percent(agreement and agreement["top1_agreement"]),
                _percent(model["accuracy"]),
                _milliseconds(model["latency_ms"]["p50"]),
            ]
        )
    columns = ["<Artifact", "Time ratio", "Size", "of original", "Same answer", "Accuracy", "Median"]
    return report_page.section(
        "In short",
        *_alarms(run.benchmarks),
        report_page.table("The original and its artifacts", columns, rows),
        report_page.paragraph(_reading(report), "quiet"),
        *_warnings_in_short(report["warnings"]),
    )


def _alarms(benchmarks):
    """What is worse than being slow, of all measurements: wrong answers, which nobody may notice."""
    for report in benchmarks:
        for entry in _wrong_answers(report):
            model = entry["model"] or "A model"
            text = f"{model} answers wrongly on {_device_name(report)}: {entry['message']}."
            yield report_page.paragraph(text, "alarm")


def _wrong_answers(report):
    return [entry for entry in report["warnings"] if entry["code"] in ("wrong_answers", "not_finite")]


def _warnings_in_short(warnings):
    if warnings:
        count = "a warning" if len(warnings) == 1 else f"{len(warnings)} warnings"
        yield report_page.paragraph(f"Mind {count} about this measurement, below.", "warning")


def _reading(report):
    """How to read the summary's numbers."""
    data = report["settings"]["data"]
    shown = f"Answers to {data['images']:,} images of {data['name']}, {data['split']} part. " if data else ""
    confidences = {pair["ratio"]["confidence"] for pair in report["pairs"]} - {None}
    interval = f", with its {confidences.pop():.0%} interval" if confidences else ", without an interval"
    return (
        f"{shown}Time ratio: median latency over that of {report['models'][0]['name']}{interval}; "
        f"below 1 is faster. Measured on {_device_name(report)}, {_runtimes(report)}."
    )


def _runtimes(report):
    names = dict.fromkeys(model["runtime"]["name"] for model in report["models"])
    threads = report["settings"]["threads"]
    counted = f"{threads} thread{'s' if threads > 1 else ''}" if threads else "unknown threads"
    return f"{' against '.join(names)}, {counted}"


def _device_name(report):
    device = report["device"]
    return device["name"] or device["cpu"]["name"] or "an unnamed device"


def _skipped(run):
    if run.skipped:
        notes = (report_page.paragraph(note, "warning") for note in run.skipped)
        yield report_page.section("Files left out", *notes)


# ---- training --------------------------------------------------------------------------------------
def _training(run, figure):
    if not run.metrics:
        parts = [report_page.missing("There is no metrics.jsonl with epochs: the training is not known.")]
    else:
        parts = [report_page.facts(_training_facts(run)), report_page.figures(_curves(run, figure))]
    if run.config is None:
        parts.append(report_page.missing("There is no config.json: the settings are not known."))
    else:
        parts += ["<details><summary>Settings</summary>", report_page.facts(_flat(run.config)), "</details>"]
    return report_page.section("Training", *parts)


def _training_facts(run):
    speeds = sorted(row["images_per_second"] for row in run.metrics if row.get("images_per_second"))
    scored = [row for row in run.metrics if row.get("val_accuracy") is not None]
    summary = run.summary or {}
    best = summary.get("best") or max(scored, key=lambda row: row["val_accuracy"], default=None)
    return [
        ("Epochs", len(run.metrics)),
        (
            "Best accuracy",
            best and f"{_percent(best['val_accuracy'])} on validation, epoch {best.get('epoch')}",
        ),
        ("Last accuracy", _percent(run.metrics[-1].get("val_accuracy"))),
        ("Speed", f"{speeds[len(speeds) // 2]:,.0f} images/s" if speeds else None),
        ("Time", _number(summary.get("seconds"), ",.0f", " s")),
        ("Parameters", _number(summary.get("parameters"), ",d")),
        ("Backend", summary.get("backend")),
    ]


def _curves(run, figure):
    for name, lines, options in (
        ("loss", {"training": "loss", "validation": "val_loss"}, {}),
        ("accuracy", {"training": "accuracy", "validation": "val_accuracy"}, {"percent": True}),
        ("learning-rate", {"learning rate": "learning_rate"}, {}),
    ):
        series = {
            label: tuple(zip(*values, strict=True))
            for label, key in lines.items()
            if (values := _values(run.metrics, key))
        }
        if series:
            title = name.replace("-", " ").capitalize()
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
    """(epoch, value) of each epoch that tells the value."""
    told = enumerate((row.get("epoch"), row.get(key)) for row in metrics)
    return [(epoch or index + 1, value) for index, (epoch, value) in told if value is not None]


def _flat(config, prefix=""):
    for key, value in config.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


# ---- artifacts -------------------------------------------------------------------------------------
def _artifacts(run):
    if not run.artifacts:
        return report_page.section("Artifacts", report_page.missing("No report of a converter was found."))
    artifacts = sorted(run.artifacts, key=lambda artifact: -(artifact.get("bytes") or 0))
    answers = [
        [
            artifact["name"],
            artifact.get("preset"),
            _size(artifact.get("bytes")),
            _number(artifact["parity"].get("max_abs_diff"), ".2g"),
            _number(artifact["parity"].get("cosine"), ".6f"),
            _percent(artifact["parity"].get("top1_agreement")),
            artifact["parity"].get("samples"),
            _runtime(artifact),
        ]
        for artifact in artifacts
    ]
    contents = [
        [
            artifact["name"],
            _operators(artifact.get("ops")),
            artifact.get("partitions"),
            _delegated(artifact),
            None if artifact.get("flex_ops") is None else ", ".join(artifact["flex_ops"]) or "none",
            _tensor(artifact.get("input")),
            _tensor(artifact.get("output")),
            artifact["sha256"][:12],
        ]
        for artifact in artifacts
    ]
    return report_page.section(
        "Artifacts",
        report_page.table(
            "How alike the artifacts answer",
            [
                *("<File", "<Preset", "Size", "Largest difference", "Cosine", "Same answer", "Images"),
                "Runtime from",
            ],
            answers,
        ),
        report_page.paragraph("Answers are compared with those of the Keras model on real images.", "quiet"),
        report_page.table(
            "What is inside the artifacts",
            ["<File", "Ops", "Partitions", "<Delegated", "<Flex ops", "<Input", "<Output", "<SHA-256"],
            contents,
        ),
        report_page.paragraph(
            "Partitions are the pieces of the graph that the delegate XNNPACK runs; one is best.", "quiet"
        ),
    )


def _runtime(artifact):
    return f"opset {artifact['opset']}" if "opset" in artifact else artifact.get("minimum_runtime")


def _operators(ops):
    return sum(ops.values()) if isinstance(ops, dict) else ops


def _delegated(artifact):
    left = artifact.get("undelegated_ops")
    if artifact.get("fully_delegated") or not left:
        return {True: "all", False: "not all", None: None}[artifact.get("fully_delegated")]
    return "all but " + ", ".join(f"{op['count']} {op['op']} ({op['reason']})" for op in left)


def _tensor(tensor):
    if not tensor:
        return None
    pixels = ", pixels of 0–255" if tensor.get("pixels") else ""
    return f"{' × '.join(map(str, tensor['shape']))} {tensor['dtype']}{pixels}"


# ---- benchmarks ------------------------------------------------------------------------------------
def _measurements(run, figure):
    if not run.benchmarks:
        return [report_page.section("Latency", report_page.missing("No benchmark report was found."))]
    looks = plots.looks(model["name"] for report in run.benchmarks for model in report["models"])
    return [
        report_page.section(
            f"Measured on {_device_name(report)}",
            report_page.figures(_benchmark_figures(report, looks, figure, number)),
            *_latency_tables(report),
            report_page.warnings(report["warnings"]),
            report_page.section("Device", report_page.facts(_device_facts(report)), level=3),
        )
        for number, report in enumerate(run.benchmarks, start=1)
    ]


def _benchmark_figures(report, looks, figure, number):
    models = report["models"]
    raw = all(model["blocks_ms"] for model in models)
    yield figure(
        f"latency-{number}",
        plots.latencies("Latency", models, looks),
        "Dots: single runs. Bar: 5th to 95th percentile. Mark: median."
        if raw
        else "Single runs are not all known. Bar: 5th to 95th percentile, or all runs. Mark: median or mean.",
        "Median latency: "
        + ", ".join(f"{model['name']} {_milliseconds(model['latency_ms']['p50'])}" for model in models),
    )
    shares, meaning = _shares(report)
    for name, title, x_label, values in (
        ("speed", "against latency", "median latency, ms", [model["latency_ms"]["p50"] for model in models]),
        ("size", "against size", "size, kB", [model["bytes"] and model["bytes"] / 1000 for model in models]),
    ):
        points = [
            (model["name"], x, share)
            for model, x, share in zip(models, values, shares, strict=True)
            if None not in (x, share)
        ]
        if points:
            drawn = plots.scatter(
                f"{meaning} {title}", points, looks, x_label=x_label, y_label=meaning.lower()
            )
            told = ", ".join(f"{label} {_percent(share)} at {x:.3g}" for label, x, share in points)
            yield figure(
                f"{name}-{number}",
                drawn,
                "Further up and to the left is better.",
                f"{meaning} {title} ({x_label}): {told}",
            )


def _shares(report):
    """How well each model answers, and what that means: its accuracy, or its agreement with the original."""
    accuracies = [model["accuracy"] for model in report["models"]]
    if any(accuracy is not None for accuracy in accuracies):
        return accuracies, "Accuracy"
    agreements = [pair["agreement"] and pair["agreement"]["top1_agreement"] for pair in report["pairs"]]
    return [1.0 if any(agreements) else None, *agreements], "Agreement"


def _latency_tables(report):
    keys = ("p50", "p90", "p99", "min", "mean", "max")
    yield report_page.table(
        "Latency of each model",
        ["<Model", *keys, "Loading", "First run", "Runs"],
        [
            [
                model["name"],
                *(_milliseconds(model["latency_ms"][key]) for key in keys),
                _milliseconds(model["init_ms"]),
                _milliseconds(model["first_inference_ms"]),
                model["latency_ms"]["count"],
            ]
            for model in report["models"]
        ],
    )
    yield report_page.table(
        "What each model runs on",
        ["<Model", "<Runtime", "<Threads", "<Runs on", "<SHA-256"],
        [
            [
                model["name"],
                " ".join(filter(None, model["runtime"].values())),
                _threads(model["threads"]),
                _accelerator(model["accelerator"]),
                model["sha256"] and model["sha256"][:12],
            ]
            for model in report["models"]
        ],
    )


def _threads(threads):
    busy = _number(threads["busy_cores"], ".1f", " cores busy")
    return threads["requested"] and f"{threads['requested']}" + (f" ({busy})" if busy else "")


def _accelerator(accelerator):
    used, asked = accelerator["used"], accelerator["requested"]
    partitions = accelerator["partitions"]
    details = [
        accelerator["delegate"],
        partitions and ("1 partition" if partitions == 1 else f"{partitions} partitions"),
        accelerator["nodes_total"]
        and f"{accelerator['nodes_delegated']} of {accelerator['nodes_total']} nodes",
        asked and asked != used and f"asked for {asked.upper()}",
    ]
    return ", ".join([used.upper() if used else "unknown", *filter(None, details)])


def _device_facts(report):
    device, before, after = report["device"], report["device"]["before"], report["device"]["after"]
    cpu, system, settings = device["cpu"], device["os"], report["settings"]

    def change(key, form="{}"):
        told = [form.format(_word(state[key])) for state in (before, after) if state[key] is not None]
        return " → ".join(dict.fromkeys(told)) or None

    return [
        ("Device", device["name"]),
        ("CPU", cpu["name"]),
        ("Architecture", cpu["architecture"]),
        ("Cores", cpu["logical_cores"]),
        ("CPU features", cpu["features"] and ", ".join(cpu["features"])),
        ("Memory", _size(device["memory_bytes"])),
        ("System", " ".join(str(value) for value in (system["name"], system["version"]) if value) or None),
        ("API level", system["api_level"]),
        ("Measured", change("time")),
        ("Load average", change("load_average", "{:.2f}")),
        ("Others kept busy", _number(device["other_load_cores"], ".2f", " cores")),
        ("Thermal status", change("thermal_status")),
        ("Thermal headroom", change("thermal_headroom", "{:.2f}")),
        ("Battery", change("battery_percent", "{:.0f} %")),
        ("Charging", change("charging")),
        ("Power saving", change("power_save")),
        ("Order", _order(settings)),
        ("Language", report["runtime"]["language"]),
        ("Libraries", ", ".join(f"{k} {v}" for k, v in report["runtime"]["packages"].items()) or None),
        ("Debug build", _word(report["runtime"]["debug_build"])),
        ("Measured by", " ".join(filter(None, report["tool"].values()))),
    ]


def _order(settings):
    if settings["blocks"] is None:
        return None
    return (
        f"{settings['blocks']} alternating blocks of {settings['runs']} runs for each model, "
        f"{settings['warmup']} uncounted runs and a pause of {settings['cooldown_s']:g} s before each"
    )


def _word(value):
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value


# ---- costs on a core -------------------------------------------------------------------------------
_KINDS = {
    "dot": "8-bit dots",
    "mmla": "8-bit matrices",
    "fma": "Float multiply-adds",
    "load_store": "Loads and stores",
}


def _cost(report):
    """What `export.arm_cost` counted, with the kinds of instruction that tell most."""
    models = report["models"]
    kinds = [kind for kind in _KINDS if any(model["by_kind"].get(kind) for model in models)]
    rows = [
        [
            model["name"],
            f"{model['ratio']:.3f}",
            f"{model['instructions']:,}",
            *(f"{model['by_kind'].get(kind, 0):,}" for kind in kinds),
        ]
        for model in models
    ]
    columns = ["<Model", "Ratio", "Instructions", *(_KINDS[kind] for kind in kinds)]
    return report_page.section(
        f"Instructions on {report['core']}",
        report_page.table("Instructions of one inference", columns, rows),
        report_page.paragraph(
            "Executed for one inference on one thread, counted on an emulated core; ratio to "
            f"{models[0]['name']}. No time: memory and pipelines are not in it. Like models compare best.",
            "quiet",
        ),
    )


# ---- numbers ---------------------------------------------------------------------------------------
def _number(value, form, unit=""):
    return None if value is None else f"{value:{form}}{unit}"


def _percent(share):
    return _number(share and 100 * share, ".1f", " %")


def _size(count):
    if count is None:
        return None
    unit, scale = next(((u, s) for u, s in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)) if count >= s), ("B", 1))
    return f"{count / scale:.3g} {unit}" if count < 1000 * scale else f"{count / scale:.0f} {unit}"


def _share(part, whole):
    return None if part is None or not whole else f"{part / whole:.0%}".replace("%", " %")


def _milliseconds(value):
    """A latency with three digits that count, all of them before the point if there are more."""
    if not value:
        return value if value is None else "0 ms"
    rounded = float(f"{value:.3g}") if value < 1000 else value
    return f"{rounded:,.{max(0, 2 - math.floor(math.log10(rounded)))}f} ms"


def _ratio(ratio):
    interval = "" if ratio["low"] is None else f" [{ratio['low']:.3f}, {ratio['high']:.3f}]"
    of = " (of means)" if ratio["of"] == "mean" else ""
    return f"{ratio['value']:.3f}{interval}{of}"


if __name__ == "__main__":
    define_flags()
    commands.run(main, uses_keras=False)

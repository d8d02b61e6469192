"""What benchmarks measured: latencies, where the models ran, and the device."""

from command_line import plots as style
from export.page import formats, plots, report_page
from export.page.words import device_name


def sections(run, figure):
    """A section for each benchmark, as a list of HTML.

    Args:
        run: `run_folder.Run`.
        figure: function (name, drawn figure, caption, description) that gives the figure as HTML.
    """
    if not run.benchmarks:
        return [report_page.section("Latency", report_page.missing("No benchmark report was found."))]
    looks = style.looks(model["name"] for report in run.benchmarks for model in report["models"])
    return [
        report_page.section(
            f"Measured on {device_name(report)}",
            report_page.figures(_benchmark_figures(report, looks, figure, number)),
            *details(report),
        )
        for number, report in enumerate(run.benchmarks, start=1)
    ]


def details(report):
    """The tables, the warnings and the device of a benchmark, as parts of a section.

    Args:
        report: dict, a benchmark report.
    """
    yield from _latency_tables(report)
    yield from _more_tables(report)
    yield report_page.warnings(report["warnings"])
    yield report_page.section("Device", report_page.facts(_device_facts(report)), level=3)


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
        + ", ".join(
            f"{model['name']} {formats.milliseconds(model['latency_ms']['p50'])}" for model in models
        ),
    )
    yield from _quality_figures(report, looks, figure, number)
    yield from _more_figures(report, looks, figure, number)


def _quality_figures(report, looks, figure, number):
    models = report["models"]
    values, measure = _quality(report)
    if measure is None:
        return
    better = "up" if measure.higher_is_better else "down"
    for name, title, x_label, costs in (
        ("speed", "against latency", "median latency, ms", [model["latency_ms"]["p50"] for model in models]),
        ("size", "against size", "size, kB", [model["bytes"] and model["bytes"] / 1000 for model in models]),
    ):
        points = [
            (model["name"], cost, value)
            for model, cost, value in zip(models, costs, values, strict=True)
            if None not in (cost, value)
        ]
        if points:
            drawn = plots.scatter(f"{measure.title} {title}", points, looks, x_label=x_label, measure=measure)
            listed = ", ".join(
                f"{label} {formats.measured(measure, {measure.name: value})} at {cost:.3g}"
                for label, cost, value in points
            )
            yield figure(
                f"{name}-{number}",
                drawn,
                f"Further {better} and to the left is better.",
                f"{measure.title} {title} ({x_label}): {listed}",
            )


def _more_figures(report, looks, figure, number):
    """Curves of what a phone measures besides, where it was asked to."""
    swept = {name: _curve(times, "threads") for name, times in _measured_more(report, "thread_sweep").items()}
    if swept:
        yield figure(
            f"threads-{number}",
            plots.latency_lines("Latency by threads", swept, looks, x_label="threads, on the CPU"),
            "A flat line: more threads do not help.",
            "Median latency by threads: " + _ends(swept),
        )
    lasting = {name: _curve(times, "at_s") for name, times in _measured_more(report, "sustained").items()}
    if lasting:
        long = max(seconds[-1] for seconds, _ in lasting.values()) > 120
        unit = "minutes" if long else "seconds"
        curves = {
            name: ([at / 60 if long else at for at in seconds], latencies)
            for name, (seconds, latencies) in lasting.items()
        }
        yield figure(
            f"sustained-{number}",
            plots.latency_lines("Without a pause", curves, looks, x_label=unit),
            "A rising line: the device got warm and slowed down.",
            f"Median latency without a pause, by {unit}: " + _ends(curves),
        )


def _measured_more(report, key):
    """dict from a model's name to what was measured of it besides; only models with it."""
    return {model["name"]: model[key] for model in report["models"] if model.get(key)}


def _curve(times, key):
    return [time[key] for time in times], [time["p50_ms"] for time in times]


def _ends(curves):
    """Where curves begin and end, in words."""
    return "; ".join(
        f"{name} {formats.milliseconds(latencies[0])} at {xs[0]:.3g}, "
        f"{formats.milliseconds(latencies[-1])} at {xs[-1]:.3g}"
        for name, (xs, latencies) in curves.items()
    )


def _median(model):
    return formats.milliseconds(model["latency_ms"]["p50"])


def _quality(report):
    """A value of each model and its measure: against labels, or else against the original's outputs."""
    metric, agreement = (formats.measure_of(report["task"], kind) for kind in ("metric", "agreement"))
    if metric:
        values = [model["metrics"].get(metric.name) for model in report["models"]]
        if any(value is not None for value in values):
            return values, metric
    if agreement is None:
        return [], None
    values = [(pair["agreement"] or {}).get(agreement.name) for pair in report["pairs"]]
    return [1.0 if any(value is not None for value in values) else None, *values], agreement


def _latency_tables(report):
    keys = ("p50", "p90", "p99", "min", "mean", "max")
    yield report_page.table(
        "Latency of each model",
        ["<Model", *keys, "Loading", "First run", "Runs"],
        [
            [
                model["name"],
                *(formats.milliseconds(model["latency_ms"][key]) for key in keys),
                formats.milliseconds(model["init_ms"]),
                formats.milliseconds(model["first_inference_ms"]),
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


def _more_tables(report):
    """Tables of what a phone measures besides, where it was asked to."""
    memories = _measured_more(report, "memory")
    if memories:
        yield report_page.table(
            "Memory that each model adds to its process",
            ["<Model", "After loading", "After some runs", "At most"],
            [
                [name, *(formats.size(memory[f"{key}_bytes"]) for key in ("init", "overall", "peak"))]
                for name, memory in memories.items()
            ],
        )
    cut = _measured_more(report, "ops")
    if cut:
        kinds = dict.fromkeys(op["kind"] for ops in cut.values() for op in ops)
        times = {name: {op["kind"]: op["p50_ms"] for op in ops} for name, ops in cut.items()}
        yield report_page.table(
            "Median latency of each kind of operation, cut out and run alone",
            ["<Model", *kinds],
            [
                [name, *(formats.milliseconds(of_kind.get(kind)) for kind in kinds)]
                for name, of_kind in times.items()
            ],
        )
    swept = _measured_more(report, "thread_sweep")
    if swept:
        counts = [time["threads"] for time in next(iter(swept.values()))]
        yield report_page.table(
            "Median latency by threads, on the CPU",
            ["<Model", *map(str, counts)],
            [
                [name, *(formats.milliseconds(time["p50_ms"]) for time in times)]
                for name, times in swept.items()
            ],
        )
    lasting = _measured_more(report, "sustained")
    if lasting:
        yield report_page.table(
            f"Without a pause for {report['settings']['sustained_s']:g} s",
            ["<Model", "At first", "At last", "Slowest", "Battery, °C, at first", "At last"],
            [
                [
                    name,
                    *(formats.milliseconds(curve[i]["p50_ms"]) for i in (0, -1)),
                    formats.milliseconds(max(time["p50_ms"] for time in curve)),
                    *(formats.number(curve[i]["state"]["battery_celsius"], ".1f") for i in (0, -1)),
                ]
                for name, curve in lasting.items()
            ],
        )


def _threads(threads):
    busy = formats.number(threads["busy_cores"], ".1f", " cores busy")
    return threads["requested"] and f"{threads['requested']}" + (f" ({busy})" if busy else "")


def _accelerator(accelerator):
    used, asked = accelerator["used"], accelerator["requested"]
    partitions = accelerator["partitions"]
    details = [
        accelerator["delegate"],
        partitions and ("1 partition" if partitions == 1 else f"{partitions} partitions"),
        accelerator["nodes_total"]
        and f"{accelerator['nodes_delegated']} of {accelerator['nodes_total']} nodes",
        accelerator.get("nodes_known_from") == "bundle" and "as the bundle says, not the runtime's log",
        asked and asked != used and f"asked for {asked.upper()}",
        accelerator.get("cpu_p50_ms") and f"{formats.milliseconds(accelerator['cpu_p50_ms'])} on the CPU",
    ]
    return ", ".join([used.upper() if used else "unknown", *filter(None, details)])


def _cores(report):
    """The cores that were asked for, and where those of pairs are others."""
    asked = report["settings"].get("cores")
    if asked is None:
        return None
    used = [pair.get("cores") for pair in report["pairs"]]
    told = ", ".join(map(str, asked))
    return told if all(cores == asked for cores in used) else f"{told} were asked for and refused"


def _cluster(cluster):
    cores = ", ".join(map(str, cluster["cores"]))
    clock = formats.number(cluster["max_mhz"], ".0f", " MHz at most")
    capacity = formats.number(cluster["capacity"], ".0f")
    return f"cores {cores}" + "".join(
        f", {told}" for told in (clock, capacity and f"capacity {capacity}") if told
    )


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
        ("Clusters of cores", "; ".join(map(_cluster, cpu.get("clusters") or ())) or None),
        ("Models ran on cores", _cores(report)),
        ("CPU features", cpu["features"] and ", ".join(cpu["features"])),
        ("Memory", formats.size(device["memory_bytes"])),
        ("System", " ".join(str(value) for value in (system["name"], system["version"]) if value) or None),
        ("API level", system["api_level"]),
        ("Measured", change("time")),
        ("Load average", change("load_average", "{:.2f}")),
        ("Others kept busy", formats.number(device["other_load_cores"], ".2f", " cores")),
        ("Thermal status", change("thermal_status")),
        ("Thermal headroom", change("thermal_headroom", "{:.2f}")),
        ("Battery", change("battery_percent", "{:.0f} %")),
        ("Charging", change("charging")),
        ("Power saving", change("power_save")),
        ("Order", _order(settings)),
        ("Clock", formats.number(device.get("clock_resolution_ms"), "g", " ms steps")),
        ("Language", report["runtime"]["language"]),
        ("Libraries", ", ".join(f"{k} {v}" for k, v in report["runtime"]["packages"].items()) or None),
        ("Debug build", _word(report["runtime"]["debug_build"])),
        ("Measured by", " ".join(filter(None, report["tool"].values()))),
    ]


def _order(settings):
    """What was run one after the other; None where the report does not tell all of it."""
    if None in (settings["blocks"], settings["runs"], settings["cooldown_s"]):
        return None
    if settings["warmup"] is None and "warmup_s" not in settings:
        return None
    runs, least = f"{settings['runs']} runs", settings.get("min_block_s")
    if least:
        runs = f"at least {runs} and {least:g} s"
    return (
        f"{settings['blocks']} alternating blocks of {runs} for each model, "
        f"{_warmup(settings)} and a pause of {settings['cooldown_s']:g} s before each"
    )


def _warmup(settings):
    by_time = settings.get("warmup_s")
    if by_time is None:
        return f"{settings['warmup']} uncounted runs"
    if settings.get("warmup_until_steady"):
        return f"uncounted runs until the latency is steady, for {by_time:g} s at most,"
    return f"{by_time:g} s of uncounted runs"


def _word(value):
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value

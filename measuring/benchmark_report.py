"""The benchmark report of models that were measured here, or read from the output of an official tool.

Its format is `benchmark.schema.json`; the Android app writes the same.
"""

import pathlib

from hsvit_runtime import json_files
from hsvit_runtime.errors import InputError
from measuring import latency_statistics, schemas

SCHEMA = pathlib.Path(__file__).with_name("benchmark.schema.json")
SCHEMA_VERSION = 2

NOISY = 1.5  # p90 over p50; a quiet machine stays below 1.2
BUSY_CORES = 0.3
FEW_RUNS = 100


def assemble(*, task, tool, settings, device, runtime, models, agreements, warnings=()):
    """Puts a report together: compares every mobile model with the original and adds warnings.

    Args:
        task: what the models are for, see `describe_task`; None for tensors of which nothing else is known.
        tool, settings, device, runtime: dicts, those of the schema.
        models: list of dicts, the schema's models, the original first.
        agreements: dict from a mobile model's name to its agreement with the original, None where it
            is not known.
        warnings: list of dicts, which come before those found here.

    Returns:
        dict, ready to be written as JSON.
    """
    original, *mobiles = models
    report = {
        "schema_version": SCHEMA_VERSION,
        "task": describe_task(task),
        **{"tool": tool, "settings": settings, "device": device, "runtime": runtime, "models": models},
        "pairs": [
            {
                "original": original["name"],
                "mobile": mobile["name"],
                "ratio": ratio(original, mobile),
                "agreement": agreements.get(mobile["name"]),
            }
            for mobile in mobiles
        ],
    }
    return {**report, "warnings": [*warnings, *find_warnings(report)]}


def describe_task(task):
    """The `task` block of a benchmark report and of a bundle.

    Args:
        task: a `hsvit_keras.tasks.Task`, or None.

    Returns:
        dict `{name, metric, agreement}`.
    """
    return {"name": "tensors", "metric": None, "agreement": None} if task is None else task.to_json()


def ratio(original, mobile):
    """Latency of `mobile` over that of `original`: of medians, of means where no median is known."""
    if original["blocks_ms"] and mobile["blocks_ms"]:
        return {
            "of": "median",
            **latency_statistics.ratio_of_medians(original["blocks_ms"], mobile["blocks_ms"]),
        }
    for of, key in (("median", "p50"), ("mean", "mean")):
        values = [model["latency_ms"][key] for model in (mobile, original)]
        if all(values):
            return {"of": of, "value": values[0] / values[1], **dict.fromkeys(("low", "high", "confidence"))}
    raise InputError(f"neither median nor mean is known of both {original['name']} and {mobile['name']}")


def warning(code, message, model=None):
    """One entry of a report's `warnings`."""
    return {"code": code, "model": model, "message": message}


def find_warnings(report):
    """What limits the numbers of a report.

    Args:
        report: dict that follows the schema; its `warnings` are ignored.

    Returns:
        list of dicts `{code, model, message}`.
    """
    found = list(_device_warnings(report["device"]))
    if report["runtime"]["debug_build"]:
        found.append(
            warning("debug_build", "measured by a debug build, which is slower than a release build")
        )
    for model in report["models"]:
        found += _model_warnings(model)
    for pair in report["pairs"]:
        if pair["ratio"]["of"] == "mean":
            message = "ratio of means, which one slow run can move: the median is not known"
            found.append(warning("mean_compared", message, pair["mobile"]))
    return found


def _device_warnings(device):
    if (device["other_load_cores"] or 0) > BUSY_CORES:
        cores = f"{device['other_load_cores']:.1f} CPU cores"
        yield warning("busy", f"other processes kept {cores} busy while measuring")
    for when in ("before", "after"):
        state = device[when]
        if (state["thermal_status"] or 0) > 0:
            yield warning(
                "thermal", f"the device throttled {when} measuring, status {state['thermal_status']}"
            )
        if state["power_save"]:
            yield warning("power_save", f"the device saved power {when} measuring")


def _model_warnings(model):
    name, latency, threads = model["name"], model["latency_ms"], model["threads"]
    if latency["p50"] and latency["p90"] and latency["p90"] > NOISY * latency["p50"]:
        spread = latency["p90"] / latency["p50"]
        yield warning("noisy", f"one run in ten took {spread:.1f} times the median or longer", name)
    if latency["p99"] is not None and latency["count"] < FEW_RUNS:
        yield warning("few_runs", f"p99 of {latency['count']} runs is hardly more than their maximum", name)
    asked, used, busy = threads["requested"], threads["used"], threads["busy_cores"]
    if asked and used and asked != used:
        yield warning("threads", f"{asked} threads were asked for, the runtime uses {used}", name)
    elif asked and busy is not None and (busy > asked + 0.5 or busy < 1.2 < asked):
        yield warning("threads", f"{asked} threads were asked for, {busy:.1f} CPU cores were busy", name)


def read(path):
    """Reads a report.

    Args:
        path: path of a JSON file.

    Returns:
        dict that follows the schema.

    Raises:
        InputError: the file is no JSON, or does not follow the schema.
        OSError: it cannot be read.
    """
    report = json_files.read(path)
    check(report)
    return report


def check(report):
    """Raises `InputError` with the first fault unless `report` follows the schema."""
    version = report.get("schema_version") if isinstance(report, dict) else None
    if isinstance(version, int) and version != SCHEMA_VERSION:
        raise InputError(
            f"it has schema_version {version}, and this program reads {SCHEMA_VERSION}: measure again"
        )
    schemas.check(report, SCHEMA)

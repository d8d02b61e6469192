"""Reads what the official TFLite and LiteRT benchmark tools print or write, as models of our reports.

It reads the output of `benchmark_model` on a desktop, in a shell of a phone, and as an Android app (through
`adb logcat`); the output of `litert-benchmark` and its `--result_json`; and a `BenchmarkResult` as proto text
or JSON (`protoc --decode=tflite.tools.benchmark.BenchmarkResult` makes text of a binary one).

All of them become one flat dict with the field names of `BenchmarkResult` (`init_ms`, `median_ms`,
`num_runs`, ...), and that becomes a model of our report. The tools keep no single runs, so a ratio of two
of them has no interval.
"""

import pathlib
import re

from hsvit_runtime import input_files, json_files
from hsvit_runtime.errors import InputError
from hsvit_runtime.json_schemas import TEXT, array, or_null, partial
from measuring import benchmark_report

_NUMBER = r"([-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?)"

# Names of litert-benchmark's JSON that differ from those of BenchmarkResult.
_JSON_NAMES = {
    "warmup_first_ms": "first_inference_ms",
    "warmup_avg_ms": "average_warm_up_ms",
    "std_ms": "stddev_ms",
    "model": "graph",
}
# litert-benchmark prints, in ms ...
_LABELS = {
    "Model initialization": "init_ms",
    "Warmup (first)": "first_inference_ms",
    "Warmup (avg)": "average_warm_up_ms",
    "Inference (avg)": "avg_ms",
    "Inference (min)": "min_ms",
    "Inference (max)": "max_ms",
    "Inference (median)": "median_ms",
    "Inference (std)": "stddev_ms",
    "Inference (p5)": "p5_ms",
    "Inference (p95)": "p95_ms",
}
# ... and benchmark_model, in us, in its last line (older versions in other words) ...
_TIMINGS = {
    "Init": "init_ms",
    "First inference": "first_inference_ms",
    "Warmup (avg)": "average_warm_up_ms",
    "Warmup": "average_warm_up_ms",
    "Inference (avg)": "avg_ms",
    "Inference": "avg_ms",
    "no stats": "avg_ms",
}
# ... and in a line of its own for all runs that count.
_STATISTICS = {
    "avg": "avg_ms",
    "min": "min_ms",
    "max": "max_ms",
    "std": "stddev_ms",
    "p5": "p5_ms",
    "median": "median_ms",
    "p95": "p95_ms",
}
_OTHER_NUMBERS = {
    "num_threads": rf"(?:[Nn]um threads: *\[?|#threads used for CPU inference: \[){_NUMBER}",
    "model_size_mb": rf"The input model file size \(MB\): {_NUMBER}",
    "model_size_mib": rf"Model size: +{_NUMBER} MB",
    "init_footprint_mb": rf"(?:Memory footprint delta.* init=|Init footprint: +){_NUMBER}",
    "overall_footprint_mb": rf"(?:Memory footprint delta.* overall=|Overall footprint: +){_NUMBER}",
    "peak_mem_mb": rf"(?:Overall peak memory footprint \(MB\).*: |Peak memory: +){_NUMBER}",
}
_MOST_BYTES = 64 * 2**20
_MOST = 1e15  # of any unit
# The texts of a result, under the names of BenchmarkResult; all else are numbers, also as texts.
_TEXTS = partial(accelerators=array(TEXT), delegate=or_null(TEXT), graph=TEXT, tool=TEXT)
_DELEGATES = {"XNNPack": "cpu", "Gpu": "gpu", "NnApi": "npu", "Hexagon": "npu"}

_UNKNOWN_STATE = dict.fromkeys(
    (
        "time",
        "load_average",
        "thermal_status",
        "thermal_headroom",
        "battery_percent",
        "charging",
        "power_save",
    )
)


def import_results(paths, *, device_name=None):
    """Compares saved results of official tools.

    Args:
        paths: list of paths, one result each, the original first.
        device_name: str or None. Where they were measured, which the tools do not say.

    Returns:
        dict in the form of `benchmark.schema.json`.

    Raises:
        InputError: a file holds no result or several, or two results cannot be told apart.
        OSError: a file cannot be read.
    """
    tools, models = zip(*map(read_result, paths), strict=True)
    if len({model["name"] for model in models}) < len(models):  # one model under several settings
        for model, path in zip(models, paths, strict=True):
            model["name"] = pathlib.Path(path).name
    names = [model["name"] for model in models]
    if len(set(names)) < len(names):
        raise InputError(f"the results must have names of their own, got {', '.join(names)}")
    threads = {model["threads"]["requested"] for model in models}
    return benchmark_report.assemble(
        task=None,
        tool={"name": ", ".join(sorted(set(tools))), "version": None},
        settings={
            **dict.fromkeys(("blocks", "runs", "warmup", "cooldown_s", "data")),
            "threads": threads.pop() if len(threads) == 1 else None,
        },
        device={
            "name": device_name,
            "cpu": dict.fromkeys(("name", "architecture", "logical_cores", "features")),
            "os": dict.fromkeys(("name", "version", "api_level")),
            "memory_bytes": None,
            "before": _UNKNOWN_STATE,
            "after": _UNKNOWN_STATE,
            "other_load_cores": None,
        },
        runtime={"language": None, "packages": {}, "debug_build": None},
        models=[{**model, "role": "mobile" if index else "original"} for index, model in enumerate(models)],
        agreements={},
        warnings=[
            benchmark_report.warning(
                "imported",
                "read from the output of an official tool: measured one after the other, without single "
                "runs (so the ratio has no interval) and without outputs (so agreement is not known)",
            )
        ],
    )


def read_result(path):
    """Reads one result.

    Args:
        path: str or path of a saved output.

    Returns:
        (tool, model): the tool's name, and a dict, a model of `benchmark.schema.json` but for its role.

    Raises:
        InputError: the file holds no result or several.
        OSError: the file cannot be read.
    """
    content = input_files.read(path, most=_MOST_BYTES, may_be_empty=True)
    try:
        facts = _facts(content.decode(errors="replace"))
        json_files.check(facts, _TEXTS, "it")
        return _model(facts, pathlib.Path(path).name)
    except InputError as error:
        raise InputError(f"{path} is no output of benchmark_model or litert-benchmark: {error}") from error


def _facts(text):
    if text.lstrip().startswith("{"):
        content = json_files.parse(text.encode(), "it")
        json_files.check(content, {"type": "object"}, "it")
        facts = _flat(content)
    elif "latency_metrics" in text:
        facts = {name: float(value) for name, value in re.findall(rf"(\w+): *{_NUMBER}", text)}
    else:
        facts = _printed(text)
    if "avg_ms" not in facts and "median_ms" not in facts:
        raise InputError("its run failed" if "failed" in text else "there is no latency in it")
    return facts


def _flat(content):
    """The leaves of nested JSON objects under BenchmarkResult's names."""
    flat = {}
    for key, value in content.items():
        if isinstance(value, dict):
            flat |= _flat(value)
        else:
            name = re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", key).lower()  # proto JSON is in camelCase
            flat[_JSON_NAMES.get(name, name)] = value
    if "accelerators" in flat:  # litert-benchmark's, whose MB are 1024 * 1024 bytes
        flat |= {"model_size_mib": flat.pop("model_size_mb", None), "tool": "litert-benchmark"}
    return flat


def _printed(text):
    """Facts from printed lines. Exact microseconds come last, to win over rounded milliseconds."""
    ends = re.findall(r"nference timings in us: (.*)", text)
    if max(len(ends), text.count("BENCHMARK RESULTS")) > 1:
        raise InputError("several results are in it; one a file is needed")
    facts = {"tool": "litert-benchmark"} if "BENCHMARK RESULTS" in text else {}
    for name, pattern in _OTHER_NUMBERS.items():
        if match := re.search(pattern, text):
            facts[name] = float(match[1])
    if match := re.search(r"Graph: \[(.+)\]|benchmark_litert_model: Model: +(.+)", text):
        facts["graph"] = match[1] or match[2]
    if match := re.search(r"Accelerators: +(.+)", text):
        facts["accelerators"] = match[1].split(" | ")
    elif "Graph: [" in text:
        facts["accelerators"] = ["GPU" if re.search(r"Use gpu: \[1\]", text) else "CPU"]
    if match := re.search(
        r"Replacing (\d+) out of (\d+) node\(s\) with delegate \((\w+)\) node, yielding (\d+) partitions",
        text,
    ):
        facts |= dict(
            zip(("nodes_delegated", "nodes_total", "delegate", "partitions"), match.groups(), strict=True)
        )
    for label, name in _LABELS.items():
        if match := re.search(rf"{re.escape(label)}: +{_NUMBER}(?: ms)?(?: \((\d+) runs\))?", text):
            facts[name] = float(match[1])
            if match[2]:
                facts["num_runs" if "Inference" in label else "num_warmup_runs"] = int(match[2])
    # Two such lines: of the warm-up, and of the runs that count. Those of the op profiler look alike.
    counts = re.findall(r"(?<!\(microseconds\): )(?<!\(bytes\): )\bcount=(\d+)(.*)", text)
    if counts and (ends or "tool" in facts):
        facts["num_runs"] = int(counts[-1][0])
        facts |= _in_ms(re.findall(rf"(\w+)={_NUMBER}", counts[-1][1]), _STATISTICS)
    if ends:
        facts |= _in_ms(re.findall(rf"([A-Z][a-z ]+(?:\(avg\))?|no stats): {_NUMBER}", ends[0]), _TIMINGS)
    return facts


def _in_ms(microseconds, names):
    return {names[label]: float(value) / 1000 for label, value in microseconds if label in names}


def _amount(name, value):
    """The number that a fact is, which none of the tools has below 0."""
    try:
        found = float(value)
    except (ValueError, TypeError, OverflowError):
        raise InputError(f"{name} is {str(value)[:40]!r}, and a number is needed") from None
    if not 0 <= found < _MOST:
        raise InputError(f"{name} is {str(value)[:40]}, which cannot be")
    return found


def _model(facts, file_name):
    """The tool's name and a model of the report; None stands for what is not among the facts."""
    tool = facts.get("tool", "benchmark_model")
    accelerators = [name.lower() for name in facts.get("accelerators", ())]
    delegate = facts.get("delegate")
    used = next((kind for name, kind in _DELEGATES.items() if name in (delegate or "")), None)
    if accelerators == ["cpu"]:
        used = "cpu"

    def number(name, scale=1.0, kind=float):
        value = facts.get(name)
        return None if value is None else kind(scale * _amount(name, value))

    def size(name):
        return number(f"{name}_kb", 2**10, round) or number(f"{name}_mb", 2**20, round)

    memory = {
        "init_bytes": size("init_footprint"),
        "overall_bytes": size("overall_footprint"),
        "peak_bytes": size("peak_mem"),
    }
    return tool, {
        "name": pathlib.PurePath(facts.get("graph", file_name)).name,
        "bytes": number("model_size_mib", 2**20, round) or number("model_size_mb", 1e6, round),
        "sha256": None,
        "runtime": {
            "name": "LiteRT CompiledModel" if tool == "litert-benchmark" else "TFLite Interpreter",
            "version": None,
        },
        "threads": {"requested": number("num_threads", 1, int), "used": None, "busy_cores": None},
        "accelerator": {
            "requested": accelerators[0] if accelerators else None,
            "used": used,
            "delegate": delegate,
            "partitions": number("partitions", 1, int),
            "nodes_delegated": number("nodes_delegated", 1, int),
            "nodes_total": number("nodes_total", 1, int),
        },
        **dict.fromkeys(("inputs", "outputs", "input_range")),
        "init_ms": number("init_ms"),
        "first_inference_ms": number("first_inference_ms"),
        "warmup_mean_ms": number("average_warm_up_ms"),
        "blocks_ms": None,
        "latency_ms": {
            "count": number("num_runs", 1, int),
            "p5": number("p5_ms"),
            "p50": number("median_ms"),
            "p90": None,
            "p95": number("p95_ms"),
            "p99": None,
            "min": number("min_ms"),
            "mean": number("avg_ms"),
            "max": number("max_ms"),
            "std": number("stddev_ms"),
        },
        "memory": memory if any(memory.values()) else None,
        "metrics": {},
    }

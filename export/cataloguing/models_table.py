"""Converts, inspects and times every registered model, and writes the table of all."""

import fnmatch
import pathlib
import sys
import time

import ai_edge_litert
import keras
import numpy as np

from hsvit_keras import create_model, list_models
from hsvit_keras.artifacts.lowering import lower
from hsvit_keras.artifacts.tflite_conversion import convert
from hsvit_keras.compression.counting import count_parameters
from hsvit_keras.models.registry import registered
from hsvit_runtime import files, inspection, json_files, outputs
from hsvit_runtime.errors import InputError
from hsvit_runtime.json_schemas import AMOUNT, TEXT, array, count, mapping, or_null, record
from hsvit_runtime.tflite_model import TFLiteModel
from measuring import device, latency_statistics, timing

REFERENCE = "deit_tiny"
PRESETS = ("float32", "dynamic")
THREADS, WARMUP = 1, 1
_HEADING = b"# Models\n"
_OF_PRESET = record(
    bytes=count(0, 10**15),
    partitions=or_null(count()),
    undelegated_ops=array(record(op=TEXT, count=count(), reason=TEXT)),
    latency_ratio=record(value=AMOUNT),
)
_NUMBERS = mapping(  # of the file beside the table: the rows of `examine`
    record(
        **{"class": TEXT, **{preset: _OF_PRESET for preset in PRESETS}},
        paper=TEXT,
        link=TEXT,
        input=array(count(1)),
        classes=count(1),
        parameters=count(0, 10**15),
        macs=count(0, 10**18),
        device=record(
            cpu=or_null(TEXT), litert_version=TEXT, threads=count(1), other_load_cores=or_null(AMOUNT)
        ),
    )
)
_PAGE = outputs.Kind("table of models", ".md", lambda path: path.read_bytes().startswith(_HEADING))


def listed_models():
    """Names of the models in the table: those of one image and of one output, sorted.

    Detectors and models of clips have tables of their own, in docs/deformable_detr.md and docs/video.md.
    """
    return [
        name
        for name in list_models()
        if registered(name).model_class.task in ("classification", "segmentation")
    ]


def write(output, patterns=("*",), *, again=False, blocks=5, runs=3):
    """Writes the table, and the numbers behind it after each model.

    Args:
        output: str or path of the table, a `.md` file; a `.json` of the same name holds the numbers.
        patterns: list of str, names of models or patterns, in the order in which they are examined.
        again: bool, whether to examine models that are in the table again.
        blocks: int, blocks of timed runs for each artifact.
        runs: int, timed runs in a block.

    Raises:
        InputError: a pattern matches no model, or the numbers are damaged.
        OSError: a file cannot be read or written.
    """
    output = pathlib.Path(output)
    outputs.check(output, _PAGE)
    numbers, names = output.with_suffix(".json"), listed_models()
    known = {name: row for name, row in _read(numbers).items() if name in names}
    wanted = [name for name in _matching(patterns, names) if again or name not in known]
    with files.replacing(output) as temporary:  # a bad place for it shows before the time is spent
        for name, row in examine(wanted, blocks=blocks, runs=runs):
            known = dict(sorted({**known, name: row}.items()))
            files.write_json(numbers, known)
        temporary.write_text(markdown(known))
    print(f"wrote {output}: {len(known)} of {len(names)} models")


def _matching(patterns, listed):
    """The names that patterns stand for, in the order of the patterns."""
    names = {}
    for pattern in patterns:
        matching = fnmatch.filter(listed, pattern)
        if not matching:
            raise InputError(
                f"no model of images matches --models={pattern}; hsvit_keras.list_models() has all names"
            )
        names |= dict.fromkeys(matching)
    return list(names)


def _read(path):
    if not path.exists():
        return {}
    try:
        return json_files.read(path, _NUMBERS)
    except InputError as error:
        raise InputError(
            f"{error}: it is no table of models, and would be lost; choose another output, or remove it to "
            "examine all models again"
        ) from error


# ---- what is found ---------------------------------------------------------------------------------
def examine(names, *, blocks, runs):
    """Examines models one after the other, and prints a line for each.

    Args:
        names: list of names of registered models.
        blocks: int, blocks of timed runs for each artifact.
        runs: int, timed runs in a block.

    Yields:
        pairs of a name and its row, the dict of `facts` with, for each of `PRESETS`, the
        `latency_ratio` to `REFERENCE`; `device` says where that was measured.
    """
    reference = _opened(facts(REFERENCE)[1]) if names else {}
    for number, name in enumerate(names, 1):
        start = time.perf_counter()
        row, contents = facts(name)
        row["device"] = _time(row, _opened(contents), reference, blocks, runs)
        print(f"[{number} of {len(names)}] {_line(name, row)} ({time.perf_counter() - start:.0f} s)")
        sys.stdout.flush()
        yield name, row


def facts(name):
    """What a model is, and its artifacts.

    Args:
        name: str, a registered model.

    Returns:
        dict with `class`, `paper`, `link`, `input` (height, width, channels), `classes`, `parameters`,
        `macs` and, for each of `PRESETS`, a dict `{bytes, partitions, undelegated_ops}`; and a dict from
        preset to the bytes of the artifact.
    """
    keras.utils.clear_session()  # frees the last model
    model = create_model(name)
    row = {
        **origin(type(model)),
        "input": list(model.input_shape[1:]),
        "classes": model.output_shape[-1],
        "parameters": count_parameters(model),
    }
    lowered = lower(model)
    contents = {preset: convert(lowered, preset) for preset in PRESETS}
    found = {preset: inspection.inspect(content) for preset, content in contents.items()}
    row["macs"] = found["float32"]["total_macs"]
    for preset in PRESETS:
        row[preset] = {key: found[preset][key] for key in ("bytes", "partitions", "undelegated_ops")}
    return row, contents


def origin(model_class):
    """Name, paper and link of a class: the first line of its module is `paper, link`."""
    first_line = sys.modules[model_class.__module__].__doc__.splitlines()[0]
    paper, link = first_line.rstrip(".").rsplit(", ", 1)
    return {"class": model_class.__name__, "paper": paper, "link": link}


def _opened(contents):
    return {preset: TFLiteModel(content, threads=THREADS) for preset, content in contents.items()}


def _time(row, candidate, reference, blocks, runs):
    """Adds the latency ratios to `row`; returns what the machine is."""
    in_turn = [model for preset in PRESETS for model in (reference[preset], candidate[preset])]
    load = device.OtherLoad()
    timings = timing.time_interleaved(
        [_function(model) for model in in_turn], blocks=blocks, runs=runs, warmup=WARMUP
    )
    for preset, one, other in zip(PRESETS, timings[::2], timings[1::2], strict=True):
        row[preset]["latency_ratio"] = latency_statistics.ratio_of_medians(one.blocks_ms, other.blocks_ms)
    return {
        "cpu": device.describe()["cpu"]["name"],
        "litert_version": ai_edge_litert.__version__,
        "threads": THREADS,
        "other_load_cores": load.cores(),
    }


def _function(model):
    (tensor,) = model.inputs
    inputs = {tensor.name: np.random.default_rng(0).random(tensor.shape, dtype="float32")}
    return lambda: model.run(inputs)


# ---- for people ------------------------------------------------------------------------------------
_TITLE = """# Models

The models of images that `hsvit_keras.list_models()` names, in their papers' sizes and with fresh weights;
detectors are in [deformable_detr.md](deformable_detr.md), models of clips in [video.md](video.md). Written by
`python -m export.catalog`; the `.json` file of the same name has all digits, and intervals of the latencies.

- Input: height x width x channels. Parameters: trainable ones. MACs: multiply-adds of the `float32` artifact
  for one image.
- Size: of the artifacts of the presets `float32` and `dynamic`, in MB (1,000,000 bytes).
- Partitions: pieces that XNNPACK runs, `float32` and `dynamic`; in one piece is best.
- Latency: median of each artifact over that of `deit_tiny` in the same preset, measured in turn, {threads},
  on {machines}, where other processes kept {load} busy. The row of `deit_tiny`,
  measured against itself, shows how precise the others are.
"""
_COLUMNS = (
    "model", "input", "classes", "parameters", "MACs", "size, `float32`", "size, `dynamic`", "partitions",
    "latency, `float32`", "latency, `dynamic`",
)  # fmt: skip


def markdown(rows):
    """The table as text.

    Args:
        rows: dict from name to the row of `examine`.

    Returns:
        str.
    """
    families = {}
    for name in sorted(rows):
        families.setdefault(rows[name]["class"], []).append(name)
    sections = [_section({name: rows[name] for name in names}) for names in families.values()]
    return "\n".join([_title(rows), *sections])


def _title(rows):
    devices = [row["device"] for row in rows.values()]
    machines = sorted({f"{device['cpu']}, LiteRT {device['litert_version']}" for device in devices})
    threads = sorted({device["threads"] for device in devices})
    loads = [device["other_load_cores"] for device in devices if device["other_load_cores"] is not None]
    return _TITLE.format(
        machines="; ".join(machines) or "no machine yet",
        threads=" or ".join(f"{count} thread{'s' * (count > 1)}" for count in threads),
        load=f"{np.mean(loads):.1f} CPU cores" if loads else "an unknown number of CPU cores",
    )


def _section(rows):
    first = next(iter(rows.values()))
    lines = [f"## {first['paper']}", "", f"<{first['link']}>, class `{first['class']}`", ""]
    lines += ["| " + " | ".join(_COLUMNS) + " |", "| --- " * len(_COLUMNS) + "|"]
    lines += ["| " + " | ".join(_cells(name, row)) + " |" for name, row in rows.items()]
    notes = [note for name, row in rows.items() for note in _left_out(name, row)]
    return "\n".join([*lines, *([""] if notes else []), *notes, ""])


def _cells(name, row):
    artifacts = [row[preset] for preset in PRESETS]
    return (
        f"`{name}`",
        " x ".join(map(str, row["input"])),
        str(row["classes"]),
        f"{row['parameters']:,}",
        f"{row['macs'] / 1e6:,.1f} M",
        *(f"{artifact['bytes'] / 1e6:.2f}" for artifact in artifacts),
        ", ".join(str(artifact["partitions"]) for artifact in artifacts),
        *(_ratio(artifact["latency_ratio"]["value"]) for artifact in artifacts),
    )


def _ratio(value):
    return f"{value:.1f}" if value >= 1 else f"{value:#.2g}"


def _left_out(name, row):
    """Why an artifact has more than one partition."""
    for preset in PRESETS:
        ops = [f"{op['count']} {op['op']} ({op['reason']})" for op in row[preset]["undelegated_ops"]]
        if ops:
            yield f"- `{name}`, `{preset}`: XNNPACK leaves out {', '.join(ops)}."


def _line(name, row):
    """A row in a few words."""
    parts = [f"{name}: {row['parameters'] / 1e6:.1f} M parameters, {row['macs'] / 1e6:,.0f} M MACs"]
    for preset in PRESETS:
        ratio = _ratio(row[preset]["latency_ratio"]["value"])
        parts.append(f"{preset} {row[preset]['partitions']} partition(s), {ratio} x {REFERENCE}")
    return "; ".join(parts)

"""Makes one .tflite file of an HSViT that answers with few groups or with all, as there is time.

    python -m export.elastic --model=M.keras --groups=4,8,16 --preset=dynamic --output=M.tflite

Each number of groups is a signature of the file, such as `groups_4`, and all have the same weights, which are
stored once. `export.serving.elastic` picks one for each image by a latency budget. A model trained with
`group_dropout` answers best with few of its groups.
"""

import hashlib
import pathlib

import numpy as np
from absl import flags

from command_line import commands
from export import tflite
from hsvit_keras.artifacts import writing
from hsvit_keras.backends import require_backend
from hsvit_runtime import files, model_files
from hsvit_runtime.errors import InputError
from hsvit_runtime.litert import signatures

FLAGS = flags.FLAGS
INPUT, OUTPUT = "image", "logits"


def define_flags():
    writing.define_flags()
    tflite.define_preset_flags()
    flags.DEFINE_list("groups", None, "How many groups answer, from few to all.", required=True)


def main(_):
    groups = commands.integers("groups", FLAGS.groups)
    calibration = tflite.calibration_of_flags()
    report = export(writing.request_of_flags(), groups, FLAGS.preset, FLAGS.runtime, calibration)
    print(f"wrote {FLAGS.output}: {report['preset']}, {len(groups)} signatures")
    print(table(report))


def export(request, groups, preset="dynamic", runtime=None, calibration=None):
    """Writes the artifact with its report.

    Args:
        request: `writing.Request`.
        groups: list of int, rising numbers of groups; the last is all of them.
        preset: str, one of `tflite.PRESETS`.
        runtime: str such as "2.16", the oldest runtime that has to load it; the current one by default.
        calibration: `tflite.Calibration`, for int8.

    Returns:
        dict, the report that was written.

    Raises:
        ValueError: the model or the numbers do not fit, or a signature answers differently from Keras.
        OSError: a file cannot be read or written.
    """
    require_backend("tensorflow")
    from hsvit_keras.artifacts.lowering import lower
    from hsvit_keras.compression.sharding import cut, join, num_groups_of

    oldest, output = tflite.version(runtime), pathlib.Path(request.output)
    if output.suffix != ".tflite":
        raise InputError(f"the output's name has to end in .tflite; received output={request.output}")
    if request.batch != 1:
        raise InputError(f"an elastic model answers one image at a time; received batch={request.batch}")
    model = writing.in_float32(model_files.load_model(request.model))
    _check_groups(groups, num_groups_of(model), request.model)
    mean, std = writing.normalization_of(request, model)
    names = writing.class_names(request.labels or model_files.labels_beside(request.model), model)
    # Parts between the numbers, so that more groups are more parts and none has weights of its own twice.
    parts, head = cut(model, np.diff([0, *groups]).tolist())
    if preset == "int8":
        parts = [tflite.with_ranges(part, request, calibration, mean, std) for part in parts]
    inside = {"mean": mean, "std": std} if request.pixels else {}
    lowered = [lower(part, 1, **inside) for part in parts]
    described, contents = [], {}
    for count, number in enumerate(groups, 1):
        name = f"groups_{number}"
        # What the parts share, the converter finds and computes once.
        content = tflite.convert(join(lowered[:count], head, batch_size=1), preset, oldest)
        facts = _facts(content, runtime)
        parity = writing.compare(request, join(parts[:count], head), tflite.runner(content), mean, std)
        writing.check_parity(parity, tflite.PRESETS[preset].limits)
        described.append({"signature": name, "groups": number, **facts, "parity": parity})
        contents[name] = content
    content = signatures.join(contents, [INPUT], [OUTPUT])
    report = {
        "artifact": output.name,
        "model": str(request.model),
        "preset": preset,
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "input": {"pixels": request.pixels, "mean": mean, "std": std, "shape": [1, *model.input_shape[1:]]},
        "labels": names,
        "signatures": _timed(described, content),
    }
    described_in = writing.report_of(output)
    with files.replacing(output) as artifact, files.replacing(described_in) as description:
        artifact.write_bytes(content)
        files.write_json(description, report)
    return report


def _check_groups(groups, num_groups, path):
    if groups != sorted(set(groups)) or groups[0] < 1 or groups[-1] != num_groups:
        raise InputError(
            f"--groups has to be rising numbers from 1 to {num_groups}, the groups of {path}, "
            f"which come last; received {','.join(map(str, groups))}"
        )


def _facts(content, runtime):
    """What is to say of the file of a signature."""
    found = tflite.facts_of(content, runtime)
    kept = {key: found[key] for key in ("bytes", "partitions", "fully_delegated", "minimum_runtime")}
    return {"multiply_adds": found["total_macs"], **kept}


def _timed(described, content):
    """The signatures with their median latency, all timed in turn."""
    from export.serving.elastic import Elastic
    from measuring import timing

    elastic = Elastic(content)
    image = np.zeros(elastic.input_shape, "float32")
    functions = [lambda groups=entry["groups"]: elastic.run(groups, image) for entry in described]
    timed = timing.time_interleaved(functions, blocks=20, runs=10, warmup=2)
    medians = [float(np.median(one.blocks_ms)) for one in timed]
    return [
        {**entry, "p50_ms": median, "ratio": median / medians[-1]}
        for entry, median in zip(described, medians, strict=True)
    ]


def table(report):
    """The signatures in lines, and what the file would be without its common weights."""
    lines = [f"{'signature':>10} {'M MACs':>8} {'kB alone':>9} {'p50 ms':>8} {'ratio':>6} {'accuracy':>8}"]
    for row in report["signatures"]:
        accuracy = row["parity"]["accuracy"]
        lines.append(
            f"{row['signature']:>10} {row['multiply_adds'] / 1e6:8.2f} {row['bytes'] / 1e3:9.1f} "
            f"{row['p50_ms']:8.3f} {row['ratio']:6.2f} "
            + ("       -" if accuracy is None else f"{accuracy:8.2%}")
        )
    apart = sum(row["bytes"] for row in report["signatures"])
    lines.append(f"one file: {report['bytes'] / 1e3:,.1f} kB; {apart / 1e3:,.1f} kB as files apart")
    return "\n".join(lines)


if __name__ == "__main__":
    define_flags()
    commands.run(main)

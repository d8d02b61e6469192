"""One `.tflite` file of an HSViT with a signature for each number of groups, and its weights stored once."""

import hashlib
import pathlib

import numpy as np

from command_line.tables import table as text_table
from export.serving.elastic_model import ElasticModel
from export.sharding.requests import check_with_original, parity_of
from hsvit_keras.artifacts import comparison
from hsvit_keras.artifacts.keras_model import predict
from hsvit_keras.artifacts.lowering import lower
from hsvit_keras.artifacts.tflite_conversion import convert
from hsvit_keras.artifacts.writing import report_of, tflite_facts
from hsvit_keras.compression.sharding import cut, join, num_groups_of
from hsvit_keras.layers.model_description import description_of
from hsvit_runtime import files
from hsvit_runtime.errors import InputError
from hsvit_runtime.litert import signatures
from hsvit_runtime.presets import PRESETS
from hsvit_runtime.tflite_model import TFLiteModel
from measuring import timing

INPUT, OUTPUT = "image", "logits"


def write(request, groups, output):
    """Writes the artifact with its report.

    Args:
        request: `export.sharding.requests.Request`.
        groups: list of int, rising numbers of groups; the last is all of them.
        output: str or path of the `.tflite` file.

    Returns:
        dict, the report that was written.

    Raises:
        InputError: the model or the numbers do not fit, or a signature computes something else than Keras.
        OSError: a file cannot be written.
    """
    output, model = pathlib.Path(output), request.model
    if output.suffix != ".tflite":
        raise InputError(f"the output's name has to end in .tflite; received {output}")
    _check_groups(groups, num_groups_of(model), model.name)
    # Parts between the numbers, so that more groups are more parts and none has weights of its own twice.
    parts, head = cut(model, np.diff([0, *groups]).tolist())
    originals, parts = parts, request.with_ranges(parts)
    lowered = [lower(part) for part in parts]
    described, contents = [], {}
    for count, number in enumerate(groups, 1):
        name = f"groups_{number}"
        # What the parts share, the converter finds and computes once.
        content = convert(join(lowered[:count], head, batch_size=1), request.preset, runtime=request.runtime)
        expected = predict(join(parts[:count], head), {INPUT: request.samples.inputs})
        parity = parity_of(request, expected, TFLiteModel(content).predict_only)
        comparison.check(parity, PRESETS[request.preset].limits)
        check_with_original(request, join(originals[:count], head), TFLiteModel(content).predict_only)
        facts = _facts(content, request.runtime)
        described.append({"signature": name, "groups": number, **facts, "parity": parity})
        contents[name] = content
    content = signatures.join(contents, [INPUT], [OUTPUT])
    class_names = description_of(model).class_names
    report = {
        "artifact": output.name,
        "model": model.name,
        "preset": request.preset,
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "input": {"shape": [1, *model.input_shape[1:]], "range": list(request.input_range)},
        "class_names": None if class_names is None else list(class_names),
        "signatures": _timed(described, content),
    }
    with files.replacing(output) as artifact, files.replacing(report_of(output)) as description:
        artifact.write_bytes(content)
        files.write_json(description, report)
    return report


def _check_groups(groups, num_groups, name):
    if groups != sorted(set(groups)) or groups[0] < 1 or groups[-1] != num_groups:
        raise InputError(
            f"--groups has to be rising numbers from 1 to {num_groups}, the groups of {name!r}, "
            f"which come last; received {','.join(map(str, groups))}"
        )


def _facts(content, runtime):
    """What the report says of the file of a signature."""
    found = tflite_facts(content, runtime)
    kept = {key: found[key] for key in ("bytes", "partitions", "fully_delegated", "minimum_runtime")}
    return {"multiply_adds": found["total_macs"], **kept}


def _timed(described, content):
    """The signatures with their median latency, all timed in turn."""
    elastic = ElasticModel(content)
    image = np.zeros(elastic.input_shape, "float32")
    functions = [lambda groups=entry["groups"]: elastic.run(groups, image) for entry in described]
    timed = timing.time_interleaved(functions, blocks=20, runs=10, warmup=2)
    medians = [float(np.median(one.blocks_ms)) for one in timed]
    return [
        {**entry, "p50_ms": median, "ratio": median / medians[-1]}
        for entry, median in zip(described, medians, strict=True)
    ]


def table(report):
    """The signatures as text, and what they would be as files of their own."""
    rows = [
        [
            row["signature"],
            f"{row['multiply_adds'] / 1e6:.2f}",
            f"{row['bytes'] / 1e3:.1f}",
            f"{row['p50_ms']:.3f}",
            f"{row['ratio']:.2f}",
            *(f"{value:.2%}" for value in row["parity"]["metrics"].values()),
        ]
        for row in report["signatures"]
    ]
    columns = ["signature", "M MACs", "kB alone", "p50 ms", "ratio"]
    columns += list(report["signatures"][0]["parity"]["metrics"])
    apart = sum(row["bytes"] for row in report["signatures"])
    return (
        f"{text_table(columns, rows)}\n"
        f"one file: {report['bytes'] / 1e3:,.1f} kB; {apart / 1e3:,.1f} kB as files of their own"
    )

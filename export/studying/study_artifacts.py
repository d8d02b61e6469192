"""Converts, compares and times the models of a study of compression."""

import itertools
import pathlib
import re

from command_line.tables import table as text_table
from data_sets import load_dataset, sample_images
from export.benchmarking import comparing
from hsvit_keras.artifacts import Samples, to_tflite
from hsvit_keras.compression.quantization import is_quantized
from hsvit_keras.layers.model_description import description_of
from hsvit_keras.model_files import load_model
from hsvit_keras.tasks import task_named
from hsvit_runtime import files, json_files
from hsvit_runtime.errors import InputError
from hsvit_runtime.json_schemas import TEXT, array, record

_STUDY = record(rows=array(record(model=TEXT, chain=TEXT, file=TEXT)))
_NAME = re.compile(r"[\w ,.=()-]+")  # what becomes part of a file's name


def study(path, data_dir=None, *, blocks=20, runs=10):
    """Converts, compares and measures the models of a study.

    Args:
        path: path of the study.json.
        data_dir: folder of the data set; "digits" needs none.
        blocks: int, blocks of runs for each artifact.
        runs: int, timed runs in a block.

    Returns:
        dict of `task` and `device`; `refused`, a list of artifacts that were not made, with the `reason`; and
        `rows`, a dict for each artifact: its `model`, `chain`, `preset` and `file`; the task's metric on the
        test part; `points`, how much of that metric is lost against the original in Keras, in percentage
        points where it is a share; `agreement` with the Keras model that it was made from; `bytes`; `p50_ms`;
        and `ratio` of that latency to the one of the original's float32 artifact.

    Raises:
        InputError: the study is damaged, or an original cannot be converted.
        OSError: a file is not there.
    """
    path = pathlib.Path(path)
    models, rows, refused = _models(path), [], []
    with files.making_folder(path.with_name("artifacts")):
        for studied in models:
            tried = [artifact for row in studied for artifact in _artifacts(row, path, data_dir)]
            made = [artifact for artifact in tried if "reason" not in artifact]
            refused += [artifact for artifact in tried if "reason" in artifact]
            measured = comparing.measure(
                [artifact["file"] for artifact in made],
                blocks=blocks,
                runs=runs,
                samples=0,
                data_dir=data_dir,
            )
            rows += _rows(made, measured, studied[0])
            report = {
                "task": measured["task"],
                "device": measured["device"],
                "rows": rows,
                "refused": refused,
            }
            files.write_json(report_beside(path), report)
    return report


def _rows(made, measured, original):
    """The report's rows of the artifacts of one model.

    Args:
        made: list of dicts of `_artifacts`, the original's float32 first.
        measured: dict, the benchmark report of these artifacts.
        original: dict, the study's row of the original.
    """
    metric = task_named(measured["task"]["name"]).metric
    ratios = {pair["mobile"]: pair["ratio"] for pair in measured["pairs"]}
    rows = []
    for artifact, model in zip(made, measured["models"], strict=True):
        value = model["metrics"][metric.name]
        rows.append(
            {
                **artifact,
                "file": str(artifact["file"]),
                metric.name: value,
                "points": round(metric.loss_in_points(original[metric.name], value), 4),
                "p50_ms": model["latency_ms"]["p50"],
                "ratio": ratios.get(model["name"], {"value": 1.0, "low": 1.0, "high": 1.0}),
            }
        )
    return rows


def table(report):
    """The rows of a report of `study` as text."""
    task = task_named(report["task"]["name"])
    columns = ["model", "chain", "preset", task.metric.title.lower(), "points"]
    columns += [task.agreement.title.lower(), "kB", "latency [low, high]"]
    rows = [
        [
            row["model"],
            row["chain"],
            row["preset"],
            task.metric.format(row[task.metric.name]),
            f"{0 - row['points']:+.2f}",
            task.agreement.format(row["agreement"]),
            f"{row['bytes'] / 1e3:.1f}",
            f"{row['ratio']['value']:.2f} [{row['ratio']['low']:.2f}, {row['ratio']['high']:.2f}]",
        ]
        for row in report["rows"]
    ]
    return text_table(columns, rows)


def _models(path):
    """The rows of a study: a list for each model, its original first."""
    rows = json_files.read(path, _STUDY, "study of training.compression_study")["rows"]
    names = dict.fromkeys(row["model"] for row in rows)
    models = [[row for row in rows if row["model"] == name] for name in names]
    models = [sorted(studied, key=lambda row: row["chain"] != "original") for studied in models]
    if not models or any(studied[0]["chain"] != "original" for studied in models):
        raise InputError(f"{path} is no study of training.compression_study: it lacks an original")
    for row in itertools.chain(*models):
        if not all(_NAME.fullmatch(str(row[key])) for key in ("model", "chain")):
            raise InputError(f"{path}: files cannot be named after {row['model']!r}, {row['chain']!r}")
    return models


def _artifacts(row, path, data_dir):
    """Makes the artifacts of a row of the study; yields what each of them is, or why it was refused."""
    model = load_model(row["file"])
    if row["chain"] == "original":
        presets = ("float32", "float16", "dynamic")
    else:
        presets = ("int8",) if is_quantized(model) else ("float32", "dynamic")
    samples = _all_samples(model, data_dir)
    for preset in presets:
        name = f"{row['model']}_{row['chain'].replace(' ', '_')}_{preset}.tflite"
        file = path.with_name("artifacts") / name
        facts = {"model": row["model"], "chain": row["chain"], "preset": preset}
        try:
            report = to_tflite(model, file, preset=preset, samples=samples)
        except InputError as refusal:
            if preset == "float32":
                raise
            print(f"{name}: refused", flush=True)
            yield {**facts, "reason": str(refusal)}
            continue
        agreement = task_named(report["description"]["task"]).agreement
        value = report["parity"][agreement.name]
        print(f"{name}: {agreement.title.lower()} as in Keras {agreement.format(value)}", flush=True)
        yield {**facts, "agreement": value, "bytes": report["bytes"], "file": file}


def _all_samples(model, data_dir):
    """The whole test part of the model's data set."""
    description = description_of(model)
    dataset = load_dataset(description.data_set, "test", data_dir)
    inputs, labels = sample_images(
        dataset,
        len(dataset),
        image_shape=model.inputs[0].shape[1:],
        input_range=description.input_range,
    )
    return Samples(inputs, labels, dataset.name)


def report_beside(path):
    """Where the report of a study's artifacts goes."""
    return pathlib.Path(path).with_name("artifacts.json")

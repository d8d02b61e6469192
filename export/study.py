"""The artifacts of a study of compression: do they answer as their Keras models, and how fast are they?

    python -m export.study --study=DIR/study.json

Reads what `training.compression_study` wrote. Each original is converted with the presets float32, float16
and dynamic, each compressed model with float32 and dynamic, or with int8 where it is quantized. All artifacts
of a model are timed in turn, in one run, against the original's float32. Beside the study come the folder
`DIR/artifacts` and `DIR/artifacts.json`, which also names artifacts that answered too differently.
"""

import json
import pathlib

from absl import flags

from command_line import commands
from export import benchmark, tflite
from hsvit_keras.artifacts import writing
from hsvit_runtime import files, model_files
from hsvit_runtime.errors import InputError

FLAGS = flags.FLAGS

_ALL = 10**9  # more images than a test part has


def define_flags():
    flags.DEFINE_string("study", None, "The study.json of training.compression_study.", required=True)
    flags.DEFINE_string("data_dir", None, "Folder of the image set.")
    flags.DEFINE_integer("blocks", 20, "Blocks of runs for each artifact.", lower_bound=2)
    flags.DEFINE_integer("runs", 10, "Timed runs in a block.", lower_bound=1)


def main(_):
    report = study(FLAGS.study, FLAGS.data_dir, blocks=FLAGS.blocks, runs=FLAGS.runs)
    print(table(report["rows"]))
    for one in report["refused"]:
        print(f"refused: {one['model']}, {one['chain']}, {one['preset']}: {one['reason']}")
    print(f"wrote {_beside(FLAGS.study)}")


def study(path, data_dir=None, *, blocks=20, runs=10):
    """Converts, compares and measures the models of a study.

    Args:
        path: path of the study.json.
        data_dir: folder of the image set; "digits" needs none.
        blocks: int, blocks of runs for each artifact.
        runs: int, timed runs in a block.

    Returns:
        dict of `device`; `refused`, a list of artifacts that were not made, with the `reason`; and `rows`:
        for each artifact its `model`, `chain`, `preset`, `accuracy` on the test images, `points` lost to the
        Keras original, `agreement` with the Keras model it was made of, `bytes`, and `ratio` of its median
        latency to that of the original's float32 artifact.

    Raises:
        ValueError: the study is damaged, or an original cannot be converted.
        OSError: a file is not there.
    """
    rows, refused, device = [], [], None
    pathlib.Path(path).with_name("artifacts").mkdir(exist_ok=True)
    for originals_first in _models(path):
        tried = [artifact for row in originals_first for artifact in _artifacts(row, path, data_dir)]
        made = [artifact for artifact in tried if "reason" not in artifact]
        refused += [artifact for artifact in tried if "reason" in artifact]
        measured = benchmark.measure(
            [artifact["file"] for artifact in made],
            blocks=blocks, runs=runs, images=0, data_dir=data_dir, **_images_of(originals_first[0]),
        )  # fmt: skip
        device = measured["device"]
        ratios = {pair["mobile"]: pair["ratio"] for pair in measured["pairs"]}
        for artifact, model in zip(made, measured["models"], strict=True):
            ratio = ratios.get(model["name"], {"value": 1.0, "low": 1.0, "high": 1.0})
            points = 100 * (originals_first[0]["accuracy"] - model["accuracy"])
            rows.append(
                {
                    **artifact,
                    "file": str(artifact["file"]),
                    "accuracy": model["accuracy"],
                    "points": round(points, 4),
                    "p50_ms": model["latency_ms"]["p50"],
                    "ratio": ratio,
                }
            )
        report = {"device": device, "rows": rows, "refused": refused}
        files.write_json(_beside(path), report)
    return report


def table(rows):
    """The rows in lines."""
    columns = f"{'accuracy':>8} {'points':>7} {'as Keras':>8} {'kB':>7} {'latency':>20}"
    lines = [f"{'model':16} {'':20} {'preset':8} {columns}"]
    for row in rows:
        low, high = (row["ratio"][key] for key in ("low", "high"))
        latency = f"{row['ratio']['value']:.2f} [{low:.2f}, {high:.2f}]"
        lines.append(
            f"{row['model']:16} {row['chain']:20} {row['preset']:8} {row['accuracy']:8.2%} "
            f"{0 - row['points']:+7.2f} {row['agreement']:8.2%} {row['bytes'] / 1e3:7.1f} {latency:>20}"
        )
    return "\n".join(lines)


def _models(path):
    """The rows of a study, a list for each model, its original first."""
    try:
        rows = json.loads(pathlib.Path(path).read_text())["rows"]
        names = dict.fromkeys(row["model"] for row in rows)
        grouped = [[row for row in rows if row["model"] == name] for name in names]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} is no study of training.compression_study: {error!r}") from error
    return [sorted(group, key=lambda row: row["chain"] != "original") for group in grouped]


def _artifacts(row, path, data_dir):
    """Makes the artifacts of a row of the study, and tells what each of them is."""
    from hsvit_keras.compression.quantization import is_quantized

    if row["chain"] == "original":
        presets = ("float32", "float16", "dynamic")
    else:
        quantized = is_quantized(model_files.load_model(row["file"]))
        presets = ("int8",) if quantized else ("float32", "dynamic")
    for preset in presets:
        name = f"{row['model']}_{row['chain'].replace(' ', '_')}_{preset}.tflite"
        file = pathlib.Path(path).with_name("artifacts") / name
        request = writing.Request(
            row["file"], str(file), data_dir=data_dir, samples=_ALL, data=_images_of(row)["data"]
        )
        facts = {"model": row["model"], "chain": row["chain"], "preset": preset}
        try:
            report = tflite.export(request, preset)
        except ValueError as refusal:
            if preset == "float32":
                raise
            print(f"{name}: refused", flush=True)
            yield {**facts, "reason": str(refusal)}
            continue
        print(f"{name}: same top-1 as Keras on {report['parity']['top1_agreement']:.2%}", flush=True)
        yield {
            **facts,
            "agreement": report["parity"]["top1_agreement"],
            "bytes": report["bytes"],
            "file": file,
        }


def _images_of(row):
    """The image set and the normalization of the run that trained a model."""
    values = model_files.run_config_beside(row["file"])
    return {name: values[name] for name in ("data", "mean", "std")}


def _beside(path):
    return pathlib.Path(path).with_name("artifacts.json")


if __name__ == "__main__":
    define_flags()
    commands.run(main)

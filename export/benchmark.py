"""How much faster a mobile artifact is than its original, and whether it still answers the same.

    python -m export.benchmark --original=model.keras --mobile=float32.tflite,dynamic.tflite --output=R.json

The files are models to measure on this machine (`.keras`, `.tflite`), or all of them are the saved
output of an official benchmark tool, one run each (see `official_tools.py`). The JSON follows
`benchmark.schema.json`.
"""

import functools
import hashlib
import importlib.metadata
import itertools
import pathlib
import platform
import sys

import numpy as np
from absl import flags

from command_line import commands
from hsvit_runtime import files, model_files, runners
from hsvit_runtime.errors import InputError
from measuring import benchmark_report, device, latency_statistics, official_tools, timing

FLAGS = flags.FLAGS

TIMED_PICTURES = 8


def define_flags():
    flags.DEFINE_string("original", None, "What to compare with: .keras, .tflite, or a tool's output.")
    flags.DEFINE_list("mobile", None, "What to compare with it, separated by commas.")
    flags.DEFINE_string("output", None, "JSON file to write.")
    flags.DEFINE_integer("blocks", 20, "Blocks of runs for each model.", lower_bound=1)
    flags.DEFINE_integer("runs", 10, "Timed runs in a block.", lower_bound=1)
    flags.DEFINE_integer("warmup", 3, "Runs before each block that do not count.", lower_bound=0)
    flags.DEFINE_float("cooldown", 0, "Pause before each block, seconds.", lower_bound=0)
    flags.DEFINE_integer("threads", 1, "CPU threads to ask for.", lower_bound=1)
    flags.DEFINE_string("data", "digits", "Image set whose test part is shown to the models.")
    flags.DEFINE_string("data_dir", None, "Folder of that image set.")
    flags.DEFINE_integer("images", 100, "Images to compare answers on; 0 for all.", lower_bound=0)
    flags.DEFINE_list(
        "mean", None, "Subtracted from pixels of 0..1 in training: one number or one a channel."
    )
    flags.DEFINE_list(
        "std", None, "Divided them after that. Both are read from config.json beside each .keras file."
    )
    flags.DEFINE_string("device", None, "Where an official tool's output comes from, for the report.")
    flags.mark_flags_as_required(["original", "mobile", "output"])


def main(_):
    paths = [pathlib.Path(path) for path in (FLAGS.original, *FLAGS.mobile)]
    if any(path.suffix == ".keras" for path in paths):
        commands.import_keras()
    with files.replacing(FLAGS.output) as temporary:  # a bad place for it shows before the time is spent
        if any(path.suffix in runners.SUFFIXES for path in paths):
            report = measure(
                paths,
                blocks=FLAGS.blocks,
                runs=FLAGS.runs,
                warmup=FLAGS.warmup,
                cooldown=FLAGS.cooldown,
                threads=FLAGS.threads,
                data=FLAGS.data,
                data_dir=FLAGS.data_dir,
                images=FLAGS.images,
                mean=FLAGS.mean and commands.numbers("mean", FLAGS.mean),
                std=FLAGS.std and commands.numbers("std", FLAGS.std),
            )
        else:
            report = official_tools.import_results(paths, device_name=FLAGS.device)
        files.write_json(temporary, report)
    print(table(report))
    print(f"wrote {FLAGS.output}")


def measure(
    paths,
    *,
    blocks=20,
    runs=10,
    warmup=3,
    cooldown=0.0,
    threads=1,
    data="digits",
    data_dir=None,
    images=100,
    mean=None,
    std=None,
):
    """Measures models against the first of them.

    Args:
        paths: list of paths of `.keras` and `.tflite` files, the original first.
        blocks: int. Blocks of runs for each model.
        runs: int. Timed runs in a block.
        warmup: int. Runs before each block that do not count.
        cooldown: float. Pause before each block, seconds.
        threads: int. CPU threads to ask for.
        data: str. An image set of `training.data`; its test part is shown to the models.
        data_dir: str, path or None. The folder with its files.
        images: int. Number of images to compare answers on; 0 for all.
        mean: float or list of floats, one for each channel. Subtracted from pixels of 0..1. By default
            that of the run which left the model; for a `.tflite` file, that of the first `.keras` file.
            What a converter's report says of a `.tflite` file goes before all of these.
        std: float or list of floats, one for each channel. Divides them after that. As `mean`.

    Returns:
        dict in the form of `benchmark.schema.json`.

    Raises:
        ValueError: a model is damaged, or the models differ in image size or number of classes.
        OSError: a model or the image set is not there.
    """
    before = device.state()
    names = _unique_names(paths)
    models = [
        runners.open_runner(path, threads=threads, **_normalization(path, paths, mean, std)) for path in paths
    ]
    _check_alike(names, models)
    dataset, pictures, labels = _load_pictures(data, data_dir, images, models[0].input_shape[1:])
    other_load = device.OtherLoad()
    timings = timing.time_interleaved(
        [_in_turn(model, pictures[:TIMED_PICTURES]) for model in models],
        blocks=blocks,
        runs=runs,
        warmup=warmup,
        cooldown=cooldown,
        progress=functools.partial(commands.show_progress, "block"),
    )
    other_load_cores = other_load.cores()
    answers = [_answers(model, pictures) for model in models]
    known_classes = len(dataset.class_names) == models[0].num_classes
    return benchmark_report.assemble(
        tool={"name": "export.benchmark", "version": _version("hsvit-keras")},
        settings={
            "blocks": blocks,
            "runs": runs,
            "warmup": warmup,
            "cooldown_s": cooldown,
            "threads": threads,
            "data": {"name": dataset.name, "split": dataset.split, "images": len(pictures)},
        },
        device={
            **device.describe(),
            "before": before,
            "after": device.state(),
            "other_load_cores": other_load_cores,
        },
        runtime=_runtime(),
        models=[
            {
                "name": name,
                "role": "original" if model is models[0] else "mobile",
                "bytes": path.stat().st_size,
                "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
                **_model_facts(model, threads, timed),
                "accuracy": latency_statistics.accuracy(answer, labels) if known_classes else None,
            }
            for name, path, model, timed, answer in zip(names, paths, models, timings, answers, strict=True)
        ],
        agreements={
            name: latency_statistics.agreement(answers[0], answer)
            for name, answer in zip(names[1:], answers[1:], strict=True)
            if np.isfinite(answers[0]).all() and np.isfinite(answer).all()
        },
        warnings=[*_answer_warnings(names, answers), *_normalization_warnings(names, models)],
    )


def _normalization(path, paths, mean, std):
    """Mean and std of one of the models: what was asked for, else what the run beside it tells."""
    keras_files = (other for other in (path, *paths) if other.suffix == ".keras")
    of_run = model_files.normalization_beside(next(keras_files, path))
    return {
        name: of_run[index] if value is None else value
        for index, (name, value) in enumerate((("mean", mean), ("std", std)))
    }


def _unique_names(paths):
    """File names, with their folders where the names alone are not unique."""
    names = [path.name for path in paths]
    names = names if len(set(names)) == len(names) else [str(path) for path in paths]
    if len(set(names)) < len(names):
        raise InputError(f"every model must be named once, got {', '.join(names)}")
    return names


def _check_alike(names, models):
    for name, model in zip(names, models, strict=True):
        for what, value, expected in (
            ("takes images", model.input_shape[1:], models[0].input_shape[1:]),
            ("has classes", model.num_classes, models[0].num_classes),
        ):
            if value != expected:
                raise InputError(f"{name} {what} {value}, but {names[0]} {expected}: nothing to compare")


def _load_pictures(name, data_dir, count, image_shape):
    """The data set, pictures (count, 1, H, W, C) of 0..1 and their labels (count,)."""

    dataset = data_sets.load_dataset(name, "test", data_dir)
    count = min(count or len(dataset), len(dataset))
    pictures, labels = data_sets.sample_images(dataset, count, image_shape=image_shape, mean=0.0, std=1.0)
    return dataset, pictures[:, np.newaxis], labels


def _in_turn(model, pictures):
    """A function that shows the model the next of the pictures each time."""
    prepared = itertools.cycle([model.prepare(picture) for picture in pictures])
    return lambda: model(next(prepared))


def _answers(model, pictures):
    return np.concatenate([model(model.prepare(picture)) for picture in pictures])


def _model_facts(model, threads, timed):
    blocks_ms = [[round(latency, 5) for latency in block] for block in timed.blocks_ms]
    return {
        "runtime": model.runtime,
        "threads": {"requested": threads, "used": model.threads_used, "busy_cores": timed.busy_cores},
        "accelerator": {"requested": "cpu", "used": "cpu", **model.delegation},
        "input": {
            "shape": list(model.input_shape),
            "dtype": model.input_dtype.name,
            "pixels": model.pixels,
            "mean": model.mean.tolist(),
            "std": model.std.tolist(),
        },
        "init_ms": model.init_ms,
        "first_inference_ms": timed.first_ms,
        "warmup_mean_ms": float(np.mean(timed.warmup_ms)) if timed.warmup_ms else None,
        "blocks_ms": blocks_ms,
        "latency_ms": latency_statistics.summarize(list(itertools.chain.from_iterable(blocks_ms))),
        "memory": None,
    }


def _answer_warnings(names, answers):
    for name, answer in zip(names, answers, strict=True):
        wrong = np.count_nonzero(~np.isfinite(answer).all(-1))
        if wrong:
            message = f"{wrong} of {len(answer)} answers hold NaN or infinity"
            yield benchmark_report.warning("not_finite", message, name)


def _normalization_warnings(names, models):
    def of(model):
        channels = model.input_shape[-1:]
        return np.stack([np.broadcast_to(values, channels) for values in (model.mean, model.std)])

    for name, model in zip(names, models, strict=True):
        if not np.allclose(of(model), of(models[0]), atol=1e-6):
            message = (
                f"normalizes by mean {model.mean.tolist()} and std {model.std.tolist()}, {names[0]} by others"
            )
            yield benchmark_report.warning("normalization", message, name)


def _runtime():
    packages = {name: _version(name) for name in ("ai-edge-litert", "keras", "tensorflow", "jax", "numpy")}
    return {
        "language": f"Python {platform.python_version()}",
        "packages": {name: version for name, version in packages.items() if version},
        "debug_build": hasattr(sys, "gettotalrefcount"),
    }


def _version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def table(report):
    """The report's main numbers as text, one line a model, and its warnings below."""
    rows = [("artifact", "size KB", "p50 ms", "p90 ms", "ratio [low, high]", "agreement", "accuracy")]
    pairs = {pair["mobile"]: pair for pair in report["pairs"]}
    for model in report["models"]:
        pair = pairs.get(model["name"])
        rows.append(
            (
                model["name"],
                _number(model["bytes"] and model["bytes"] / 1000, ".0f"),
                _number(model["latency_ms"]["p50"], ".3f"),
                _number(model["latency_ms"]["p90"], ".3f"),
                _ratio(pair["ratio"]) if pair else "original",
                _number(pair and pair["agreement"] and pair["agreement"]["top1_agreement"], ".2%"),
                _number(model["accuracy"], ".2%"),
            )
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows]
    for entry in report["warnings"]:
        about = f"{entry['model']}: " if entry["model"] else ""
        lines.append(f"warning: {about}{entry['message']}")
    return "\n".join(lines)


def _number(value, form):
    return "-" if value is None else format(value, form)


def _ratio(ratio):
    interval = "[no interval]" if ratio["low"] is None else f"[{ratio['low']:.3f}, {ratio['high']:.3f}]"
    return f"{ratio['value']:.3f} {interval}"


if __name__ == "__main__":
    define_flags()
    commands.run(main, uses_keras=False)

"""How many images a second the data pipeline gives, beside torchvision's where that is installed.

    python -m training.data_throughput --config=training/configs/folder.py --output=R.json

Reads JPEGs made on the spot as the recipe says, decoded, resized and augmented, with 0, 1 and 2 workers:
threads in our pipeline, processes in torchvision's `DataLoader`. Each combination is a process of its own;
they take turns, and the median counts. Images a second of a core are those a second of the CPU time that was
used, which depends much less on what else the machine does.
"""

import contextlib
import importlib.util
import pathlib
import statistics
import tempfile

from absl import flags

from command_line import commands, config_files, tables
from hsvit_runtime import outputs
from hsvit_runtime.errors import InputError
from hsvit_runtime.files import write_json
from measuring import device
from training.fitting.open_values import complete
from training.speed import photos, torchvision_pipeline
from training.speed.turns import Worker

FLAGS = flags.FLAGS
PIPELINES = ("hsvit_keras", "torchvision")
_SPEEDS = ("images_per_second", "images_per_cpu_second")


def define_flags():
    config_files.define(None, "File with the hyper-parameters.", lock_config=False)
    flags.DEFINE_string("output", None, "JSON file to write.", required=True)
    flags.DEFINE_list("workers", ["0", "1", "2"], "Numbers of workers.")
    flags.DEFINE_integer("images", 512, "Images in an epoch.", lower_bound=10)
    flags.DEFINE_list("size", ["500", "375"], "Width and height of the JPEGs.")
    flags.DEFINE_integer("repetitions", 5, "How often each is measured.", lower_bound=1)


def main(_):
    from training.recipes import recipe

    outputs.check(FLAGS.output, outputs.json_with("images", "results"))
    values = recipe.plain(FLAGS.config)
    report = measure(
        {**values, "data": "folder", "validation": "test", "train_images": None},
        pipelines=_pipelines(values["augmentation"]),
        workers=_whole_numbers("workers", FLAGS.workers, least=0),
        images=FLAGS.images,
        size=_size(FLAGS.size),
        repetitions=FLAGS.repetitions,
    )
    write_json(pathlib.Path(FLAGS.output), report)
    print(table(report))
    print(f"wrote {FLAGS.output}")


def measure(values, *, pipelines, workers, images, size, repetitions):
    """Measures pipelines that read the same JPEGs.

    Args:
        values: plain config of a set of class folders.
        pipelines: sequence of names of `PIPELINES`.
        workers: list of int, numbers of workers.
        images: int, images in an epoch.
        size: (width, height) of the JPEGs.
        repetitions: int, epochs that are measured.

    Returns:
        dict of the settings, the device and a list `results`: for each pipeline and number of workers the
        medians `images_per_second` and `images_per_cpu_second`, and all `measurements`.

    Raises:
        ValueError: a pipeline cannot be run.
    """
    results = []
    with tempfile.TemporaryDirectory() as folder:
        mean_bytes = photos.write_photos(pathlib.Path(folder), images, size)
        values = complete(values, None, folder)
        for count in workers:
            with contextlib.ExitStack() as stack:
                processes = [
                    stack.enter_context(_worker(name, folder, {**values, "num_workers": count}))
                    for name in pipelines
                ]
                for _ in range(repetitions):
                    for process in processes:
                        process.measure()
            results += map(_result, processes)
    return {
        **{key: values[key] for key in ("image_shape", "augmentation", "batch_size")},
        "images": images,
        "size": size,
        "mean_bytes": mean_bytes,
        "device": device.describe(),
        "results": results,
    }


def table(report):
    """The results as text, each with its ratio to torchvision's of as many workers."""
    others = {
        result["workers"]: result for result in report["results"] if result["pipeline"] == "torchvision"
    }
    rows = []
    for result in report["results"]:
        other = others.get(result["workers"])
        ratios = [f"{result[key] / other[key]:.2f}" if other else None for key in _SPEEDS]
        pairs = zip((f"{result[key]:,.0f}" for key in _SPEEDS), ratios, strict=True)
        rows.append((result["pipeline"], result["workers"], *(cell for pair in pairs for cell in pair)))
    return tables.table(("pipeline", "workers", "images/s", "ratio", "images/s of a core", "ratio"), rows)


def _pipelines(augmentation):
    """Those that can be measured; says why torchvision's cannot."""
    ours, _ = PIPELINES
    lacking = torchvision_pipeline.operations_without_counterpart(augmentation)
    if not all(map(importlib.util.find_spec, ("torch", "torchvision"))):
        print("torchvision is not measured: torch and torchvision are not installed")
    elif lacking:
        print(f"torchvision is not measured: the recipe has {', '.join(lacking)}, which is not compared")
    else:
        return PIPELINES
    return (ours,)


def _worker(pipeline, folder, values):
    job = {"pipeline": pipeline, "folder": folder, "values": values}
    name = f"{pipeline}, {values['num_workers']} workers"
    return Worker("training.speed.data_worker", job, name, {})


def _result(process):
    medians = {key: round(statistics.median(one[key] for one in process.measurements), 2) for key in _SPEEDS}
    return {
        "pipeline": process.job["pipeline"],
        "workers": process.job["values"]["num_workers"],
        **medians,
        "measurements": process.measurements,
    }


def _size(texts):
    if len(texts) != 2:
        raise InputError(f"--size takes width,height; received {','.join(texts)}")
    return _whole_numbers("size", texts, least=1)


def _whole_numbers(flag, texts, least):
    if not texts or not all(text.isdecimal() and int(text) >= least for text in texts):
        raise InputError(f"--{flag} takes whole numbers of at least {least}; received {','.join(texts)}")
    return [int(text) for text in texts]


if __name__ == "__main__":
    define_flags()
    commands.run(main, uses_keras=False)

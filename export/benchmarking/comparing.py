"""Measures models against the first of them, and compares their outputs on the same samples."""

import dataclasses
import functools
import hashlib
import importlib.metadata
import itertools
import pathlib
import platform
import sys

import numpy as np

from command_line import commands, model_data
from data_sets import load_dataset, sample_images
from data_sets.crops import crop_of
from hsvit_keras.artifacts import open_model
from hsvit_keras.artifacts.comparison import compare_outputs
from hsvit_keras.artifacts.model_outputs import gives_probabilities
from hsvit_keras.tasks import task_of
from hsvit_runtime.errors import InputError
from hsvit_runtime.pixels import in_range
from measuring import benchmark_report, device, latency_statistics, timing

TIMED_SAMPLES = 8


@dataclasses.dataclass(frozen=True)
class Measured:
    """Models that were measured.

    Attributes:
        report: dict in the form of `benchmark.schema.json`.
        task: `hsvit_keras.tasks.Task` of the models.
        outputs: list of dicts, those of each model for all samples: from a name to an array (count, ...).
        labels: array (count, ...) of the samples; None where they are not those of the models' outputs.
    """

    report: dict
    task: object
    outputs: list
    labels: object


def measure(paths, **settings):
    """The report of `run`, which has the same arguments."""
    return run(paths, **settings).report


def run(
    paths,
    *,
    blocks=20,
    runs=10,
    warmup=3,
    cooldown=0.0,
    threads=1,
    data=None,
    data_dir=None,
    samples=100,
    input_range=None,
):
    """Measures models against the first of them.

    Args:
        paths: list of paths of `.keras`, `.tflite` and `.onnx` files, the original first.
        blocks: int, blocks of runs for each model.
        runs: int, timed runs in a block.
        warmup: int, runs before each block that do not count.
        cooldown: float, pause before each block, seconds.
        threads: int, CPU threads to ask for.
        data: str, the data set whose test part is used; by default the one that a model says.
        data_dir: str, path or None, the folder with its files.
        samples: int, samples to compare outputs on; 0 for all.
        input_range: (low, high), the values of black and white for models that do not say, or None.

    Returns:
        `Measured`.

    Raises:
        InputError: a model is damaged, or the models differ in their inputs or outputs.
        OSError: a model or the data set is not there.
    """
    before = device.state()
    paths = [pathlib.Path(path) for path in paths]
    names = _unique_names(paths)
    models = [open_model(path, threads=threads) for path in paths]
    _check_alike(names, models)
    description = _description(models)
    shapes = [tensor.shape for tensor in models[0].outputs]
    task = task_of(description, shapes, models[0].activation, models[0].loss)
    dataset = load_dataset(model_data.data_set_of(description, data), "test", data_dir)
    ranges = [_range_of(name, model, input_range) for name, model in zip(names, models, strict=True)]
    count = min(samples or len(dataset), len(dataset))
    shape = _image_shape(models, dataset)
    pixels, labels = sample_images(dataset, count, image_shape=shape, crop=crop_of(description.resizing))
    other_load = device.OtherLoad()
    timings = timing.time_interleaved(
        [
            _cycling(model, _inputs(model, pixels[:TIMED_SAMPLES], limits))
            for model, limits in zip(models, ranges, strict=True)
        ],
        blocks=blocks,
        runs=runs,
        warmup=warmup,
        cooldown=cooldown,
        progress=functools.partial(commands.show_progress, "block"),
    )
    other_load_cores = other_load.cores()
    outputs = []
    for model, limits in zip(models, ranges, strict=True):
        outputs.append(_outputs(model, _inputs(model, pixels, limits)))
        commands.show_progress("outputs of model", len(outputs), len(models))
    if not dataset.labels_fit(description.class_names, models[0].outputs[0].shape[-1]):
        labels = None
    finite = [_finite_samples(each) for each in outputs]
    report = benchmark_report.assemble(
        task=task,
        tool={"name": "export.benchmark", "version": _version("hsvit-keras")},
        settings={
            "blocks": blocks,
            "runs": runs,
            "warmup": warmup,
            "cooldown_s": cooldown,
            "threads": threads,
            "data": {"name": dataset.name, "split": dataset.split, "samples": len(pixels)},
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
                **_model_facts(model, limits, threads, timed),
                "metrics": {} if labels is None else task.evaluate(each, labels),
            }
            for name, path, model, limits, timed, each in zip(
                names, paths, models, ranges, timings, outputs, strict=True
            )
        ],
        agreements={
            name: _agreement(task, models[0], outputs[0], model, each)
            for name, model, each, whole in zip(names[1:], models[1:], outputs[1:], finite[1:], strict=True)
            if finite[0].all() and whole.all()
        },
        warnings=_not_finite(names, finite),
    )
    return Measured(report, task, outputs, labels)


def _description(models):
    """The description of the first model that names its data set or task."""
    descriptions = [model.description for model in models]
    return next((each for each in descriptions if each.data_set or each.task), descriptions[0])


def _range_of(name, model, given):
    """The input range of a model, see `model_data.input_range_of_file`."""
    try:
        return model_data.input_range_of_file(model, given)
    except InputError as error:
        raise InputError(f"{name}: {error}") from error


def _image_shape(models, dataset):
    """The shape of an image for the first model of one size; of the data set's where all take any size."""
    shapes = [model.inputs[0].shape[1:] for model in models]
    sized = [shape for shape in shapes if None not in shape]
    return sized[0] if sized else (*dataset.image_shape[:-1], shapes[0][-1])


def _inputs(model, pixels, limits):
    """The tensors of each sample, as dicts for the model's `run`; one at a time, for memory's sake."""
    (tensor,) = model.inputs
    for image in pixels:
        yield model.quantize({tensor.name: in_range(image[np.newaxis], limits)})


def _cycling(model, inputs):
    """A function that runs the model on the next of the inputs each time."""
    following = itertools.cycle(list(inputs))
    return lambda: model.run(next(following))


def _outputs(model, inputs):
    """The outputs of all samples as numbers: dict from name to array (count, ...)."""
    outputs = [model.dequantize(model.run(each)) for each in inputs]
    return {name: np.concatenate([each[name] for each in outputs]) for name in outputs[0]}


def _agreement(task, original, expected, model, outputs):
    """How near the outputs are to the original's; outputs of other names are matched by their order."""
    if outputs.keys() != expected.keys():
        outputs = dict(zip(expected, outputs.values(), strict=True))
    found = compare_outputs(
        task,
        expected,
        outputs,
        are_probabilities=tuple(map(_gives_probabilities, (original, model))),
        steps=[tensor.scale for each in (original, model) for tensor in each.outputs],
    )
    found.pop("largest_output")
    return found


def _gives_probabilities(model):
    return model.description.probabilities or gives_probabilities(model.activation)


def _unique_names(paths):
    """File names, with their folders where the names alone are not unique."""
    names = [path.name for path in paths]
    names = names if len(set(names)) == len(names) else [str(path) for path in paths]
    if len(set(names)) < len(names):
        raise InputError(f"every model has to be named once; received {', '.join(names)}")
    return names


def _check_alike(names, models):
    for name, model in zip(names, models, strict=True):
        _check_takes_one_sample(name, model)
        for what, tensors, expected in (
            ("takes", model.inputs, models[0].inputs),
            ("gives", model.outputs, models[0].outputs),
        ):
            shapes, wanted = ([tensor.shape[1:] for tensor in side] for side in (tensors, expected))
            if not all(map(_may_be_one, shapes, wanted)) or len(shapes) != len(wanted):
                raise InputError(
                    f"{name} {what} {_listed(shapes)}, but {names[0]} {_listed(wanted)}: nothing to compare"
                )


def _may_be_one(shape, other):
    """Whether two shapes are equal but for axes of any size."""
    return len(shape) == len(other) and all(
        size == another or None in (size, another) for size, another in zip(shape, other, strict=True)
    )


def _check_takes_one_sample(name, model):
    shapes = [tensor.shape for tensor in model.inputs]
    if len(shapes) != 1 or not model_data.are_pixels(shapes[0]) or shapes[0][-1] is None:
        raise InputError(
            f"{name} has to take images (1, height, width, channels) or clips (1, frames, height, width, "
            f"channels); it takes {_listed(shapes)}"
        )
    if shapes[0][0] not in (None, 1):
        raise InputError(
            f"{name} takes {shapes[0][0]} images at once, {shapes[0]}, and single ones are to be measured: "
            "convert the model with --batch=1"
        )


def _listed(shapes):
    return ", ".join(map(str, shapes))


def _model_facts(model, limits, threads, timed):
    blocks_ms = [[round(latency, 5) for latency in block] for block in timed.blocks_ms]
    return {
        "runtime": model.runtime,
        "threads": {"requested": threads, "used": model.threads_used, "busy_cores": timed.busy_cores},
        "accelerator": {"requested": "cpu", "used": "cpu", **model.delegation},
        "inputs": [tensor.to_json() for tensor in model.inputs],
        "outputs": [tensor.to_json() for tensor in model.outputs],
        "input_range": list(limits),
        "init_ms": model.init_ms,
        "first_inference_ms": timed.first_ms,
        "warmup_mean_ms": float(np.mean(timed.warmup_ms)) if timed.warmup_ms else None,
        "blocks_ms": blocks_ms,
        "latency_ms": latency_statistics.summarize(list(itertools.chain.from_iterable(blocks_ms))),
        "memory": None,
    }


def _finite_samples(outputs):
    """Which samples have finite outputs only: bool array (count,)."""
    whole = [np.isfinite(output).reshape(len(output), -1).all(-1) for output in outputs.values()]
    return np.all(whole, axis=0)


def _not_finite(names, finite):
    return [
        benchmark_report.warning(
            "not_finite",
            f"outputs of {np.count_nonzero(~whole)} of {len(whole)} samples hold NaN or infinity",
            name,
        )
        for name, whole in zip(names, finite, strict=True)
        if not whole.all()
    ]


def _runtime():
    packages = ("ai-edge-litert", "onnxruntime", "keras", "tensorflow", "jax", "numpy")
    versions = {name: _version(name) for name in packages}
    return {
        "language": f"Python {platform.python_version()}",
        "packages": {name: version for name, version in versions.items() if version},
        "debug_build": hasattr(sys, "gettotalrefcount"),
    }


def _version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None

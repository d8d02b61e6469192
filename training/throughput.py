"""How many images a second a model is trained on, on each backend, with and without compilation by XLA.

    python -m training.throughput --models=hsvit_c2a2,hsvit_c4a8 --output=throughput.json

Each combination is a process of its own, which warms up first. The processes of a model then take turns, one
measuring while the others wait, so that other work of the machine slows all of them alike; the median counts.
"""

import contextlib
import importlib.util
import pathlib
import statistics

from absl import flags

from command_line import bounded, commands, tables
from hsvit_runtime import outputs
from hsvit_runtime.files import write_json
from training.speed.turns import Worker

FLAGS = flags.FLAGS
BACKENDS = ("tensorflow", "jax")


def define_flags():
    bounded.names("models", ["hsvit_c2a2", "hsvit_c4a8"], "Names of registered models.")
    flags.DEFINE_string("output", None, "JSON file to write.", required=True)
    flags.DEFINE_multi_enum("backend", [], BACKENDS, "Backend to measure; all that are installed by default.")
    bounded.names("jit", ["on", "off"], "Whether XLA compiles the step: on, off or both.", ["on", "off"])
    bounded.image_shape("image_shape", [32, 32, 3], "Height, width and channels.")
    bounded.integer("batch_size", 64, "Images in a step.", 1, bounded.MANY)
    flags.DEFINE_enum(
        "dtype", "float32", ("float32", "mixed_bfloat16", "mixed_float16"), "Dtype policy of the models."
    )
    bounded.repetitions("How often each combination is measured.")
    bounded.seconds("About how long one measurement takes.")


def main(_):
    outputs.check(FLAGS.output, outputs.json_with("repetitions", "results"))
    report = measure(
        FLAGS.models,
        backends=FLAGS.backend or [name for name in BACKENDS if importlib.util.find_spec(name)],
        jits=[word == "on" for word in FLAGS.jit],
        image_shape=FLAGS.image_shape,
        batch_size=FLAGS.batch_size,
        dtype=FLAGS.dtype,
        repetitions=FLAGS.repetitions,
        seconds=FLAGS.seconds,
    )
    write_json(pathlib.Path(FLAGS.output), report)
    print(table(report))
    print(f"wrote {FLAGS.output}")


def measure(models, *, backends, jits, image_shape, batch_size, dtype, repetitions, seconds):
    """Measures training, each combination of model, backend and jit in a process of its own.

    Args:
        models: list of names of registered models.
        backends: list of str.
        jits: list of bool, whether XLA compiles the step.
        image_shape: (height, width, channels) in pixels.
        batch_size: int.
        dtype: dtype policy of the models.
        repetitions: int, measurements of a combination.
        seconds: float, about how long one takes; at least one step is made.

    Returns:
        dict of the settings, the machine and a list `results`: for each combination its median
        `images_per_second`, all `measurements` of it and `first_step_seconds`, compilation included.

    Raises:
        ValueError: a combination cannot be run.
    """
    settings = {"image_shape": image_shape, "batch_size": batch_size, "dtype": dtype, "seconds": seconds}
    results, machines = [], {}
    for model in models:
        with contextlib.ExitStack() as stack:
            workers = [
                stack.enter_context(_worker({"model": model, "backend": backend, "jit": jit, **settings}))
                for backend in backends
                for jit in jits
            ]
            for _ in range(repetitions):
                for worker in workers:
                    worker.measure()
            results += [_result(worker) for worker in workers]
            machines |= {worker.job["backend"]: worker.ready["machine"] for worker in workers}
    return {**settings, "repetitions": repetitions, "machines": machines, "results": results}


def table(report):
    """The results as text."""
    rows = [
        (
            result["model"],
            result["backend"],
            _on_or_off(result["jit"]),
            f"{result['images_per_second']:,.1f}",
            f"{min(result['measurements']):,.1f}-{max(result['measurements']):,.1f}",
            f"{result['first_step_seconds']:.1f} s",
        )
        for result in report["results"]
    ]
    return tables.table(("model", "backend", "jit", "images/s", "spread", "first step"), rows)


def _worker(job):
    return Worker(
        "training.speed.worker",
        job,
        f"{job['model']} on {job['backend']}, jit {_on_or_off(job['jit'])}",
        {"KERAS_BACKEND": job["backend"]},
    )


def _result(worker):
    speeds = [measurement["images_per_second"] for measurement in worker.measurements]
    return {
        **{key: worker.job[key] for key in ("model", "backend", "jit")},
        "images_per_second": statistics.median(speeds),
        "measurements": speeds,
        "first_step_seconds": worker.ready["first_step_seconds"],
    }


def _on_or_off(jit):
    return "on" if jit else "off"


if __name__ == "__main__":
    define_flags()
    commands.run(main, uses_keras=False)

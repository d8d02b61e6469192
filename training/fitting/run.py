"""A whole training run: from a config to a folder with the best model and what is known of it."""

import functools
import random

import keras

from data_sets.pipeline import WHOLE
from hsvit_keras.backends import require_backend
from training.fitting.hosts import ALONE, fingerprint
from training.recipes import recipe
from training.run_files.following import FollowedRun
from training.run_files.run_directory import RunDirectory


def train(config, workdir, data_dir=None, distribution=None, num_devices=None, hosts=ALONE):
    """Trains, or goes on training.

    The best epoch is chosen on the validation part; the best model is evaluated on the test part once, at the
    end.

    Args:
        config: `ConfigDict` with the keys of `training/configs/hsvit_base.py`.
        workdir: folder of the run.
        data_dir: folder of the data set; "digits" needs none.
        distribution: str, what several devices share, see `training.fitting.distribution`, or None.
        num_devices: int, how many of them each machine has.
        hosts: `training.fitting.hosts.Hosts`, the processes that train together.

    Returns:
        dict, the summary of the run; None in a process that is not the first.

    Raises:
        ValueError: the config, the workdir or the backend does not fit, or the loss became NaN or infinite.
        OSError: the images are not there or one cannot be read, or the workdir cannot be written.
    """
    values = recipe.plain(config)
    run = RunDirectory(workdir)
    require_backend("tensorflow", "jax")
    from hsvit_keras.model_files import load_model
    from training.fitting import fit
    from training.fitting.building import FloatCopy, build_model
    from training.fitting.data import Data
    from training.fitting.distribution import communication, distribute, distributed_batch, take_devices
    from training.fitting.evaluation import evaluate_on_test
    from training.run_files import curves, sample_figure

    devices = take_devices(num_devices, hosts) if distribution else None
    hosts.agree("the config", lambda: {**values, "distribution": distribution, "num_devices": num_devices})
    hosts.first_checks(functools.partial(_check, run, values))
    if hosts.send(b"finished" if run.summary() else b""):
        hosts.disconnect()
        print(f"{workdir} holds a finished run: nothing to do")
        return run.summary()
    if hosts.count > 1:
        last = hosts.send(run.last.read_bytes() if run.last.is_file() else b"")
        run = run if hosts.is_first else FollowedRun(workdir, last)
    random.seed(values["seed"])  # Keras takes the seeds of the initial weights from there
    part = (hosts.index, hosts.count) if distribution == "data" else WHOLE
    data = Data(values, data_dir, resizing=values["model_arguments"].get("resizing"), part=part)
    hosts.agree("the data set", functools.partial(fingerprint, data))
    sharing = []
    if distribution:
        build = functools.partial(build_model, values, data.class_names)
        sharing = distribute(distribution, devices, values["batch_size"], build)
    model = build_model(values, data.class_names)
    data.check_model(model)
    learning = fit.with_teachers(model, values)
    fit.compile_model(learning, values, data.task, num_classes=data.num_classes, steps=data.steps)
    _announce(values, model, data)
    sent = None
    if distribution:
        sent = communication(learning, distributed_batch(data, values["batch_size"] // part[1]))
        print(f"{len(devices)} devices, each sends {sent['sent_by_each_device']:,} bytes a step")
    fit.fit(learning, run, values, data, FloatCopy(model), sharing)
    hosts.disconnect()
    if not hosts.is_first:
        return None
    keras.distribution.set_distribution(None)
    best = load_model(run.path / "best.keras")
    test = evaluate_on_test(best, data, values)
    summary = _summary(values, run, data, best, test)
    summary["distribution"] = distribution and {
        "kind": distribution, "num_devices": len(devices), "processes": hosts.count, "bytes": sent,
    }  # fmt: skip
    curves.draw(run.rows, data.task.metric, run.path / "curves.png", _short_name(data))
    sample_figure.draw(best, data, values["image_shape"], run.path / "samples.png")
    run.finish(summary)
    print(_result(summary, data.task.metric, run.path))
    return summary


def _check(run, values):
    """Raises `InputError` if the folder holds another run than that to go on with."""
    run.check_config(values)
    if not run.summary():
        run.check_backend()


def _summary(values, run, data, model, test):
    from hsvit_keras.compression.counting import count_layers, count_multiply_adds, count_parameters
    from training.run_files import machine

    parameters = count_parameters(model)
    return {
        "model": values["model"],
        "parameters": parameters,
        "non_trainable_parameters": model.count_params() - parameters,
        "multiply_adds": count_multiply_adds(model),
        "layers": count_layers(model),
        "data": values["data"],
        "task": data.task.to_json(),
        "images": {
            "train": len(data.train_set),
            "validation": len(data.validation_set),
            "test": len(data.test_set),
        },
        "epochs": values["epochs"],
        "images_seen": run.rows[-1]["step"] * values["batch_size"],
        "seconds": round(sum(row["seconds"] for row in run.rows), 1),
        "last": run.rows[-1],
        "validation": {"part": data.validation_part, "metric": data.task.metric.name},
        "best": run.best_row(),
        "test": test,
        **machine.describe(),
    }


def _announce(values, model, data):
    from hsvit_keras.compression.counting import count_parameters

    teachers = values["distillation"]["teachers"]
    on_test = data.validation_set is data.test_set
    print(
        f"{values['model']} ({count_parameters(model):,} parameters) on {values['data']}: "
        f"{len(data.train_set):,} images to train on, "
        + ("" if on_test else f"{len(data.validation_set):,} to validate on ({data.validation_part}), ")
        + f"{len(data.test_set):,} to test on; Keras on {keras.backend.backend()}, {values['dtype']}"
        + (f"; taught by {', '.join(teachers)}" if teachers else "")
    )
    if _is_slower_than_needed(values["dtype"]):
        print("hint: with AMX, as here, --config.dtype=mixed_bfloat16 trains larger models faster")


def _is_slower_than_needed(dtype):
    """Whether a processor that multiplies bfloat16 faster, by both backends, is given float32."""
    from training.run_files import machine

    return dtype == "float32" and machine.on_cpu() and machine.multiplies_bfloat16()


def _short_name(data):
    return "test" if data.validation_set is data.test_set else "validation"


def _result(summary, metric, path):
    """One line that says which number is of which part."""
    best, title = summary["best"], metric.title[0].lower() + metric.title[1:]
    tested = metric.format(summary["test"][metric.name])
    if summary["validation"]["part"] == "test":
        chosen = f"best epoch chosen on the test part, as the papers do: {best['epoch']}"
        return f"{chosen}, {title} {tested} there, in {path}"
    validated = metric.format(best[f"val_{metric.name}"])
    return (
        f"best epoch {best['epoch']}: {title} {validated} on validation ({summary['validation']['part']}), "
        f"{tested} on the test part, in {path}"
    )

"""A whole training run: from a config to a folder with the best model and what is known of it."""

import functools
import math
import random

import keras
import numpy as np

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
    from hsvit_keras.compression.counting import count_parameters
    from hsvit_keras.model_files import load_model
    from training.fitting import fit
    from training.fitting.building import FloatCopy, build_model, check_names
    from training.fitting.data import Data
    from training.fitting.distribution import communication, distribute, distributed_batch, take_devices
    from training.fitting.evaluation import evaluate_on_test
    from training.fitting.open_values import complete, load_source
    from training.run_files import curves, sample_figure

    devices = take_devices(num_devices, hosts) if distribution else None  # before JAX computes anything
    check_names(values)
    source = load_source(values)
    values = complete(values, source, data_dir)
    hosts.agree("the config", lambda: {**values, "distribution": distribution, "num_devices": num_devices})
    hosts.first_checks(functools.partial(_check, run, values))
    if hosts.send(b"finished" if _is_finished(run, values) else b""):
        hosts.disconnect()
        print(f"{workdir} holds a finished run: nothing to do")
        return run.summary()
    if hosts.count > 1:
        last = hosts.send(run.last.read_bytes() if run.last.is_file() else b"")
        run = run if hosts.is_first else FollowedRun(workdir, last)
    random.seed(values["seed"])  # Keras takes the seeds of the initial weights from there
    part = (hosts.index, hosts.count) if distribution == "data" else WHOLE
    data = Data(values, data_dir, resizing=_resizing(values, source), part=part)
    hosts.agree("the data set", functools.partial(fingerprint, data))
    sharing = []
    if distribution:
        build = functools.partial(build_model, values, data.class_names, source)
        sharing = distribute(distribution, devices, values["batch_size"], build)
    model = build_model(values, data.class_names, source)
    data.take_task_of(model)
    parameters = count_parameters(model)
    learning = fit.learner(model, values, data.task)
    fit.prepare(learning, values, data, epoch=max(run.finished_epochs() - 1, 0))
    _announce(values, model, data, parameters)
    if run.summary():
        print(f"extended: the learning rate is that of a run of {values['epochs']} epochs from here on")
    sent = None
    if distribution:
        sent = communication(learning, distributed_batch(data, values["batch_size"] // part[1]))
        print(f"{len(devices)} devices, each sends {sent['sent_by_each_device']:,} bytes a step")
    with run:
        fit.fit(learning, model, run, values, data, FloatCopy(model), sharing)
        hosts.disconnect()
        if not hosts.is_first:
            return None
        if len(run.rows) < values["epochs"]:
            print(f"ended behind epoch {len(run.rows)}: {values['patience']} epochs in a row were no better")
        keras.distribution.set_distribution(None)
        best = load_model(run.path / "best.keras")
        test = evaluate_on_test(best, data, values)
        summary = _summary(values, run, data, best, parameters, test)
        summary["distribution"] = distribution and {
            "kind": distribution, "num_devices": len(devices), "processes": hosts.count, "bytes": sent,
        }  # fmt: skip
        curves.draw(run.rows, data.task.metric, run.path / "curves.png", _short_name(data))
        sample_figure.draw(best, data, values["image_shape"], run.path / "samples.png")
        run.finish(summary)
        print(_result(summary, data.task.metric, run.path))
        return summary


def _is_finished(run, values):
    return bool(run.summary()) and not run.extends(values)


def _check(run, values):
    """Raises `InputError` if the folder holds another run than that to go on with."""
    run.check_config(values)
    if not _is_finished(run, values):
        run.check_backend()


def _resizing(values, source):
    """How the model will ask for pictures to be resized, as a dict; None where it does not."""
    from hsvit_keras.fine_tuning import resizing_for

    asked = source and resizing_for(source, values["image_shape"])
    return values["model_arguments"].get("resizing", asked and asked.to_json())


def _summary(values, run, data, model, parameters, test):
    from hsvit_keras.compression.counting import count_layers, count_multiply_adds
    from training.run_files import machine

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
        "init": values["init"],
        "image_model": values["image_model"],
        "epochs": len(run.rows),
        "schedules": run.schedules,
        "ended_by": {"epochs": values["epochs"], "patience": values["patience"]},
        "images_seen": run.rows[-1]["step"] * values["batch_size"],
        "seconds": round(sum(row["seconds"] for row in run.rows), 1),
        "last": run.rows[-1],
        "validation": {"part": data.validation_part, "metric": data.task.metric.name},
        "best": run.best_row(),
        "test": test,
        **machine.describe(),
    }


def _announce(values, model, data, parameters):

    teachers = values["distillation"]["teachers"]
    on_test = data.validation_set is data.test_set
    print(
        f"{values['model']} ({parameters:,} parameters) on {values['data']}: "
        f"{len(data.train_set):,} images to train on, "
        + ("" if on_test else f"{len(data.validation_set):,} to validate on ({data.validation_part}), ")
        + f"{len(data.test_set):,} to test on; Keras on {keras.backend.backend()}, {values['dtype']}"
        + (f"; trained on from {values['init']}" if values["init"] else "")
        + (f"; its backbone from {values['image_model']}" if values["image_model"] else "")
        + (f"; taught by {', '.join(teachers)}" if teachers else "")
    )
    if values["frozen"]:
        print(
            f"frozen: {', '.join(map(_frozen, values['frozen']))}; {_trained(model):,} parameters are trained"
        )
    if data.class_weights is not None:
        print(_classes(data))
    if _is_slower_than_needed(values["dtype"]):
        print("hint: with AMX, as here, --config.dtype=mixed_bfloat16 trains larger models faster")


def _frozen(pair):
    part, epochs = pair
    part = f"all below depth {part}" if isinstance(part, int) else part
    return part if epochs is None else f"{part} for {epochs} epochs"


def _trained(model):
    return sum(math.prod(variable.shape) for variable in model.trainable_variables)


def _classes(data):
    """Which classes the training part has, and what they weigh."""
    counts = np.bincount(data.train_set.labels, minlength=data.num_classes)
    weights = data.class_weights
    weighed = (
        "even" if counts.min() == counts.max() else f"weighing {weights.min():.2f} to {weights.max():.2f}"
    )
    return f"{data.num_classes} classes of {counts.min():,} to {counts.max():,} images to train on, {weighed}"


def _is_slower_than_needed(dtype):
    """Whether a processor that multiplies bfloat16 faster, by both backends, is given float32."""
    from training.run_files import machine

    return dtype == "float32" and machine.on_cpu() and machine.multiplies_bfloat16()


def _short_name(data):
    return "test" if data.validation_set is data.test_set else "validation"


def _result(summary, metric, path):
    """One line that says which number is of which part."""
    best, title = summary["best"], metric.title
    title = title if title.isupper() else title[0].lower() + title[1:]
    tested = metric.format(summary["test"][metric.name])
    if summary["validation"]["part"] == "test":
        chosen = f"best epoch chosen on the test part, as the papers do: {best['epoch']}"
        return f"{chosen}, {title} {tested} there, in {path}"
    validated = metric.format(best[f"val_{metric.name}"])
    return (
        f"best epoch {best['epoch']}: {title} {validated} on validation ({summary['validation']['part']}), "
        f"{tested} on the test part, in {path}"
    )

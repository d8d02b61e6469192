"""A whole compression: the steps of a config, each a run in a folder, and the table of what they did."""

import hashlib
import pathlib
import random
import shutil

from command_line import model_data
from hsvit_keras.backends import require_backend
from hsvit_keras.compression import prune, slim
from hsvit_keras.compression.graph import functional
from hsvit_keras.compression.rewriting import with_dtype
from hsvit_keras.layers.model_description import description_of
from hsvit_keras.model_files import load_model
from hsvit_runtime import json_files, outputs
from hsvit_runtime.errors import InputError, MissingFileError
from hsvit_runtime.files import replacing, write_json
from hsvit_runtime.json_schemas import TEXT, record
from hsvit_runtime.native_output import quietly
from training.compressing.chain import chain, with_teachers
from training.compressing.steps import PARTS, STEPS, Training, check_removed
from training.compressing.table import measure, table
from training.fitting import fit
from training.fitting.data import Data
from training.recipes.recipe import differences
from training.run_files import machine
from training.run_files.run_directory import RunDirectory

_STEP = record(config=record(), row=record(step=TEXT))  # step.json, of a finished step


def compress(model, output, config, data_dir=None):
    """Compresses, or goes on compressing.

    Args:
        model: path of the `.keras` file of a trained model.
        output: path of the `.keras` file to write.
        config: `ConfigDict` with the keys of `training/configs/compress_base.py`.
        data_dir: folder of the data set; "digits" needs none.

    Returns:
        list of dicts, the rows of the table: the original and the model after each step.

    Raises:
        ValueError: a setting or the backend does not fit, or the steps begun there were others.
        OSError: the model or the images are not there, or a file cannot be written.
    """
    require_backend("tensorflow", "jax")
    model, output = pathlib.Path(model), pathlib.Path(output)
    report = output.with_suffix(".compress.json")
    reported = outputs.json_with("model", "data", "steps")
    outputs.check(report, reported)
    compressed = outputs.Kind(
        "compressed model", ".keras", lambda _: report.is_file() and reported.is_one(report)
    )
    outputs.check(output, compressed, reads=[model])
    original = load_model(model)
    model_data.check_takes_images(functional(original))
    steps = chain(config, description_of(original), original.input_shape[1:])
    _check_slimming(steps, original)
    data = _data(steps[0], data_dir, original)
    steps = with_teachers(steps, data.task)
    _check_teachers(steps)
    folder = output.with_suffix(".steps")

    rows = [{"step": "original", **measure(original, data, steps[0].values)}]
    print(table(rows, data.task.metric), flush=True)
    path = model
    for number, step in enumerate(steps, 1):
        pruned = any(earlier.name == "prune" for earlier in steps[: number - 1])
        place = folder / f"{number}_{step.name}"
        rows.append(_run_step(step, path, model, place, data_dir, keep_zeros=pruned))
        path = place / "model.keras"
        print(table([rows[0], rows[-1]], data.task.metric).splitlines()[-1])

    # The report comes first: a model without it would not be replaced by a compression that goes on.
    write_json(report, {"model": str(model), "data": data.name, "steps": rows, **machine.describe()})
    with replacing(output) as temporary:
        shutil.copyfile(path, temporary)
    print(f"{table(rows, data.task.metric)}\nwrote {output} and {report}")
    return rows


def _data(step, data_dir, model):
    data = Data(step.values, data_dir, step.values["input_range"], step.values.get("resizing"))
    data.take_task_of(model)
    return data


def _run_step(step, source, original, folder, data_dir, keep_zeros):
    """Runs one step, or what is left of it, and gives its row of the table."""
    values = step.values
    begun = {**values, "step": step.name, "arguments": step.arguments, "source": _digest(source)}
    if row := _finished(folder, begun):
        print(f"{folder} holds this step, finished")
        return row
    run = RunDirectory(folder)
    run.check_config(begun)
    run.check_backend()
    random.seed(values["seed"])
    model = with_dtype(load_model(source), values["dtype"])
    data = _data(step, data_dir, model)
    model, callbacks = STEPS[step.name](model, Training(data, values), **step.arguments)
    if keep_zeros and step.name != "prune":
        callbacks.append(prune(model, None))
    print(f"\n{step}: {values['epochs']} epochs", flush=True)
    if values["epochs"]:
        learning = fit.learner(model, values, data.task, original)
        fit.prepare(learning, values, data, epoch=0)
        with run:
            fit.fit(learning, model, run, begun, data, more_callbacks=callbacks)
    model = with_dtype(model, "float32")  # a copy without optimizer
    folder.mkdir(parents=True, exist_ok=True)
    with quietly(), replacing(folder / "model.keras") as temporary:
        model.save(temporary)
    seconds = round(sum(row["seconds"] for row in run.rows), 1)
    row = {"step": str(step), "epochs": values["epochs"], **measure(model, data, values), "seconds": seconds}
    write_json(folder / "step.json", {"config": begun, "row": row})
    return row


def _finished(folder, begun):
    """The row of a step that was finished, or None."""
    path = folder / "step.json"
    if not path.is_file() or not (folder / "model.keras").is_file():
        return None
    content = json_files.read(path, _STEP)
    if found := differences(content["config"], begun):
        listed = "; ".join(f"{key} was {was!r} and is {now!r}" for key, was, now in found)
        raise InputError(
            f"{folder} holds another step: {listed}. Remove this folder and those of the steps behind it, or "
            "choose another --output"
        )
    return content["row"]


def _digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _check_slimming(steps, model):
    """Says at once, not after the trainings of earlier steps, what cannot be removed."""
    for step in steps:
        if step.name == "slim":
            wanted = {kind: kept for kind, kept in step.arguments.items() if kind in PARTS}
            slimmed = slim(model, **wanted, check=False)
            check_removed(model, slimmed, wanted)
            model = slimmed


def _check_teachers(steps):
    for step in steps:
        for path in step.values["distillation"]["teachers"]:
            if path != "original" and not pathlib.Path(path).is_file():
                raise MissingFileError(f"step {step.name!r}: there is no teacher {path}")

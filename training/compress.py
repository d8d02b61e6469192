"""Makes a trained model smaller and faster, in steps that follow each other.

    python -m training.compress --model=RUN/best.keras --output=RUN/small.keras \
        --step="slim groups=8 epochs=20" --step="prune sparsity=0.5" --step=quantize

- `slim` removes attention groups, heads, mlp_units, kernels or blocks: the arguments of `hsvit_keras.slim`;
- `prune` sets small weights to zero: sparsity, pattern, scope, skip;
- `quantize` computes with 8 bits: scheme, skip; with epochs=0 ranges are calibrated and nothing is trained;
- `finetune` only trains.

Each step trains its `epochs` with the original as teacher. Every setting of training can be a step's own, as
in `learning_rate=1e-4`, or that of all, as in `--config.learning_rate=1e-4`; `--config` takes a file with
steps and settings, which training/configs/compress_base.py lists. What no setting says is as in the run that
trained the model: its config.json lies beside it.

Beside `small.keras` lie `small.compress.json`, the table of accuracy, size and multiply-adds after each step,
and the folder `small.steps` with a run for each step. A compression that was killed goes on when it is
started again: after the last finished step, or the last epoch within a step.
"""

import hashlib
import json
import pathlib
import random
import shutil

from absl import flags
from ml_collections import config_flags

from command_line import commands
from hsvit_keras.backends import require_backend
from hsvit_keras.model_files import load_model, run_config_beside
from hsvit_runtime.errors import InputError, MissingFileError
from hsvit_runtime.files import replacing, write_json
from hsvit_runtime.native_output import quietly
from training.recipes.recipe import differences
from training.run_files.run_directory import RunDirectory

FLAGS = flags.FLAGS


def define_flags():
    default = pathlib.Path(__file__).with_name("configs") / "compress_base.py"
    flags.DEFINE_string("model", None, "The .keras file of a trained model.", required=True)
    flags.DEFINE_string("output", None, "The .keras file to write.", required=True)
    flags.DEFINE_multi_string("step", [], "A step, such as 'slim groups=8 epochs=20'. May be repeated.")
    flags.DEFINE_string("data_dir", None, "Folder with the official files of the image set.")
    config_flags.DEFINE_config_file("config", str(default), "File with steps and settings.")


def main(_):
    from training.compressing.chain import parse_step

    if FLAGS.step:
        FLAGS.config.steps = tuple(map(parse_step, FLAGS.step))
    compress(FLAGS.model, FLAGS.output, FLAGS.config, FLAGS.data_dir)


def compress(model, output, config, data_dir=None):
    """Compresses, or goes on compressing.

    Args:
        model: path of the `.keras` file of a trained model.
        output: path of the `.keras` file to write.
        config: `ConfigDict` with the keys of `training/configs/compress_base.py`.
        data_dir: folder of the image set; "digits" needs none.

    Returns:
        list of dicts, the rows of the table: the original and the model after each step.

    Raises:
        ValueError: a setting or the backend does not fit, or the steps begun there were others.
        OSError: the model or the images are not there, or a file cannot be written.
    """
    require_backend("tensorflow", "jax")
    from training.compressing.chain import chain
    from training.compressing.table import measure, table
    from training.fitting import fit
    from training.run_files import machine

    model, output = pathlib.Path(model), pathlib.Path(output)
    _check_output(output)
    original, run_values = load_model(model), run_config_beside(model)
    steps = chain(config, run_values, original.input_shape[1:])
    _check_beside(output, steps[0].values)
    _check_teachers(steps)
    folder = output.with_suffix(".steps")
    first = fit.Data(steps[0].values, data_dir)

    rows = [{"step": "original", **measure(original, first, steps[0].values)}]
    print(table(rows), flush=True)
    path = model
    for number, step in enumerate(steps, 1):
        pruned = any(earlier.name == "prune" for earlier in steps[: number - 1])
        place = folder / f"{number}_{step.name}"
        rows.append(_do(step, path, model, place, data_dir, keep_zeros=pruned))
        path = place / "model.keras"
        print(table([rows[0], rows[-1]]).splitlines()[-1])

    with replacing(output) as temporary:
        shutil.copyfile(path, temporary)
    _write_beside(output, steps[-1].values, first.train_set.class_names)
    report = output.with_suffix(".compress.json")
    write_json(report, {"model": str(model), "data": first.name, "steps": rows, **machine.describe()})
    print(f"{table(rows)}\nwrote {output} and {report}")
    return rows


def _do(step, source, original, folder, data_dir, keep_zeros):
    """Does one step, or what is left of it, and gives its row of the table."""
    from hsvit_keras.compression.rewriting import with_dtype
    from training.compressing.steps import STEPS, Task
    from training.compressing.table import measure
    from training.fitting import fit

    values = step.values
    begun = {**values, "step": step.name, "arguments": step.arguments, "source": _digest(source)}
    if row := _finished(folder, begun):
        print(f"{folder} holds this step, finished")
        return row
    run = RunDirectory(folder)
    run.check_config(begun)
    run.check_backend()
    random.seed(values["seed"])
    data = fit.Data(values, data_dir)
    model = with_dtype(load_model(source), values["dtype"])
    model, callbacks = STEPS[step.name](model, Task(data, values), **step.arguments)
    if keep_zeros and step.name != "prune":
        from hsvit_keras.compression import prune

        callbacks.append(prune(model, None))
    print(f"\n{step}: {values['epochs']} epochs", flush=True)
    if values["epochs"]:
        learning = fit.with_teachers(model, values, original)
        fit.compile_model(learning, values, data.steps)
        fit.fit(learning, run, begun, data, more_callbacks=callbacks)
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
    content = json.loads(path.read_text())
    if found := differences(content["config"], begun):
        listed = "; ".join(f"{key} was {was!r} and is {now!r}" for key, was, now in found)
        raise InputError(
            f"{folder} holds another step: {listed}. Remove this folder and those of the steps behind it, or "
            "choose another --output"
        )
    return content["row"]


def _digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _check_output(output):
    if output.suffix != ".keras":
        raise InputError(f"--output has to end in .keras; received {output}")
    if not output.parent.is_dir():
        raise MissingFileError(f"cannot write {output}: there is no folder {output.parent}")


def _check_beside(output, values):
    """Exporters take the normalization from the config.json beside a model: it has to be the right one."""
    theirs = run_config_beside(output)
    for name in ("data", "mean", "std"):
        found = theirs.get(name)
        if theirs and found != values[name]:
            raise InputError(
                f"beside {output} lies the config.json of another run, with {name} {found!r} and not "
                f"{values[name]!r}: choose another folder"
            )


def _check_teachers(steps):
    for step in steps:
        for path in step.values["distillation"]["teachers"]:
            if path != "original" and not pathlib.Path(path).is_file():
                raise MissingFileError(f"step {step.name!r}: there is no teacher {path}")


def _write_beside(output, values, class_names):
    """What tells those who use the model of its images and classes, unless a run has told already."""
    if not run_config_beside(output):
        write_json(output.with_name("config.json"), values)
        with replacing(output.with_name("labels.txt")) as temporary:
            temporary.write_text("".join(f"{name}\n" for name in class_names))


if __name__ == "__main__":
    define_flags()
    commands.run(main)

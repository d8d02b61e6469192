"""Trains a model: `python -m training.train --config=training/configs/digits.py --workdir=DIR`.

Any value of the config can be changed, as in `--config.batch_size=64 --config.model=hsvit_c4a8`, and any
argument of the model, as in `--config.model=pit_ti --config.model_arguments.depths="(1, 1, 1)"`. The folder
gets `best.keras` (the model of the best epoch, in float32, without optimizer), `last.keras` (to go on from),
`metrics.jsonl`, TensorBoard events, `curves.png`, `config.json`, `run.json` (the backend), `labels.txt` and
`summary.json`. A run that was killed goes on when it is started again, and ends as if nothing had happened:
bit for bit on a CPU; on a GPU, XLA has to be asked for that by the environment variable
XLA_FLAGS=--xla_gpu_deterministic_ops=true.
"""

import functools
import math
import random
import sys

from absl import flags
from ml_collections import config_flags

from command_line import commands
from hsvit_keras.backends import require_backend
from hsvit_runtime.errors import InputError
from training.recipes import recipe
from training.run_files.run_directory import RunDirectory

FLAGS = flags.FLAGS


def define_flags():
    config_flags.DEFINE_config_file(
        "config",
        None,
        "File with the hyper-parameters.",
        lock_config=False,
        accept_new_attributes=True,  # any argument of the model; `recipe.plain` refuses other new keys
    )
    flags.DEFINE_string("workdir", None, "Folder of the run.")
    flags.DEFINE_string("data_dir", None, "Folder with the official files of the image set.")
    flags.DEFINE_enum(
        "distribution",
        None,
        ("data", "groups"),
        "What several devices share out, on JAX: the images of each batch, or the attention groups.",
    )
    flags.DEFINE_integer("num_devices", None, "Devices for --distribution.", lower_bound=1)


def main(_):
    if FLAGS.workdir is None:
        raise InputError("--workdir is needed: the folder of the run")
    if (FLAGS.distribution is None) != (FLAGS.num_devices is None):
        raise InputError("--distribution and --num_devices need each other")
    train(FLAGS.config, FLAGS.workdir, FLAGS.data_dir, FLAGS.distribution, FLAGS.num_devices)


def train(config, workdir, data_dir=None, distribution=None, num_devices=None):
    """Trains, or goes on training.

    Args:
        config: `ConfigDict` with the keys of `training/configs/hsvit_base.py`.
        workdir: folder of the run.
        data_dir: folder of the image set; "digits" needs none.
        distribution: str, what several devices share out, see `training.fitting.distribution`; None for one device.
        num_devices: int, how many.

    Returns:
        dict, the summary of the run.

    Raises:
        ValueError: the config, the workdir or the backend does not fit, or the loss became NaN or infinite.
        OSError: the images are not there or one cannot be read, or the workdir cannot be written.
    """
    values = recipe.plain(config)
    run = RunDirectory(workdir)
    run.check_config(values)
    if summary := run.summary():
        print(f"{workdir} holds a finished run: nothing to do")
        return summary
    require_backend("tensorflow", "jax")
    run.check_backend()
    from training.fitting import fit
    from training.fitting.distribution import communication, distribute, take_devices
    from training.run_files import curves, machine

    devices = take_devices(num_devices) if distribution else None
    random.seed(values["seed"])  # Keras takes the seeds of the initial weights from there
    data = fit.Data(values, data_dir)
    sharing = []
    if distribution:
        build = functools.partial(build_model, values, data.num_classes)
        sharing = distribute(distribution, devices, values["batch_size"], build)
    model = build_model(values, data.num_classes)
    learning = fit.with_teachers(model, values)
    fit.compile_model(learning, values, data.steps)
    _announce(values, model, data)
    sent = communication(learning, next(iter(data.test()))) if distribution else None
    if distribution:
        print(f"{num_devices} devices, each sends {sent['sent_by_each_device']:,} bytes a step")
    fit.fit(learning, run, values, data, FloatCopy(model), sharing)

    best = run.best_row()
    summary = {
        "model": values["model"],
        "parameters": num_parameters(model),
        "non_trainable_parameters": model.count_params() - num_parameters(model),
        "data": values["data"],
        "images": {"train": len(data.train_set), "test": len(data.test_set)},
        "epochs": values["epochs"],
        "seconds": round(sum(row["seconds"] for row in run.rows), 1),
        "last": run.rows[-1],
        "best": best,
        "distribution": distribution and {"kind": distribution, "num_devices": num_devices, "bytes": sent},
        **machine.describe(),
    }
    curves.draw(run.rows, run.path / "curves.png")
    run.finish(summary)
    print(f"best: epoch {best['epoch']}, accuracy on the test part {best['val_accuracy']:.4f}, in {run.path}")
    return summary


def build_model(values, num_classes):
    """Makes the model of a config.

    Args:
        values: plain config.
        num_classes: int.

    Returns:
        A `keras.Model` from images to logits.

    Raises:
        ValueError: the model, or an argument of it, is unknown or does not fit.
    """
    import hsvit_keras

    try:
        return hsvit_keras.create_model(
            values["model"],
            input_shape=tuple(values["image_shape"]),
            num_classes=num_classes,
            dtype=values["dtype"],
            **values["model_arguments"],
        )
    except TypeError as error:
        raise InputError(f"config.model_arguments: {error}") from error


def num_parameters(model):
    """The number of trainable parameters: what the paper counts."""
    return sum(math.prod(variable.shape) for variable in model.trainable_variables)


class FloatCopy:
    """Gives a float32 copy of a model in training, without optimizer: what is deployed.

    Args:
        model: `keras.Model` with a `dtype` in its config.
    """

    def __init__(self, model):
        self._model = model
        self._copy = type(model).from_config({**model.get_config(), "dtype": "float32"})

    def __call__(self):
        self._copy.set_weights(self._model.get_weights())
        return self._copy


def _announce(values, model, data):
    import keras

    teachers = values["distillation"]["teachers"]
    print(
        f"{values['model']} ({num_parameters(model):,} parameters) on {values['data']}: "
        f"{len(data.train_set):,} images to train on, {len(data.test_set):,} to test on; Keras on "
        f"{keras.backend.backend()}, {values['dtype']}"
        + (f"; taught by {', '.join(teachers)}" if teachers else "")
    )


def _config_error(error):
    """In one line, why the config file, or a change of one of its values, cannot be used."""
    title = "unknown key" if isinstance(error, AttributeError) else "cannot be used"
    while error.args and isinstance(error.args[-1], Exception):  # the library wraps what happened
        error = error.args[-1]
    reason = str(error.args[0]) if isinstance(error, AttributeError | KeyError) else str(error)
    if isinstance(error, OSError):  # the last of the lines about what was tried
        reason = reason.strip().splitlines()[-1]
    return f"error: --config: {title}: {' '.join(reason.split())}"


if __name__ == "__main__":
    define_flags()
    try:
        commands.run(main)
    except Exception as error:  # the config file is read with the flags, and may raise anything
        if FLAGS.is_parsed():
            raise
        sys.exit(_config_error(error))

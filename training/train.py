"""Trains a model: `python -m training.train --config=training/configs/digits.py --workdir=DIR`.

Any value of the config can be changed, as in `--config.batch_size=64 --config.model=hsvit_c4a8`. The folder
gets `best.keras` (the model of the best epoch, in float32, without optimizer), `last.keras` (to go on from),
`metrics.jsonl`, TensorBoard events, `curves.png`, `config.json`, `labels.txt` and `summary.json`. A run that
was killed goes on when it is started again, and ends as if nothing had happened: bit for bit on a CPU; on a
GPU, XLA has to be asked for that by the environment variable XLA_FLAGS=--xla_gpu_deterministic_ops=true.
"""

import random
import sys

from absl import flags
from ml_collections import config_flags

from training import commands, recipe
from training.data import batches, load_dataset, steps_per_epoch
from training.run_directory import RunDirectory

FLAGS = flags.FLAGS


def define_flags():
    config_flags.DEFINE_config_file("config", None, "File with the hyper-parameters.")
    flags.DEFINE_string("workdir", None, "Folder of the run.", required=True)
    flags.DEFINE_string("data_dir", None, "Folder with the official files of the image set.")


def main(_):
    train(FLAGS.config, FLAGS.workdir, FLAGS.data_dir)


def train(config, workdir, data_dir=None):
    """Trains, or goes on training.

    Args:
        config: `ConfigDict` with the keys of `training/configs/hsvit_base.py`.
        workdir: folder of the run.
        data_dir: folder of the image set; "digits" needs none.

    Returns:
        dict, the summary of the run.

    Raises:
        ValueError: the config or the workdir does not fit, or the loss became NaN or infinite.
        OSError: the images are not there, or the workdir cannot be written.
    """
    values = recipe.plain(config)
    run = RunDirectory(workdir)
    run.check_config(values)
    if summary := run.summary():
        print(f"{workdir} holds a finished run: nothing to do")
        return summary
    commands.require_backend("tensorflow", "jax")
    from training import callbacks, curves, machine
    from training.augmentation import Augmentation

    random.seed(values["seed"])  # Keras takes the seeds of the initial weights from there
    train_set, test_set = (load_dataset(values["data"], split, data_dir) for split in ("train", "test"))
    num_classes = len(train_set.class_names)
    epochs, batch_size = values["epochs"], values["batch_size"]
    steps = steps_per_epoch(train_set, batch_size, drop_remainder=True)
    preparation = {key: values[key] for key in ("batch_size", "image_shape", "mean", "std", "num_workers")}
    test_batches = batches(test_set, **preparation, augment=Augmentation((), num_classes))
    augment = Augmentation(values["augmentation"], num_classes)
    model = build_model(values, num_classes)
    compile_model(model, values, steps)
    run.start(values, train_set.class_names, model)
    _announce(values, run, model, train_set, test_set)

    done = len(run.rows)
    if done < epochs:
        model.fit(
            batches(
                train_set,
                **preparation,
                shuffle=True,
                seed=values["seed"],
                augment=augment,
                epochs=epochs,
                start_batch=done * steps,
                drop_remainder=True,
            ),
            steps_per_epoch=steps,
            initial_epoch=done,
            epochs=epochs,
            validation_data=test_batches,
            validation_steps=steps_per_epoch(test_set, batch_size),
            shuffle=False,
            verbose=0,
            callbacks=[
                callbacks.EpochSeeds(values["seed"]),
                callbacks.StopAtNonFinite(
                    f"Try a lower learning_rate than {values['learning_rate']} or more warmup_epochs than "
                    f"{values['warmup_epochs']}; the files of the last finished epoch are in {workdir}"
                ),
                callbacks.EpochRecords(run, FloatCopy(model), epochs, steps, batch_size),
            ],
        )

    best = run.best_row()
    summary = {
        "model": values["model"],
        "parameters": model.count_params(),
        "data": values["data"],
        "images": {"train": len(train_set), "test": len(test_set)},
        "epochs": epochs,
        "seconds": round(sum(row["seconds"] for row in run.rows), 1),
        "last": run.rows[-1],
        "best": best,
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

    arguments = {name: value for name, value in values["model_arguments"].items() if value is not None}
    try:
        return hsvit_keras.create_model(
            values["model"],
            input_shape=tuple(values["image_shape"]),
            num_classes=num_classes,
            dtype=values["dtype"],
            **arguments,
        )
    except TypeError as error:
        raise ValueError(f"config.model_arguments: {error}") from error


def compile_model(model, values, steps):
    """Sets the optimizer, the loss and the metric of a config.

    Args:
        model: `keras.Model` with logits.
        values: plain config.
        steps: int, steps in an epoch.
    """
    import keras

    warmup = values["warmup_epochs"] * steps
    schedule = keras.optimizers.schedules.CosineDecay(
        initial_learning_rate=0.0 if warmup else values["learning_rate"],
        decay_steps=values["epochs"] * steps - warmup,
        warmup_target=values["learning_rate"] if warmup else None,
        warmup_steps=warmup,
    )
    optimizer = keras.optimizers.AdamW(schedule, weight_decay=values["weight_decay"])
    if values["dtype"] == "mixed_float16":  # small gradients would vanish
        optimizer = keras.optimizers.LossScaleOptimizer(optimizer)
    model.compile(
        optimizer,
        loss=keras.losses.CategoricalCrossentropy(
            from_logits=True, label_smoothing=values["label_smoothing"]
        ),
        metrics=[keras.metrics.CategoricalAccuracy(name="accuracy")],
        jit_compile=_jit(values["jit"]),
    )
    optimizer.build(model.trainable_variables)


def _jit(wanted):
    """Compile by XLA as the config says; by default except on TensorFlow's CPU, where it is slower."""
    import keras

    on_cpu = all("cpu" in device.lower() for device in keras.distribution.list_devices())
    return wanted if wanted is not None else not (keras.backend.backend() == "tensorflow" and on_cpu)


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


def _announce(values, run, model, train_set, test_set):
    import keras

    print(
        f"{values['model']} ({model.count_params():,} parameters) on {values['data']}: {len(train_set):,} "
        f"images to train on, {len(test_set):,} to test on; Keras on {keras.backend.backend()}, "
        f"{values['dtype']}"
    )
    if run.rows:
        print(f"going on after epoch {len(run.rows)} of {values['epochs']}")


def _parsing_error(error):
    """In one line, how the config library tells of a missing file or of a name that is no key."""
    title = "unknown key" if isinstance(error, AttributeError) else "cannot be used"
    while isinstance(error, Exception):
        error = error.args[-1]
    return f"error: --config: {title}: {' '.join(str(error).split())}"


if __name__ == "__main__":
    define_flags()
    try:
        commands.run(main)
    except (AttributeError, OSError, TypeError) as error:
        if FLAGS.is_parsed():
            raise
        sys.exit(_parsing_error(error))

"""How a model is fitted: the batches, optimizer and loss of a config, in a folder that a run goes on from."""

import contextlib
import re

import keras

from hsvit_keras.layers.model_description import description_of
from hsvit_keras.model_files import load_model
from hsvit_runtime.errors import FileError, InputError
from training.fitting import callbacks, optimization
from training.fitting.distillation import Distiller


def with_teachers(model, values, original=None):
    """The model to fit: a `Distiller` around `model` where the config names teachers, else `model` itself.

    Args:
        model: `keras.Model` with logits.
        values: plain config; `distillation.teachers` are paths of `.keras` files.
        original: path of the model that is meant by the teacher "original".

    Raises:
        FileNotFoundError: a teacher is not there.
        ValueError: a teacher does not fit, or takes other values of pixels.
    """
    settings = dict(values["distillation"])
    teachers = [_teacher(path, model, original) for path in settings.pop("teachers")]
    return Distiller(model, teachers, **settings) if teachers else model


def compile_model(model, values, task, *, num_classes, steps):
    """Sets the optimizer of a config, and the loss and the metrics of a task.

    Args:
        model: `keras.Model` with logits.
        values: plain config.
        task: `hsvit_keras.tasks.Task`.
        num_classes: int.
        steps: int, steps in an epoch.
    """
    model.compile(
        optimization.build_optimizer(model, values, steps),
        loss=task.loss(values["label_smoothing"]),
        metrics=task.metrics(num_classes),
        jit_compile=jit(values["jit"]),
    )


def jit(wanted):
    """Whether XLA compiles: as the config says, by default except on TensorFlow's CPU, where it is slower."""
    on_cpu = all("cpu" in device.lower() for device in keras.distribution.list_devices())
    return wanted if wanted is not None else not (keras.backend.backend() == "tensorflow" and on_cpu)


def fit(model, run, values, data, best_model=None, more_callbacks=()):
    """Fits a model from the last epoch in the run's folder on. It ends with averaged weights where asked.

    Args:
        model: compiled `keras.Model` or `Distiller` whose optimizer is built.
        run: `RunDirectory`.
        values: plain config.
        data: `training.fitting.data.Data`.
        best_model: function that gives the model to save if an epoch is the best so far; None saves none.
        more_callbacks: list of `keras.callbacks.Callback`, called before an epoch is recorded.

    Raises:
        ValueError: the loss became NaN or infinite, or the files of the last epoch are damaged.
        OSError: an image cannot be read, or the folder cannot be written.
    """
    saved = model.learner if isinstance(model, Distiller) else model
    run.start(values, saved, data.task.metric)
    done, epochs = len(run.rows), values["epochs"]
    if done:
        print(f"going on after epoch {done} of {epochs}")
    if done < epochs:
        _fit_from(done, model, saved, run, values, data, best_model, more_callbacks)
    model.optimizer.finalize_variable_values(model.trainable_variables)


def _fit_from(done, model, saved, run, values, data, best_model, more_callbacks):
    """Fits a model for the epochs behind the first `done`."""
    epochs = values["epochs"]

    def best():
        with optimization.averaged(model.optimizer):
            return best_model()

    with _naming_broken_images(data):
        model.fit(
            data.train(epochs, done),
            steps_per_epoch=data.steps,
            initial_epoch=done,
            epochs=epochs,
            validation_data=data.validation(),
            validation_steps=data.validation_steps,
            shuffle=False,
            verbose=0,
            callbacks=[
                callbacks.EpochSeeds(values["seed"]),
                callbacks.StopAtNonFinite(
                    f"Try a lower learning_rate than {values['learning_rate']} or more "
                    f"warmup_epochs than {values['warmup_epochs']}",
                    run.path,
                ),
                *more_callbacks,
                callbacks.EpochRecords(
                    run, saved, best_model and best, epochs, data.steps, values["batch_size"]
                ),
                *optimization.callbacks(values),
            ],
        )


def _teacher(path, student, original):
    teacher = load_model(original if original and path == "original" else path)
    theirs, ours = description_of(teacher).input_range, description_of(student).input_range
    if theirs != ours:
        raise InputError(
            f"teacher {path} takes pixels of {_shown(theirs)}, and {student.name} of {_shown(ours)}: they "
            "get the same batches"
        )
    return teacher


def _shown(input_range):
    return "values that it does not say" if input_range is None else "{:g} to {:g}".format(*input_range)


@contextlib.contextmanager
def _naming_broken_images(data):
    """Raises an error that says what to do about an image that cannot be read."""
    try:
        yield
    except Exception as error:
        # TensorFlow wraps the text of an error in the pipeline in an error of its own.
        found = re.search(r"cannot read the image .*", str(error))
        if not found:
            raise
        raise FileError(
            f"{found[0]}. Remove or replace it: `python -m training.data --data={data.name} "
            f"--data_dir={data.data_dir} --verify` lists all such images"
        ) from error

"""How a model is fitted: the batches, optimizer and loss of a config, in a folder that a run goes on from."""

import contextlib
import re

import keras

from command_line.model_data import check_takes_images, input_range_of
from hsvit_keras.layers.model_description import description_of
from hsvit_keras.model_files import load_model
from hsvit_runtime.errors import FileError, InputError
from training.fitting import callbacks, freezing, optimization
from training.fitting.distillation import Distiller
from training.fitting.judging import JudgeWhole
from training.fitting.onnx_teacher import OnnxTeacher
from training.run_files.machine import on_cpu


def with_teachers(model, values, original=None):
    """The model to fit: a `Distiller` around `model` where the config names teachers, else `model` itself.

    Args:
        model: `keras.Model` with logits.
        values: plain config; `distillation.teachers` are paths of `.keras` and `.onnx` files.
        original: path of the model that is meant by the teacher "original".

    Raises:
        FileNotFoundError: a teacher is not there.
        ValueError: a teacher does not fit, or does not say which values its pixels have.
    """
    settings = dict(values["distillation"])
    own_range = settings.pop("teacher_input_range")
    input_range = description_of(model).input_range or tuple(values["input_range"])
    teachers = [
        _teacher(original if original and path == "original" else path, model, input_range, own_range)
        for path in settings.pop("teachers")
    ]
    return Distiller(model, teachers, **settings) if teachers else model


def learner(model, values, task, original=None):
    """The model to fit, see `with_teachers`, as the loss of a task reads it: `Task.learner`.

    Raises:
        ValueError: as `with_teachers`, or the task cannot learn from teachers.
    """
    teachers = values["distillation"]["teachers"]
    if teachers and not task.learns_from_teachers:
        raise InputError(
            f"distillation.teachers={tuple(teachers)}: models for {task.name} learn from labels alone; "
            "teachers are for outputs that are logits of classes"
        )
    return task.learner(with_teachers(model, values, original))


def compile_model(model, values, task, *, num_classes, steps, class_weights=None, epoch=0):
    """Sets the optimizer of a config, and the loss and the metrics of a task.

    Args:
        model: `keras.Model` with logits.
        values: plain config.
        task: `hsvit_keras.tasks.Task`.
        num_classes: int.
        steps: int, steps in an epoch.
        class_weights: sequence of float, or None.
        epoch: int, the first one that the optimizer is for, from 0 on.
    """
    model.compile(
        optimization.build_optimizer(model, values, steps, epoch),
        loss=task.loss(values["label_smoothing"], class_weights, model),
        metrics=task.metrics(num_classes),
        jit_compile=jit(values["jit"], task),
    )


def jit(wanted, task=None):
    """Whether XLA compiles: as the config says, by default except on TensorFlow's CPU, where it is slower.

    On TensorFlow it cannot compile the loss of some tasks.
    """
    on_tensorflow = keras.backend.backend() == "tensorflow"
    if on_tensorflow and task is not None and task.loss_is_on_host:
        return False
    return wanted if wanted is not None else not (on_tensorflow and on_cpu())


def prepare(model, values, data, epoch):
    """Freezes what is frozen in an epoch, and compiles a model with an optimizer for the rest of it.

    Args:
        model: `keras.Model` or `Distiller`, see `learner`.
        values: plain config.
        data: `training.fitting.data.Data`.
        epoch: int, from 0 on.
    """
    freezing.freeze(getattr(model, "student", model), values, epoch)
    compile_model(
        model,
        values,
        data.task,
        num_classes=data.num_classes,
        steps=data.steps,
        class_weights=data.class_weights,
        epoch=max((thaw for thaw in freezing.thaws(values) if thaw <= epoch), default=0),
    )


def fit(model, judged, run, values, data, best_model=None, more_callbacks=()):
    """Fits a model from the last epoch in the run's folder on. It ends with averaged weights where asked.

    Where a part of the model thaws, an optimizer begins anew, from averaged weights where there are any; the
    learning rate goes on.

    Args:
        model: `keras.Model` or `Distiller`, prepared for the last epoch in the folder, the first if there is
            none.
        judged: `keras.Model` over the same layers whose outputs the task judges.
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
    if data.task.judges_whole:
        more_callbacks = [*more_callbacks, JudgeWhole(judged, data)]
    run.start(values, saved, data.task.metric)
    if run.rows:
        print(f"going on after epoch {len(run.rows)} of {values['epochs']}")
    thaws = freezing.thaws(values)
    for end in (*thaws, values["epochs"]):
        done = len(run.rows)
        if done > end:
            continue
        if done < end and not has_ended(run, values):
            if done in thaws:
                prepare(model, values, data, done)
            _fit_until(end, model, saved, run, values, data, best_model, more_callbacks)
        model.optimizer.finalize_variable_values(model.trainable_variables)


def has_ended(run, values):
    """Whether all epochs are done, or so many of them in a row were not the best that it is enough.

    Epochs before the last part thawed do not count.

    Args:
        run: `RunDirectory`.
        values: plain config.
    """
    done, patience = len(run.rows), values["patience"]
    if patience is None or not done:
        return done >= values["epochs"]
    last_better = max(run.best_row()["epoch"], *freezing.thaws(values), 0)
    return done >= min(values["epochs"], last_better + patience)


def _fit_until(end, model, saved, run, values, data, best_model, more_callbacks):
    """Fits a model for the epochs from the last that is done to `end`."""
    done, epochs = len(run.rows), values["epochs"]

    def best():
        with optimization.averaged(model.optimizer):
            return best_model()

    with _naming_broken_images(data):
        model.fit(
            data.train(epochs, done),
            steps_per_epoch=data.steps,
            initial_epoch=done,
            epochs=end,
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
                callbacks.StopWhen(lambda: has_ended(run, values)),
                *optimization.callbacks(values),
            ],
        )


def _teacher(path, student, input_range, own_range):
    """A teacher that takes the student's images, with black and white pixels of the values `input_range`."""
    option = "config.distillation.teacher_input_range"
    try:
        if str(path).endswith(".onnx"):
            return OnnxTeacher(path, student.input_shape[1:], input_range, own_range, option)
        teacher = load_model(path)
        said = description_of(teacher)
        if said.input_range == description_of(student).input_range:
            return teacher
        given = own_range if said.input_range is None else None
        return _rescaled(teacher, input_range, input_range_of(said, given, option))
    except InputError as error:
        raise type(error)(f"teacher {path}: {error}") from error


def _rescaled(teacher, input_range, own_range):
    """The teacher behind a layer that maps one range of pixels to another."""
    if own_range == input_range:
        return teacher
    check_takes_images(teacher)
    (low, high), (own_low, own_high) = input_range, own_range
    scale = (own_high - own_low) / (high - low)
    images = keras.Input(batch_shape=teacher.input_shape)
    rescaled = keras.layers.Rescaling(scale, own_low - low * scale)(images)
    return keras.Model(images, teacher(rescaled), name=teacher.name)


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

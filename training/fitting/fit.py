"""How a model is fitted: the batches, optimizer and loss of a config, in a folder that a run goes on from."""

import contextlib
import re

import keras
import numpy as np

from data_sets import batches, load_dataset, steps_per_epoch
from hsvit_keras.model_files import load_model, normalization_beside
from hsvit_runtime.errors import FileError, InputError
from training.fitting import callbacks
from training.fitting.augmentation import Augmentation
from training.fitting.distillation import Distiller


class Data:
    """The two parts of an image set, and the batches that a config makes of them.

    Args:
        values: plain config.
        data_dir: folder of the image set; "digits" needs none.

    Attributes:
        train_set, test_set: `ImageDataset`.
        num_classes: int.
        steps, test_steps: int, batches in an epoch of training and of the test part.

    Raises:
        ValueError: the image set or the augmentation is unknown, or an epoch would have no batch.
        OSError: the images are not there.
    """

    def __init__(self, values, data_dir=None):
        self.name, self.data_dir, self._seed = values["data"], data_dir, values["seed"]
        self.train_set, self.test_set = (
            load_dataset(self.name, part, data_dir) for part in ("train", "test")
        )
        self.num_classes = len(self.train_set.class_names)
        self.steps = steps_per_epoch(self.train_set, values["batch_size"], drop_remainder=True)
        self.test_steps = steps_per_epoch(self.test_set, values["batch_size"])
        self._preparation = {
            key: values[key] for key in ("batch_size", "image_shape", "mean", "std", "num_workers")
        }
        self._augment = Augmentation(values["augmentation"], self.num_classes)
        self._one_hot = Augmentation((), self.num_classes)
        self.test()  # says at once what is wrong with the preparation

    def train(self, epochs, epoch=0):
        """Shuffled and augmented batches from `epoch` on, without an epoch's smaller last one."""
        return batches(
            self.train_set,
            **self._preparation,
            shuffle=True,
            seed=self._seed,
            augment=self._augment,
            epochs=epochs,
            start_batch=epoch * self.steps,
            drop_remainder=True,
        )

    def test(self):
        """Batches of the test part."""
        return batches(self.test_set, **self._preparation, augment=self._one_hot)


def with_teachers(model, values, original=None):
    """The model to fit: a `Distiller` around `model` where the config names teachers, else `model` itself.

    Args:
        model: `keras.Model` with logits.
        values: plain config; `distillation.teachers` are paths of `.keras` files.
        original: path of the model that is meant by the teacher "original".

    Raises:
        FileNotFoundError: a teacher is not there.
        ValueError: a teacher does not fit, or was trained on images that were normalized otherwise.
    """
    settings = dict(values["distillation"])
    teachers = [_teacher(path, values, original) for path in settings.pop("teachers")]
    return Distiller(model, teachers, **settings) if teachers else model


def compile_model(model, values, steps):
    """Sets the optimizer, the loss and the metric of a config.

    Args:
        model: `keras.Model` with logits.
        values: plain config.
        steps: int, steps in an epoch.
    """
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
        jit_compile=jit(values["jit"]),
    )
    optimizer.build(model.trainable_variables)


def jit(wanted):
    """Compile by XLA as the config says; by default except on TensorFlow's CPU, where it is slower."""
    on_cpu = all("cpu" in device.lower() for device in keras.distribution.list_devices())
    return wanted if wanted is not None else not (keras.backend.backend() == "tensorflow" and on_cpu)


def fit(model, run, values, data, best_model=None, more_callbacks=()):
    """Fits a model from the last epoch in the run's folder on.

    Args:
        model: compiled `keras.Model` or `Distiller` whose optimizer is built.
        run: `RunDirectory`.
        values: plain config.
        data: `Data`.
        best_model: function that gives the model to save if an epoch is the best so far; None saves none.
        more_callbacks: list of `keras.callbacks.Callback`, called before an epoch is put on record.

    Raises:
        ValueError: the loss became NaN or infinite, or the files of the last epoch are damaged.
        OSError: an image cannot be read, or the folder cannot be written.
    """
    saved = model.learner if isinstance(model, Distiller) else model
    run.start(values, data.train_set.class_names, saved)
    done, epochs = len(run.rows), values["epochs"]
    if done:
        print(f"going on after epoch {done} of {epochs}")
    if done == epochs:
        return
    with _naming_broken_images(data):
        model.fit(
            data.train(epochs, done),
            steps_per_epoch=data.steps,
            initial_epoch=done,
            epochs=epochs,
            validation_data=data.test(),
            validation_steps=data.test_steps,
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
                callbacks.EpochRecords(run, saved, best_model, epochs, data.steps, values["batch_size"]),
            ],
        )


def _teacher(path, values, original):
    if original and path == "original":
        return load_model(original)
    model = load_model(path)
    for name, theirs in zip(("mean", "std"), normalization_beside(path), strict=True):
        if np.ravel(theirs).tolist() != np.ravel(values[name]).tolist():
            raise InputError(
                f"teacher {path} learned from images normalized with {name} {theirs}, as the config.json "
                f"beside it says or lacks; here it is {values[name]}"
            )
    return model


@contextlib.contextmanager
def _naming_broken_images(data):
    """Says in one line what to do about an image that cannot be read."""
    try:
        yield
    except Exception as error:
        # TensorFlow hands out the text of the error from the pipeline, in an error of its own.
        found = re.search(r"cannot read the image .*", str(error))
        if not found:
            raise
        raise FileError(
            f"{found[0]}. Remove or replace it: `python -m training.data --data={data.name} "
            f"--data_dir={data.data_dir} --verify` lists all such images"
        ) from error

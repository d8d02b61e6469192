"""The parts of a data set that a config trains, validates and tests on, and the batches it makes of them."""

from data_sets import (
    batches,
    few_of,
    load_dataset,
    load_validation,
    sample_batches,
    split_off,
    steps_per_epoch,
)
from data_sets.crops import CentreCrop, CropOfModel
from data_sets.pipeline import PIXELS
from hsvit_keras.layers.model_description import description_of
from hsvit_keras.tasks import task_named
from hsvit_runtime.errors import InputError
from hsvit_runtime.resizing import Resizing
from training.fitting.augmentation import Augmentation, read_table


class Data:
    """A data set in its parts.

    Args:
        values: plain config.
        data_dir: folder of the data set; "digits" needs none.
        input_range: (low, high), the values that black and white pixels get.
        resizing: dict of what the model asks for, see `hsvit_runtime.resizing.Resizing`, or None.

    Attributes:
        name: str.
        task: `hsvit_keras.tasks.Task` of the labels, or of the model whose task was taken.
        class_names: tuple of str.
        num_classes: int.
        train_set, validation_set, test_set: `ImageDataset`.
        validation_part: str, in words which part validates.
        steps, validation_steps, test_steps: int, batches in an epoch of each part.

    Raises:
        ValueError: the data set or the augmentation is unknown, or an epoch would have no batch.
        OSError: the images are not there.
    """

    def __init__(self, values, data_dir=None, input_range=PIXELS, resizing=None):
        read_table(values["augmentation"])  # a typo shows before a large data set is looked through
        self.name, self.data_dir, self._seed = values["data"], data_dir, values["seed"]
        self.test_set = load_dataset(self.name, "test", data_dir)
        self.train_set, self.validation_set, self.validation_part = _divide(
            _train_part(self.name, values["train_images"], data_dir),
            self.test_set,
            values["validation"],
            data_dir,
        )
        self.task = task_named(self.train_set.task)
        self.class_names = self.train_set.class_names
        if self.test_set.class_names != self.class_names:
            raise InputError(f"{self.name} has other classes in its test part than in its training part")
        self.num_classes = len(self.class_names)
        batch_size = values["batch_size"]
        self.steps = steps_per_epoch(self.train_set, batch_size, drop_remainder=True)
        self.validation_steps = steps_per_epoch(self.validation_set, batch_size)
        self.test_steps = steps_per_epoch(self.test_set, batch_size)
        preparation = {
            "input_range": tuple(input_range),
            **{key: values[key] for key in ("batch_size", "image_shape", "num_workers")},
        }
        crop = CentreCrop(**values["evaluation_crop"])
        if resizing is not None:
            crop = CropOfModel(Resizing.from_json(resizing))
        self._augment = Augmentation(values["augmentation"], self.task, self.num_classes)
        self._training = {**preparation, "crop": self._augment.crop or crop, "views": values["views"]}
        self._evaluation = {**preparation, "crop": crop}
        self._unchanged = Augmentation((), self.task, self.num_classes)
        # What is wrong with the preparation is said at once.
        self._augment.try_out(values["image_shape"], self.train_set.labels[:1])
        self.train(epochs=1)
        self.test()

    def train(self, epochs, epoch=0):
        """Shuffled and augmented batches from `epoch` on, without an epoch's smaller last one."""
        return batches(
            self.train_set,
            **self._training,
            shuffle=True,
            seed=self._seed,
            augment=self._augment,
            epochs=epochs,
            start_batch=epoch * self.steps,
            drop_remainder=True,
        )

    def validation(self):
        """Batches of the validation part."""
        return batches(self.validation_set, **self._evaluation, augment=self._unchanged)

    def test(self):
        """Batches of the test part."""
        return batches(self.test_set, **self._evaluation, augment=self._unchanged)

    def sample(self, count):
        """Batches (images, labels) of some training images, spread over the classes."""
        preparation = {key: self._evaluation[key] for key in ("image_shape", "input_range", "crop")}
        return sample_batches(self.train_set, count, **preparation)

    def take_task_of(self, model):
        """Takes the task that a model says, such as `dense_detection` of data sets for `detection`.

        Raises:
            InputError: the model is not for this data set's task or classes.
        """
        said = description_of(model).task
        task = self.task if said is None else task_named(said)
        if task.data_task != self.task.data_task:
            raise InputError(
                f"{model.name} is a model for {said}, and the data set {self.name} is for {self.task.name}"
            )
        shapes = [tuple(output.shape) for output in model.outputs]
        task.check_outputs(shapes, self.class_names, model.name)
        self.task = task


def _train_part(name, count, data_dir):
    dataset = load_dataset(name, "train", data_dir)
    if count is not None and count > len(dataset):
        raise InputError(f"config.train_images={count} is more than the {len(dataset)} of {name}, train part")
    return dataset if count is None else few_of(dataset, count)


def _divide(train_set, test_set, wanted, data_dir):
    """(training part, validation part, what the latter is in words)."""
    if wanted == "test":
        return train_set, test_set, "test"
    if (official := load_validation(train_set.name, data_dir)) is not None:
        return train_set, official, "the data set's own"
    share, seed = wanted["share"], wanted["seed"]
    return *split_off(train_set, share, seed), f"train, {100 * share:g} %, seed {seed}"

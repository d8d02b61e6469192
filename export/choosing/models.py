"""The models to choose from: which files they are, and whether they can be compared at all."""

import collections
import dataclasses
import hashlib
import pathlib

import keras

from command_line import model_data
from hsvit_keras.artifacts.model_outputs import activation_of, loss_of
from hsvit_keras.compression.counting import count_parameters
from hsvit_keras.layers.model_description import description_of
from hsvit_keras.model_files import load_model
from hsvit_keras.tasks import task_of
from hsvit_runtime.errors import InputError, MissingFileError


@dataclasses.dataclass(frozen=True)
class Model:
    """A model to choose.

    Attributes:
        name: str, unique among the models.
        path: path of its `.keras` file.
        sha256: str, of that file.
        task: `hsvit_keras.tasks.Task`.
        data_set: str, whose test part it is judged on.
        image_shape: (height, width, channels).
        resizing: `Resizing`, how pictures become its inputs, or None.
        class_names: tuple of str, or None where it does not say.
        num_outputs: int, length of its output's last axis.
        parameters: int.
    """

    name: str
    path: pathlib.Path
    sha256: str
    task: object
    data_set: str
    image_shape: tuple
    resizing: object
    class_names: tuple | None
    num_outputs: int
    parameters: int


def named(paths):
    """Names of files: the file's own, or with its folder's where the files' names are the same.

    Args:
        paths: list of paths of `.keras` files.

    Returns:
        dict from name to path.

    Raises:
        InputError: two would have the same name.
    """
    paths = [pathlib.Path(path) for path in paths]
    often = collections.Counter(path.stem for path in paths)
    names = [path.stem if often[path.stem] == 1 else path.absolute().parent.name for path in paths]
    for name, count in collections.Counter(names).items():
        if count > 1:
            raise InputError(
                f"--models: {count} models would be called {name!r}; rename a file or its folder"
            )
    return dict(zip(names, paths, strict=True))


def of_runs(folder):
    """The best models of the finished runs in a folder and below, named by their folders.

    Args:
        folder: path.

    Returns:
        (dict, list): from name to path; and the runs that are not finished.

    Raises:
        InputError: there is no finished run.
    """
    folder = pathlib.Path(folder)
    if not folder.is_dir():
        raise MissingFileError(f"--runs={folder} is no folder")
    found = {
        "_".join(path.parent.relative_to(folder).parts) or folder.resolve().name: path
        for path in sorted(folder.rglob("best.keras"))
    }
    finished = {name: path for name, path in found.items() if (path.parent / "summary.json").is_file()}
    if not finished:
        raise InputError(
            f"--runs={folder} holds no finished run: a folder with best.keras and summary.json, as "
            "training.train leaves it"
        )
    return finished, [name for name in found if name not in finished]


def read(paths, data=None):
    """Reads what models are, and checks that they can be compared.

    Args:
        paths: dict from name to the path of a `.keras` file.
        data: str, the data set to judge them on; by default the one that each says.

    Returns:
        list of `Model`.

    Raises:
        InputError: a file is no model of images, or the models are not for the same.
        OSError: a file is not there.
    """
    models = [_read(name, path, data) for name, path in paths.items()]
    check_comparable(models)
    return models


def _read(name, path, data):
    keras.utils.clear_session()  # frees the last model
    model = load_model(path)
    model_data.check_takes_images(model)
    description, shapes = description_of(model), [tuple(tensor.shape) for tensor in model.outputs]
    try:
        data_set = model_data.data_set_of(description, data)
    except InputError as error:
        raise InputError(f"{name}: {error}") from error
    return Model(
        name=name,
        path=pathlib.Path(path),
        sha256=hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest(),
        task=task_of(description, shapes, activation_of(model), loss_of(model)),
        data_set=data_set,
        image_shape=tuple(model.inputs[0].shape[1:]),
        resizing=description.resizing,
        class_names=description.class_names,
        num_outputs=shapes[0][-1],
        parameters=count_parameters(model),
    )


def check_comparable(models):
    """Raises `InputError` unless models have one task, with a metric, one data set and one size of images.

    Args:
        models: list of `Model`, at least one.
    """
    first, *others = models
    for other in others:
        if (first.task.name, first.data_set) != (other.task.name, other.data_set):
            raise InputError(
                f"{first.name} is for {first.task.name} of {first.data_set} and {other.name} for "
                f"{other.task.name} of {other.data_set}: what is right on different data cannot be compared; "
                "compare the models of one data set at a time"
            )
        if first.image_shape != other.image_shape:
            raise InputError(
                f"{first.name} takes images {first.image_shape} and {other.name} {other.image_shape}: "
                "models are measured on the same images; compare those of one size at a time"
            )
        if first.resizing != other.resizing:
            raise InputError(
                f"{first.name} and {other.name} want pictures resized in different ways: models are measured "
                "on the same images; compare those of one way at a time"
            )
    if first.task.metric is None:
        raise InputError(
            f"{first.name} is for {first.task.name}, which has no metric that models could be compared by"
        )


def check_labels(models, dataset):
    """Raises `InputError` unless the labels of a data set are those of all models.

    Args:
        models: list of `Model`.
        dataset: `data_sets.dataset.ImageDataset`.
    """
    for model in models:
        if not dataset.labels_fit(model.class_names, model.num_outputs):
            raise InputError(
                f"{model.name} has other classes than {dataset.name}, so that its "
                f"{model.task.metric.title.lower()} there cannot be measured"
            )

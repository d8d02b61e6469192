"""The data sets of a table, and whether their images are there."""

import dataclasses
import functools
import pathlib

from data_sets import DATASETS, load_dataset
from data_sets.dataset import ImageDataset
from hsvit_keras.models.registry import suggest
from hsvit_keras.tasks import task_named
from hsvit_runtime.errors import InputError, MissingFileError


@dataclasses.dataclass(frozen=True)
class Source:
    """Images that rows are trained on.

    Attributes:
        label: str, the table's name of them, or that of a folder of one's own.
        data: str, name of the data set in `data_sets`.
        folder: path of its official files or class folders, or None.
        task: str, the task of the table, whose labels they have to have.
    """

    label: str
    data: str
    folder: str | None
    task: str = "classification"

    @functools.cached_property
    def train_set(self) -> ImageDataset:
        """The training part.

        Raises:
            FileNotFoundError: the images are not there; the message says what is expected.
            InputError: its labels are not the table's.
        """
        found = load_dataset(self.data, "train", self.folder)
        if not isinstance(task_named(found.task), type(task_named(self.task))):
            raise InputError(f"--data: the table is for {self.task}, and {self.data} is for {found.task}")
        return found

    @functools.cached_property
    def missing(self):
        """Why the images cannot be opened, in a line; empty where they can."""
        try:
            self.train_set  # noqa: B018
        except MissingFileError as error:
            return str(error)
        return ""


def sources_of(table, names=(), data_dir=None):
    """The data sets to train on.

    Args:
        table: `Table`.
        names: list of names of data sets and paths of folders of class folders; those of the table where
            it is empty.
        data_dir: folder with the official files, or with a folder of each set's name that holds them.

    Returns:
        list of `Source`. Those that were asked for by name are there.

    Raises:
        InputError: a name is neither a data set nor a folder, two have one label, or none is there.
    """
    found = [_source(name, table, data_dir) for name in names or table.recipes]
    labels = [source.label for source in found]
    if repeated := {label for label in labels if labels.count(label) > 1}:
        raise InputError(f"--data names {', '.join(sorted(repeated))} more than once")
    for source in found:
        if source.missing and (names or all(other.missing for other in found)):
            raise MissingFileError(f"--data: {source.missing}")
    return found


def _source(name, table, data_dir):
    if name in DATASETS:
        return Source(name, name, _folder_of(name, data_dir), table.task)
    if pathlib.Path(name).expanduser().is_dir():
        return Source(pathlib.Path(name).expanduser().resolve().name, "folder", name, table.task)
    if name in table.recipes:  # a set that comes as class folders
        return Source(name, "folder", str(pathlib.Path(data_dir or ".") / name), table.task)
    known = [*DATASETS, *table.recipes]
    raise InputError(f"--data: {name!r} is neither a data set nor a folder; {suggest(name, known)}")


def _folder_of(name, data_dir):
    own = None if data_dir is None else pathlib.Path(data_dir).expanduser() / name
    return str(own) if own is not None and own.is_dir() else data_dir

"""What a table of a paper is: its rows with the figures that the paper prints, and how they are trained."""

import dataclasses
import importlib
import pkgutil
import re
from collections.abc import Callable

from hsvit_runtime.errors import InputError


@dataclasses.dataclass(frozen=True)
class Row:
    """One model of a table.

    Attributes:
        name: str, as the paper prints it.
        model: str, the registered variant; None where the package has no such model.
        arguments: dict of the variant's arguments for whatever it should have otherwise.
        accuracy: dict from a data set to what the paper prints in percent: top-1, or (top-1, top-5).
        average_precision: dict from a data set with boxes to what the paper prints in percent.
        parameters, layers, multiply_adds: str, as the paper prints them, with its unit; None where it does
            not.
        others: dict of the paper's other figures, from the heading of their column.
        image_size: int, the side to which images are brought; None where the table's holds.
        least_size: int, the side to which smaller images are enlarged, for a model that needs it.
        training: dict of settings that differ from the recipe's.
        training_on: dict from a data set to such settings for it alone.
        why_not: str, why the row cannot be trained here; empty where it can.
    """

    name: str
    model: str | None = None
    arguments: dict = dataclasses.field(default_factory=dict)
    accuracy: dict = dataclasses.field(default_factory=dict)
    average_precision: dict = dataclasses.field(default_factory=dict)
    parameters: str | None = None
    layers: str | None = None
    multiply_adds: str | None = None
    others: dict = dataclasses.field(default_factory=dict)
    image_size: int | None = None
    least_size: int | None = None
    training: dict = dataclasses.field(default_factory=dict)
    training_on: dict = dataclasses.field(default_factory=dict)
    why_not: str = ""

    @property
    def key(self):
        """The name in lower case, without what a folder's name should not hold."""
        return re.sub(r"[^a-z0-9]+", "_", self.name.lower()).strip("_")

    def printed(self, data):
        """(top-1, top-5) of a data set in percent; None where the paper prints nothing."""
        found = self.accuracy.get(data)
        return found if isinstance(found, tuple) else (found, None)


@dataclasses.dataclass(frozen=True)
class Table:
    """A table of a paper.

    Attributes:
        title: str, paper and number.
        paper: str, title or address of the paper.
        recipes: dict from each data set of the table to the `get_config` of the recipe that it is trained by.
        rows: tuple of `Row`.
        notes: tuple of str, in which the training differs from the paper's.
        image_size: int, the side to which images of any data set are brought; None where they keep theirs.
        task: str, the task of its data sets, a name of `hsvit_keras.tasks`.

    Raises:
        ValueError: two rows have one name, or a row neither a model nor a reason.
    """

    title: str
    paper: str
    recipes: dict[str, Callable]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    image_size: int | None = None
    task: str = "classification"

    def __post_init__(self):
        keys = [row.key for row in self.rows]
        if len(set(keys)) < len(keys):
            raise InputError(f"{self.title}: two rows have one name among {', '.join(keys)}")
        for row in self.rows:
            if (row.model is None) != bool(row.why_not):
                raise InputError(f"{self.title}: row {row.name!r} needs either a model or a reason")
            if unknown := {*row.accuracy, *row.average_precision, *row.training_on} - set(self.recipes):
                raise InputError(f"{self.title}: row {row.name!r} has no recipe for {', '.join(unknown)}")


def list_tables():
    """Names of the tables, by paper and number."""
    from training import tables

    names = [module.name for module in pkgutil.iter_modules(tables.__path__)]
    found = [name for name in names if hasattr(_module(name), "get_table")]
    return sorted(
        found, key=lambda name: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]
    )


def load_table(name):
    """The `Table` of a name.

    Raises:
        InputError: there is no such table.
    """
    if name not in list_tables():
        from hsvit_keras.models.registry import suggest

        raise InputError(f"--table: there is no table {name!r}; {suggest(name, list_tables())}")
    return _module(name).get_table()


def _module(name):
    return importlib.import_module(f"training.tables.{name}")

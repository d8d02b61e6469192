"""The runs of a table: each row on each data set from each seed, with its whole config."""

import dataclasses
import inspect
import pathlib
from fnmatch import fnmatch

from hsvit_keras.models.registry import registered, suggest
from hsvit_runtime.errors import InputError
from training.configs import (
    digits,
    digits_detection,
    digits_video,
    folder,
    hsvit_base,
    hsvit_cifar10,
    hsvit_cifar100,
    hsvit_fashion_mnist,
    hsvit_food101,
    hsvit_imagenet,
    hsvit_tiny_imagenet,
)
from training.fitting.open_values import found_shape
from training.recipes import recipe
from training.tabulating.paper import Row
from training.tabulating.sources import Source

# Where each data set's own pixels and augmentation stand, for tables that do not have it.
_OWN = {
    config.get_config().data: config.get_config
    for config in (
        digits, digits_detection, digits_video, folder, hsvit_cifar10, hsvit_cifar100, hsvit_fashion_mnist,
        hsvit_food101, hsvit_imagenet, hsvit_tiny_imagenet,
    )
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Run:
    """One training.

    Attributes:
        name: str, that of its folder: row, data set and seed.
        path: path of its folder.
        seed: int.
        values: dict, the plain config.
        folder: folder of the images, or None.
    """

    name: str
    path: pathlib.Path
    seed: int
    values: dict
    folder: str | None


@dataclasses.dataclass(frozen=True)
class Cell:
    """One row on one data set.

    Attributes:
        row: `Row`.
        source: `Source`.
        runs: list of `Run`, one a seed; empty where it cannot be trained.
        why_not: str, why not; empty where it can.
    """

    row: Row
    source: Source
    runs: list[Run]
    why_not: str


def choose_rows(table, names=()):
    """The rows of a table by name, in the paper's order; all where no names are given.

    Args:
        table: `Table`.
        names: list of str, names of rows as printed, their keys or patterns of keys, or of models.

    Raises:
        InputError: the table has no such row.
    """
    chosen = set()
    for name in names:
        found = [row.key for row in table.rows if name in (row.name, row.model) or fnmatch(row.key, name)]
        if not found:
            known = [row.key for row in table.rows]
            raise InputError(f"--rows: {table.title} has no row {name!r}; {suggest(name, known)}")
        chosen.update(found)
    return [row for row in table.rows if row.key in chosen or not names]


def plan(table, rows, sources, seeds, settings, workdir):
    """The cells of a table, each with its runs.

    Args:
        table: `Table`.
        rows: list of `Row`.
        sources: list of `Source`.
        seeds: list of int.
        settings: dict of settings of the recipe that the user changes.
        workdir: path of the folder of runs.

    Returns:
        list of `Cell`, row by row.

    Raises:
        InputError: a setting is unknown or out of its range, or seeds repeat.
    """
    if not seeds or len(set(seeds)) < len(seeds):
        raise InputError(f"--seeds takes different integers; received {','.join(map(str, seeds))}")
    if "seed" in settings:
        raise InputError("--setting=seed: name seeds by --seeds")
    cells = []
    for row in rows:
        for source in sources:
            why_not, runs = row.why_not or source.missing.partition(": ")[0], []
            for seed in () if why_not else seeds:
                name = f"{row.key}-{source.label}-{seed}"
                values = config_of(table, row, source, {**settings, "seed": seed})
                runs.append(Run(name, pathlib.Path(workdir) / name, seed, values, source.folder))
            cells.append(Cell(row, source, runs, why_not))
    return cells


def config_of(table, row, source, settings):
    """The plain config of a run: the recipe, what the row has of its own, what the user changes.

    A data set that the table has not is trained on by the table's first recipe, with its own pixels and
    augmentation.

    Args:
        table: `Table`.
        row: `Row` with a model.
        source: `Source`.
        settings: dict of settings of the recipe.

    Raises:
        InputError: a setting is unknown, of another type or out of its range.
    """
    if source.label in table.recipes:
        config = table.recipes[source.label]()
    else:
        config, own = next(iter(table.recipes.values()))(), _OWN[source.data]()
        for key in ("data", "image_shape", "mean", "std", "augmentation", "num_workers"):
            config[key] = own[key]
        if config.image_shape is None:
            config.image_shape = settings.get("image_shape") or tuple(found_shape(source.train_set))
    size = row.image_size or table.image_size
    *frames, height, width, channels = config.image_shape
    sides = [max(size or side, row.least_size or 1) for side in (height, width)]
    config.image_shape = (*frames, *sides, channels)
    # Other arguments of a recipe are of its own model, this one is of its optimization; CNNs may not have it.
    taken = inspect.signature(registered(row.model).model_class).parameters
    kept = {
        name: rate
        for name, rate in config.model_arguments.items()
        if name == "stochastic_depth_rate" and name in taken
    }
    config.model, config.model_arguments = row.model, {**kept, **row.arguments}
    _change(config, {**row.training, **row.training_on.get(source.label, {}), **settings})
    return recipe.plain(config)


def _change(config, settings):
    known = set(hsvit_base.get_config()) - {"model", "model_arguments", "data", "distillation"}
    for key, value in settings.items():
        if key not in known:
            raise InputError(f"--setting: a recipe has no setting {key!r}; {suggest(key, known)}")
        try:
            config[key] = value
        except TypeError as error:
            raise InputError(f"--setting={key}={value!r} cannot be used: {error}") from error

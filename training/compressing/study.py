"""A study of compressions: several models along several chains of steps, and their table."""

import contextlib
import io
import pathlib

from command_line import tables
from data_sets import load_dataset
from hsvit_keras.models.registry import suggest
from hsvit_keras.tasks import task_named
from hsvit_runtime.errors import InputError
from hsvit_runtime.files import making_folder, write_json
from training.compressing.chain import CHAIN, COMPRESSION, checked_steps
from training.compressing.compression import compress
from training.compressing.steps import PARTS
from training.fitting.building import check_names
from training.fitting.run import train
from training.recipes import recipe
from training.recipes.rules import ARGUMENTS, Mapping, Rule, Table, is_name, plain
from training.run_files import machine
from training.spreading.workers import Workers, absolute, clock


class _FileNames:
    """A mapping whose names are names of files, too."""

    def __init__(self, words, rule):
        self._mapping = Mapping(words, rule)

    def check(self, value, name):
        self._mapping.check(value, name)
        for key in value:
            if not is_name(key) or key != pathlib.Path(key).name or len(key) > 100:
                raise InputError(f"{name}: {key!r} is no name of a file, which it has to be, too")


_SLIM = Table(PARTS, optional=tuple(PARTS))
_TRAINING = Table(recipe.RECIPE.entries, optional=tuple(recipe.RECIPE.entries))
_MODEL = Table({"arguments": ARGUMENTS, "slim": _SLIM, "training": _TRAINING}, optional=("slim", "training"))
STUDY = Table(
    {
        "training": recipe.RECIPE,
        "models": _FileNames("a table of at least one model's name and its arguments", _MODEL),
        "chains": _FileNames("a table of at least one name and the steps of a chain", CHAIN),
        "compression": Table(
            {**COMPRESSION.entries, "steps": Rule("empty: chains have the steps", lambda value: not value)}
        ),
    },
    source=": see training/configs/compress_study_digits.py",
)


def study(config, workdir, models=(), data_dir=None, workers=2, ray=None):
    """Studies, or goes on studying.

    Args:
        config: `ConfigDict` with the keys of `training/configs/compress_study_digits.py`.
        workdir: folder of the study.
        models: names of models of the config; all by default.
        data_dir: folder of the data set; "digits" needs none.
        workers: int, models at a time where they are spread.
        ray: str, where models are spread to, see `training.spreading.workers`; None studies one after the
            other in this process.

    Returns:
        list of dicts: for each model and chain, the row of the compression's table and `model`, `chain`,
        `file` and `points`, how much of the task's metric is lost, in percentage points where it is a share.

    Raises:
        ValueError: a name or a setting is unknown or does not fit.
        OSError: the images are not there, or the folder cannot be written.
    """
    workdir, found = pathlib.Path(workdir), {}
    check(config)
    for name in models:
        if name not in config.models:
            raise InputError(f"--models: the config has no {name!r}; {suggest(name, list(config.models))}")
    metric = task_named(load_dataset(config.training.data, "test", data_dir).task).metric
    names = list(models or config.models)
    with making_folder(workdir):
        for name, rows in _studied(config, workdir, names, data_dir, workers, ray):
            found[name] = rows
            rows = [row for name in names for row in found.get(name, ())]
            write_json(workdir / "study.json", {"rows": rows, **machine.describe()})
    print(f"\n{table(rows, metric)}\nwrote {workdir / 'study.json'}")
    return rows


def check(config):
    """Raises `ValueError` if the config of a study is not as its schema says, or a chain cannot be."""
    values = plain(config, "compress_study_digits")
    STUDY.check(values, "config")
    for name, entry in values["models"].items():
        check_names(recipe.plain(recipe_of(config, name)))
        for chain, steps in values["chains"].items():
            try:
                checked_steps({**values["compression"], "steps": _own_steps(steps, entry.get("slim", {}))})
            except InputError as error:
                raise InputError(f"chain {chain!r} of {name}: {error}") from error


def _studied(config, workdir, names, data_dir, workers, ray):
    """Yields (name, rows) of each model when it is done."""
    if ray is None:
        for name in names:
            yield name, study_model(config, workdir, name, data_dir)
        return
    jobs = {name: (config, absolute(workdir), name, absolute(data_dir)) for name in names}
    with Workers(study_in_worker, workdir, workers, ray) as spread:
        for number, (name, rows, seconds) in enumerate(spread.do(jobs), 1):
            print(f"  {number} of {len(names)} after {clock(seconds)}  {name}", flush=True)
            yield name, rows


def study_in_worker(config, workdir, name, data_dir):
    """The rows of one model, made in a worker on any machine."""
    from command_line import commands

    commands.import_keras()
    with contextlib.redirect_stdout(io.StringIO()):
        return study_model(config, workdir, name, data_dir)


def study_model(config, workdir, name, data_dir=None):
    """The rows of one model: trains it, and compresses it along each chain, where this was not done yet."""
    folder, rows = pathlib.Path(workdir) / name, []
    metric = task_named(load_dataset(config.training.data, "test", data_dir).task).metric
    train(recipe_of(config, name), folder, data_dir)
    for chain, steps in config.chains.items():
        output = folder / f"{chain.replace(' ', '_')}.keras"
        original, *_, last = compress(
            folder / "last.keras", output, _compression(config, name, steps), data_dir
        )
        if not rows:
            rows.append(_row(name, "original", original, original, folder / "last.keras", metric))
        rows.append(_row(name, chain, last, original, output, metric))
    return rows


def table(rows, metric):
    """The rows as text; sizes and multiply-adds as shares of the original's."""
    lines = []
    for row in rows:
        if row["chain"] == "original":
            original = row
        shares = (row[key] / original[key] for key in ("multiply_adds", "bytes"))
        lines.append(
            (
                row["model"],
                row["chain"],
                metric.format(row[metric.name]),
                f"{0 - row['points']:+.2f}",
                *(f"{share:.2f}" for share in shares),
            )
        )
    return tables.table(("model", "chain", metric.title, "points", "MACs", "bytes"), lines)


def recipe_of(config, name):
    """The recipe that trains one of the models of a study."""
    recipe, entry = config.training.copy_and_resolve_references(), config.models[name]
    recipe.model = name
    recipe.model_arguments = entry.arguments
    recipe.update(entry.get("training", {}))
    return recipe


def _compression(config, name, steps):
    """The config of a chain, in which what `slim` leaves is the model's own."""
    compression = config.compression.copy_and_resolve_references()
    compression.steps = tuple(_own_steps(steps, config.models[name].get("slim", {})))
    return compression


def _own_steps(steps, kept):
    return [(step, {**(kept if step == "slim" else {}), **arguments}) for step, arguments in steps]


def _row(name, chain, row, original, file, metric):
    points = metric.loss_in_points(original[metric.name], row[metric.name])
    return {"model": name, "chain": chain, "points": round(points, 4), **row, "file": str(file)}

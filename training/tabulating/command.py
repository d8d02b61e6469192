"""What the commands that train rows of a paper have in common: their flags, the plan, the training."""

import dataclasses
import pathlib

from absl import flags

from command_line import bounded, commands
from hsvit_runtime import outputs
from hsvit_runtime.errors import InputError
from hsvit_runtime.files import making_folder
from training.recipes.settings import settings_of
from training.spreading import workers

FLAGS = flags.FLAGS
_OF_A_PLAN = (
    *("workdir", "data", "data_dir", "rows", "seeds", "epochs", "setting", "processes", "workers", "ray"),
    *("dry_run", "output"),
)


@dataclasses.dataclass(frozen=True)
class Plan:
    """What a command trains.

    Attributes:
        table: `Table`.
        sources: list of `Source`.
        cells: list of `Cell`.
        workdir: path of the folder of runs.
        output: path of the JSON file to write.
    """

    table: object
    sources: list
    cells: list
    workdir: pathlib.Path
    output: pathlib.Path

    @property
    def runs(self):
        """The trainings: list of `Run`."""
        return [run for cell in self.cells for run in cell.runs]


def define_flags(what, output):
    """Defines the flags but the one that names the table or figure.

    Args:
        what: str, "table" or "figure".
        output: str, the name of the JSON file that is written by default.
    """
    flags.DEFINE_string("workdir", None, "Folder of the runs.")
    bounded.names("data", [], f"Data sets and folders of class folders; the {what}'s own by default.")
    bounded.data_dir("Folder with the official files, or with a folder for each set.")
    bounded.names("rows", [], "Rows to train: name, key (may hold a *) or model; all by default.")
    bounded.integers("seeds", [0], "Seeds, each a run of its own.", 0, 2**32 - 1)
    bounded.epochs(None, "Epochs; the recipe's by default.")
    flags.DEFINE_multi_string("setting", [], "Setting of the recipes, as in batch_size=64. May be repeated.")
    bounded.integer("processes", 1, "Trainings at a time.", 1, 256)
    workers.define_flags()
    flags.DEFINE_bool("dry_run", False, "Say what would run and about how long, and run nothing.")
    flags.DEFINE_string("output", None, f"JSON file to write; {output} in the workdir by default.")


def refuse_flags_of_a_plan(what):
    """Raises `InputError` if a flag was given though all tables or figures are only listed."""
    commands.refuse_useless(f"without --{what}, which lists all", *_OF_A_PLAN)


def plan_of(table, name):
    """The plan that the flags ask for.

    Args:
        table: `Table`.
        name: str, of the JSON file that is written by default, without its ending.

    Raises:
        InputError: a flag does not fit, or a run's folder holds another one.
    """
    from training.tabulating import plan, running, sources

    if FLAGS.ray and FLAGS.processes > 1:
        raise InputError("--processes are those of this machine: with --ray, name --workers")
    if not FLAGS.ray:
        commands.refuse_useless("without --ray", "workers")
    if FLAGS.workdir is None:
        raise InputError("--workdir is needed: the folder of the runs")
    workdir = pathlib.Path(FLAGS.workdir)
    settings = settings_of(FLAGS.setting)
    if FLAGS.epochs is not None:
        settings["epochs"] = FLAGS.epochs
    rows = plan.choose_rows(table, FLAGS.rows)
    found = sources.sources_of(table, FLAGS.data, FLAGS.data_dir)
    cells = plan.plan(table, rows, found, FLAGS.seeds, settings, workdir)
    planned = Plan(table, found, cells, workdir, pathlib.Path(FLAGS.output or workdir / f"{name}.json"))
    if FLAGS.output or planned.output.is_file():
        outputs.check(planned.output, outputs.json_with("rows"))
        outputs.check(planned.output.with_suffix(".png"), outputs.PICTURE)
    running.check(planned.runs)
    return planned


def train(planned):
    """Trains what is left of a plan; gives how many processes left it unfinished."""
    from training.tabulating.processes import work_side_by_side
    from training.tabulating.running import failure, is_finished, train_run, work, work_spread

    with making_folder(planned.workdir):
        if FLAGS.ray:
            with workers.Workers(train_run, planned.workdir, FLAGS.workers, FLAGS.ray) as spread:
                work_spread(planned.runs, spread)
            return 0
        if FLAGS.processes == 1:
            work(planned.runs)
            return 0
        lost = sum(status != 0 for status in work_side_by_side(planned.runs, FLAGS.processes))
        return 0 if all(is_finished(run) or failure(run) for run in planned.runs) else lost


def check_ended(ended_early):
    """Raises `InputError` if processes left the plan unfinished."""
    if ended_early:
        raise InputError(f"{ended_early} of {FLAGS.processes} processes ended early: start again to go on")


def estimate(planned):
    """Says what would be trained and about how long; writes it only where `--output` says so."""
    from hsvit_runtime.files import write_json
    from training.tabulating import estimating

    title, found = planned.table.title, estimating.estimate(planned.cells)
    seconds = sum(row["seconds"] or 0 for row in found)
    print(f"{title}\n{estimating.table(found)}")
    print(
        f"about {estimating.duration(seconds)} of training in one process: a few steps of each model were "
        "measured here, on random images"
    )
    if FLAGS.output:
        write_json(planned.output, {"table": title, "rows": found})
        print(f"wrote {FLAGS.output}")


def notes_of(planned):
    """In which the training differs from the paper's: list of str."""
    others = [source.label for source in planned.sources if source.label not in planned.table.recipes]
    own = [f"{name} is not in the paper: pixels and augmentation are its own" for name in others]
    return [*planned.table.notes, *own]

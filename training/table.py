"""Trains a table of a paper, and prints and draws its figures beside those measured here.

    python -m training.table --table=hsvit_table3 --data_dir=DIR --seeds=0,1,2 --workdir=runs/table3
    python -m training.table --table=hsvit_table3 --data=digits --rows=resnet18,hsvit_c2a2 --epochs=20 \
        --setting=batch_size=64 --workdir=runs/digits_table

Each row is trained on each data set from each seed, by the recipe of the paper, in a folder of its own,
`WORKDIR/row-data-seed`, which is an ordinary run of `training.train`. `--data` takes names of data sets and
folders of class folders, also such as the paper did not use; without it, the paper's that are there.
`--data_dir` has the official files, or a folder for each set: `DIR/cifar10`, `DIR/food101`.

A table that was killed goes on when it is started again. Several commands may work in one folder, or
`--processes=N`: a run belongs to one process until that ends. `--ray=HOST:PORT --workers=N` spreads runs over
the machines of a Ray cluster, see docs/several_machines.md. `--dry_run` says what would run, and about how
long. The epoch is chosen on the validation part, or with `--setting=validation=test` as the papers do.

Beside `table.json` lies `table.png`. What was not run is left empty. Without `--table`
all tables are listed, as in docs/tables.md.
"""

import pathlib

from absl import flags

from command_line import commands
from hsvit_runtime.errors import InputError
from hsvit_runtime.files import write_json
from training.recipes.settings import settings_of
from training.spreading import workers

FLAGS = flags.FLAGS


def define_flags():
    flags.DEFINE_string(
        "table", None, "A file of training/tables, such as hsvit_table3; without it, all are listed."
    )
    flags.DEFINE_string("workdir", None, "Folder of the runs.")
    flags.DEFINE_list("data", [], "Data sets and folders of class folders; the table's own by default.")
    flags.DEFINE_string("data_dir", None, "Folder with the official files, or with a folder for each set.")
    flags.DEFINE_list("rows", [], "Rows to train, by the paper's name, its key or the model; all by default.")
    flags.DEFINE_list("seeds", ["0"], "Seeds, each a run of its own.")
    flags.DEFINE_integer("epochs", None, "Epochs; the recipe's by default.", lower_bound=1)
    flags.DEFINE_multi_string("setting", [], "Setting of the recipes, as in batch_size=64. May be repeated.")
    flags.DEFINE_integer("processes", 1, "Trainings at a time.", lower_bound=1)
    workers.define_flags()
    flags.DEFINE_bool("dry_run", False, "Say what would run and about how long, and run nothing.")
    flags.DEFINE_string("output", None, "JSON file to write; table.json in the workdir by default.")


def main(_):
    from training.tabulating import paper
    from training.tabulating.overview import overview
    from training.tabulating.plan import choose_rows, plan
    from training.tabulating.running import check
    from training.tabulating.sources import sources_of

    if FLAGS.table is None:
        print(overview())
        return
    if FLAGS.ray and FLAGS.processes > 1:
        raise InputError("--processes are those of this machine: with --ray, name --workers")
    if FLAGS.workdir is None:
        raise InputError("--workdir is needed: the folder of the runs")
    table, workdir = paper.load_table(FLAGS.table), pathlib.Path(FLAGS.workdir)
    output = pathlib.Path(FLAGS.output or workdir / "table.json")
    settings = settings_of(FLAGS.setting)
    if FLAGS.epochs is not None:
        settings["epochs"] = FLAGS.epochs
    seeds = commands.integers("seeds", FLAGS.seeds)
    rows, sources = choose_rows(table, FLAGS.rows), sources_of(table, FLAGS.data, FLAGS.data_dir)
    cells = plan(table, rows, sources, seeds, settings, workdir)
    runs = [run for cell in cells for run in cell.runs]
    check(runs)
    if FLAGS.dry_run:
        _estimate(table, cells)
        return
    if FLAGS.output and not output.parent.is_dir():
        raise InputError(f"--output={output}: there is no folder {output.parent}")
    workdir.mkdir(parents=True, exist_ok=True)
    ended_early = _train(runs, workdir)
    _report(table, sources, cells, workdir, output)
    if ended_early:
        raise InputError(f"{ended_early} of {FLAGS.processes} processes ended early: start again to go on")


def _train(runs, workdir):
    """Trains what is left; gives how many processes left it unfinished."""
    from training.tabulating.processes import work_side_by_side
    from training.tabulating.running import failure, is_finished, train_run, work, work_spread

    if FLAGS.ray:
        with workers.Workers(train_run, workdir, FLAGS.workers, FLAGS.ray) as spread:
            work_spread(runs, spread)
        return 0
    if FLAGS.processes == 1:
        work(runs)
        return 0
    lost = sum(status != 0 for status in work_side_by_side(runs, FLAGS.processes))
    return 0 if all(is_finished(run) or failure(run) for run in runs) else lost


def _estimate(table, cells):
    from training.tabulating import estimating

    found = estimating.estimate(cells)
    seconds = sum(row["seconds"] or 0 for row in found)
    print(f"{table.title}\n{estimating.table(found)}")
    print(
        f"about {estimating.duration(seconds)} of training in one process: a few steps of each model were "
        "measured here, on random images"
    )
    if FLAGS.output:
        write_json(pathlib.Path(FLAGS.output), {"table": table.title, "rows": found})
        print(f"wrote {FLAGS.output}")


def _report(table, sources, cells, workdir, output):
    from training.run_files import machine
    from training.tabulating import drawing, results

    found = results.results(cells, workdir)
    others = [source.label for source in sources if source.label not in table.recipes]
    notes = [
        *table.notes,
        *(f"{name} is not in the paper: pixels and augmentation are its own" for name in others),
    ]
    picture, parts = output.with_suffix(".png"), results.chosen_on(found)
    write_json(
        output,
        {
            "table": table.title,
            "paper": table.paper,
            "notes": notes,
            "epoch_chosen_on": parts,
            "rows": found,
            **machine.describe(),
        },
    )
    drawing.draw(found, table.title, picture)
    print(f"\n{table.title}\n{results.table(found)}")
    for part in parts:
        print(f"best epochs chosen on {part}; accuracy on the test part, mean and standard deviation of runs")
    for note in notes:
        print(f"- {note}")
    print(f"wrote {output}" + (f" and {picture}" if picture.is_file() else ""))


if __name__ == "__main__":
    define_flags()
    commands.run(main)

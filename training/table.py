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

from absl import flags

from command_line import commands
from hsvit_runtime.files import write_json
from training.tabulating import command

FLAGS = flags.FLAGS


def define_flags():
    flags.DEFINE_string(
        "table", None, "A file of training/tables, such as hsvit_table3; without it, all are listed."
    )
    command.define_flags("table", "table.json")


def main(_):
    from training.tabulating import paper
    from training.tabulating.overview import overview

    if FLAGS.table is None:
        command.refuse_flags_of_a_plan("table")
        print(overview())
        return
    planned = command.plan_of(paper.load_table(FLAGS.table), "table")
    if FLAGS.dry_run:
        command.estimate(planned)
        return
    ended_early = command.train(planned)
    _report(planned)
    command.check_ended(ended_early)


def _report(planned):
    from training.run_files import machine
    from training.tabulating import drawing, results

    table, output = planned.table, planned.output
    found = results.results(planned.cells, planned.workdir)
    notes = command.notes_of(planned)
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

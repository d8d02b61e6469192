"""Draws a figure of a paper from models that are trained here, at a size of your choice.

    python -m training.figures --figure=hsvit_figure5 --data_dir=DIR --seeds=0,1,2 --workdir=runs/figure5
    python -m training.figures --figure=hsvit_figure5 --data=digits --epochs=5 --setting=batch_size=64 \
        --workdir=runs/digits_figure5

A figure needs runs as a table does: each of its rows is trained on each data set from each seed, by the
recipe of the paper, in a folder of its own under `--workdir`; flags are those of `training.table`, and
`--rows=c1a1_k16_*` draws only some. A figure that was killed goes on when it is started again.

The picture is `WORKDIR/NAME.png`. All that it shows is in `WORKDIR/NAME.json`, with the results of the runs,
and arrays such as feature maps in `WORKDIR/NAME.npz`. Without `--figure` all figures are listed.
"""

from absl import flags

from command_line import commands
from training.tabulating import command

FLAGS = flags.FLAGS


def define_flags():
    flags.DEFINE_string(
        "figure", None, "A file of training/paper_figures, such as hsvit_figure5; without it, all are listed."
    )
    command.define_flags("figure", "NAME.json")


def main(_):
    from training.visualizing import paper_figure

    if FLAGS.figure is None:
        command.refuse_flags_of_a_plan("figure")
        for name in paper_figure.list_figures():
            print(_line_of(name, paper_figure.load_figure(name).table))
        return
    figure = paper_figure.load_figure(FLAGS.figure)
    planned = command.plan_of(figure.table, FLAGS.figure)
    if FLAGS.dry_run:
        command.estimate(planned)
        return
    ended_early = command.train(planned)
    _report(figure, planned)
    command.check_ended(ended_early)


def _line_of(name, table):
    runs = f"{len(table.rows)} models on {', '.join(table.recipes)}" if table.rows else "no training"
    return f"{name}: {table.title}, {runs}"


def _report(figure, planned):
    import numpy as np

    from command_line import plots
    from hsvit_runtime.files import replacing, write_json
    from training.run_files import machine
    from training.tabulating import results
    from training.visualizing.paper_figure import Trained

    table, picture = planned.table, planned.output.with_suffix(".png")
    rows = results.results(planned.cells, planned.workdir)
    trained = Trained(planned.cells, planned.sources, rows, planned.workdir)
    numbers = {**figure.measure(trained), "rows": rows}
    texts = {"figure": table.title, "paper": table.paper, "notes": command.notes_of(planned)}
    parts = results.chosen_on(rows)
    arrays = {name: value for name, value in numbers.items() if isinstance(value, np.ndarray)}
    told = {name: value for name, value in numbers.items() if name not in arrays}
    write_json(planned.output, {**texts, "epoch_chosen_on": parts, **told, **machine.describe()})
    if arrays:
        with replacing(planned.output.with_suffix(".npz")) as temporary, temporary.open("wb") as file:
            np.savez_compressed(file, **arrays)
    with plots.style():
        drawn = figure.draw(numbers)
        drawn.suptitle(table.title)
        plots.save(drawn, picture)
    print(f"\n{table.title}")
    if rows:
        print(results.table(rows))
    for part in parts:
        print(f"best epochs chosen on {part}; accuracy on the test part, mean and standard deviation of runs")
    for note in texts["notes"]:
        print(f"- {note}")
    print(f"wrote {planned.output} and {picture}")


if __name__ == "__main__":
    define_flags()
    commands.run(main)

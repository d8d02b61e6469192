"""A table as a picture: for each data set and accuracy, the paper's beside the measured one."""

from command_line import plots
from training.tabulating.results import ACCURACIES, TITLES


def draw(found, title, path):
    """Draws the accuracies of a table; bars are the spread over the seeds.

    Args:
        found: list of dicts of `results`.
        title: str.
        path: path of the .png to write.

    Raises:
        OSError: the file cannot be written.
    """
    rows, sets = list(dict.fromkeys(one["row"] for one in found)), dict.fromkeys(one["data"] for one in found)
    kinds = [kind for kind in ACCURACIES if any(_has(one, kind) for one in found)]
    panels = [(kind, data) for kind in kinds for data in sets]
    if not panels:  # the paper prints none, and nothing was run
        return
    with plots.style():
        height = 0.24 * len(rows) + 1.1
        figure = plots.new_figure((2.4 * len(sets) + 2.2, height * len(kinds) + 0.3))
        figure.suptitle(title)
        grid = figure.subplots(len(kinds), len(sets), sharey=True, squeeze=False).ravel()
        for axes, (kind, data) in zip(grid, panels, strict=True):
            _draw_panel(axes, [one for one in found if one["data"] == data], kind, rows)
            axes.set_title(f"{data}, {TITLES[kind]} in %")
        grid[0].set_yticks(range(len(rows)), rows)
        grid[0].set_ylim(len(rows) - 0.5, -0.5)  # the paper's first row on top
        handles, labels = _legend(grid)
        figure.legend(handles, labels, loc="outside lower right", ncols=2)
        plots.save(figure, path)


def _draw_panel(axes, found, kind, rows):
    places = {row: place for place, row in enumerate(rows)}
    printed = [(one["paper"][kind], places[one["row"]]) for one in found if one["paper"][kind] is not None]
    if printed:
        axes.plot(
            *zip(*printed, strict=True), plots.MARKERS[2], color=plots.SERIES[1], mfc="none", label="paper"
        )
    measured = [(one["measured"][kind], places[one["row"]]) for one in found if one["measured"]]
    measured = [(statistics, place) for statistics, place in measured if statistics]
    if measured:
        axes.errorbar(
            [statistics["mean"] for statistics, _ in measured],
            [place for _, place in measured],
            xerr=[statistics["spread"] or 0.0 for statistics, _ in measured],
            fmt=plots.MARKERS[0],
            color=plots.SERIES[0],
            capsize=3,
            label="here",
        )


def _has(one, kind):
    return one["paper"][kind] is not None or bool(one["measured"] and one["measured"][kind])


def _legend(grid):
    """One handle for each label, of whichever panel has it."""
    found = {}
    for axes in grid:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    return list(found.values()), list(found)

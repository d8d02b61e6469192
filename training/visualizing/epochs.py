"""How models learn: accuracy in validation and, where wanted, loss in training over the epochs."""

from command_line import plots
from hsvit_keras.tasks.classification import Classification

_ACCURACY = Classification.metric.name


def measure(trained):
    """The curves of the first seed of each row: the `measure` of a `PaperFigure`."""
    return {"curves": [_curve(cell, trained.epochs(run)) for cell, run in trained.runs()]}


def _curve(cell, epochs):
    return {
        "row": cell.row.name,
        "data": cell.source.label,
        "epoch": [one["epoch"] for one in epochs],
        "loss": [one["loss"] for one in epochs],
        "accuracy": [100 * one[f"val_{_ACCURACY}"] for one in epochs],
    }


def draw(numbers, panels=None, with_loss=False):
    """Draws the curves: the `draw` of a `PaperFigure`.

    Args:
        numbers: dict with `curves` of `measure`.
        panels: dict from the title of a panel to the names of its rows; one for each data set by default.
        with_loss: bool, whether the training loss is drawn, dashed and on an axis of its own.

    Returns:
        matplotlib figure, its panels of each data set side by side.
    """
    curves = numbers["curves"]
    rows = list(dict.fromkeys(curve["row"] for curve in curves))
    panels = panels or {"": rows}
    places = [(data, title) for data in dict.fromkeys(curve["data"] for curve in curves) for title in panels]
    looks = plots.looks(dict.fromkeys(row for names in panels.values() for row in names))
    figure = plots.new_figure((4.4 * len(places), 3.4))
    for axes, (data, title) in zip(figure.subplots(1, len(places), squeeze=False)[0], places, strict=True):
        shown = [curve for curve in curves if curve["data"] == data and curve["row"] in panels[title]]
        losses = axes.twinx() if with_loss else None
        for curve in shown:
            colour, _ = looks[curve["row"]]
            line = {"color": colour, "marker": "." if len(curve["epoch"]) < 3 else ""}
            axes.plot(curve["epoch"], curve["accuracy"], **line, label=curve["row"])
            if losses:
                losses.plot(curve["epoch"], curve["loss"], "--", **line)
        _name_axes(axes, losses, ", ".join(filter(None, (data, title))))
    plots.legend_below(figure)
    return figure


def _name_axes(axes, losses, title):
    from matplotlib.ticker import MaxNLocator

    axes.set_title(title)
    axes.set_xlabel("epoch")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylabel("validation top-1 in %" + (", solid" if losses else ""))
    if losses:
        losses.set_ylabel("training loss, dashed")
        losses.spines["right"].set_visible(True)
        losses.grid(False)

"""Accuracy over an argument of the models, a line for each value of another one."""

from command_line import plots


def lines(numbers, x, line, x_label, panel=lambda arguments: "", log_x=False):
    """Draws the measured accuracy of rows; bars are the spread over the seeds.

    Args:
        numbers: dict with `rows` of `training.tabulating.results.results`.
        x, line, panel: functions from the arguments of a model to a number, to the label of its line, and to
            the title of the panel in which it is drawn.
        x_label: str.
        log_x: bool, whether each number is double the one before; ticks are at the numbers.

    Returns:
        matplotlib figure with a panel for each data set and title.
    """
    rows = [row for row in numbers["rows"] if row["model"]]
    panels = list(dict.fromkeys((row["data"], panel(row["arguments"])) for row in rows))
    looks = plots.looks(line(row["arguments"]) for row in rows)
    figure = plots.new_figure((3.4 * len(panels) + 2.0, 3.2))
    grid = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axes, (data, title) in zip(grid, panels, strict=True):
        shown = [row for row in rows if (row["data"], panel(row["arguments"])) == (data, title)]
        for label, (colour, marker) in looks.items():
            points = sorted(
                (x(row["arguments"]), row["measured"]["top1"])
                for row in shown
                if line(row["arguments"]) == label and row["measured"]
            )
            if points:
                _line(axes, points, label=label, color=colour, marker=marker)
        _name_axes(axes, sorted({x(row["arguments"]) for row in shown}), x_label, log_x)
        axes.set_title(", ".join(filter(None, (data, title))))
    grid[0].set_ylabel("top-1 in %")
    drawn = {line.get_label(): line for axes in grid for line in axes.lines}
    shown = [label for label in looks if label in drawn]
    figure.legend([drawn[label] for label in shown], shown, loc="outside right center", fontsize=8)
    return figure


def _line(axes, points, **look):
    values, means = [value for value, _ in points], [top1["mean"] for _, top1 in points]
    axes.plot(values, means, markersize=4, **look)
    spreads = [top1["spread"] or 0.0 for _, top1 in points]
    if any(spreads):
        axes.errorbar(values, means, spreads, fmt="none", ecolor=look["color"], capsize=3)


def _name_axes(axes, values, label, log):
    if log:
        axes.set_xscale("log", base=2)
    axes.set_xticks(values, [f"{value:g}" for value in values])
    axes.minorticks_off()
    axes.set_xlabel(label)

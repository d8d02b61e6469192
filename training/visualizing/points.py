"""Models as points, accuracy against what they cost: the form of many figures of papers."""

from command_line import plots
from hsvit_runtime.errors import InputError


def measured(numbers, cost, series):
    """Points of the rows that were trained, by data set.

    Args:
        numbers: dict with `rows` of `training.tabulating.results.results`.
        cost: function from such a row to a number.
        series: function from the name of a row to its series.

    Returns:
        dict from data set to list of points of `draw`.
    """
    panels = {}
    for row in numbers["rows"]:
        if row["measured"] and row["measured"]["top1"]:
            point = {"series": series(row["row"]), "name": row["row"], "cost": cost(row)}
            point["top1"] = row["measured"]["top1"]["mean"]
            panels.setdefault(f"here, {row['data']}", []).append(point)
    return panels


def draw(panels, x_label, *, joined=None, frontier=False):
    """Draws a panel for each group of points.

    Args:
        panels: dict from title to list of dicts with `series`, `name` (empty for none), `cost` and `top1` (in
            percent).
        x_label: str, or dict from title to str.
        joined: tuple of str, the series whose points are joined by a line; all by default.
        frontier: bool, whether a line shows which points no other one is both cheaper and better than.

    Returns:
        matplotlib figure.

    Raises:
        InputError: there are no panels.
    """
    if not panels:
        raise InputError("no row was trained, so there are no points to draw")
    looks = plots.looks(point["series"] for points in panels.values() for point in points)
    columns = min(2, len(panels))
    rows = -(-len(panels) // columns)
    figure = plots.new_figure((4.7 * columns, 3.4 * rows + 0.3))
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes in grid[len(panels) :]:
        axes.remove()
    for axes, (title, points) in zip(grid, panels.items(), strict=False):
        _draw_panel(axes, points, looks, looks if joined is None else joined)
        if frontier:
            _draw_frontier(axes, points)
        axes.set_title(title)
        axes.set_xlabel(x_label if isinstance(x_label, str) else x_label[title])
        axes.set_ylabel("top-1 in %")
        _log(axes)
    plots.legend_below(figure)
    return figure


def _draw_panel(axes, points, looks, joined):
    for series, (colour, marker) in looks.items():
        members = sorted(
            (point for point in points if point["series"] == series), key=lambda point: point["cost"]
        )
        if members:
            axes.plot(
                [point["cost"] for point in members],
                [point["top1"] for point in members],
                linestyle="-" if series in joined else "none",
                color=colour, marker=marker, markersize=5, linewidth=1, label=series,
            )  # fmt: skip
        for point in members:
            axes.annotate(
                point["name"], (point["cost"], point["top1"]), (4, -8), textcoords="offset points", fontsize=6
            )


def _draw_frontier(axes, points):
    best, line = float("-inf"), []
    for point in sorted(points, key=lambda point: (point["cost"], -point["top1"])):
        if point["top1"] > best:
            best = point["top1"]
            line.append((point["cost"], best))
    axes.plot(
        *zip(*line, strict=True), "--", color=plots.COLOURS["ink"], alpha=0.6, linewidth=1,
        drawstyle="steps-post", label="frontier",
    )  # fmt: skip


def _log(axes):
    from matplotlib.ticker import NullFormatter, StrMethodFormatter

    axes.set_xscale("log")
    low, high = axes.get_xlim()
    if high < 20 * low:  # hardly a power of ten between them: ticks in between need numbers
        axes.xaxis.set_minor_formatter(StrMethodFormatter("{x:.3g}"))
        axes.tick_params(axis="x", which="minor", labelsize=7, rotation=45)
    else:
        axes.xaxis.set_minor_formatter(NullFormatter())
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:.3g}"))

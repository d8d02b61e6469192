"""The figures of a report, for a page that is read in light and dark mode, on a desk and on a phone.

A figure is drawn in the light colours of `command_line.plots`. In its SVG each of them becomes a CSS
variable, which the page sets. Figures are drawn for a phone's width; a wide page shows several side by side.
"""

import io
import itertools
import re

import numpy as np

from command_line.plots import COLOURS, SERIES, SIZE, new_figure


def curves(title, lines, *, percent=False):
    """Values over epochs.

    Args:
        title: str.
        lines: dict from a line's name to (epochs, values), two sequences of numbers.
        percent: bool. Whether values are shares, to be shown as percentages.

    Returns:
        matplotlib Figure.
    """
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    figure, axes = _figure(title)
    for (name, (epochs, values)), colour, dashes in zip(lines.items(), SERIES, ("-", "--"), strict=False):
        axes.plot(epochs, values, dashes, color=colour, label=name, marker="." if len(epochs) < 3 else None)
    axes.set_xlabel("epoch")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if percent:
        axes.yaxis.set_major_formatter(PercentFormatter(1))
    if len(lines) > 1:
        axes.legend()
    return figure


def latencies(title, models, looks):
    """One row a model: its single runs as dots, a bar from p5 to p95, a mark at the median.

    Where single runs are not known, what is known of the summary.

    Args:
        title: str.
        models: list of models of a benchmark report.
        looks: dict from a model's name to (colour, marker).

    Returns:
        matplotlib Figure.
    """
    figure, axes = _figure(title, height=0.9 + 0.6 * len(models))
    rng = np.random.default_rng(0)
    for row, model in enumerate(models):
        colour, marker = looks[model["name"]]
        runs = np.fromiter(itertools.chain.from_iterable(model["blocks_ms"] or ()), float)
        axes.plot(runs, row + rng.uniform(0, 0.3, runs.size), ".", color=colour, alpha=0.25, markersize=3)
        latency = model["latency_ms"]
        low, middle, high = (
            next((latency[key] for key in keys if latency[key] is not None), None)
            for keys in (("p5", "min"), ("p50", "mean"), ("p95", "max"))
        )
        if None not in (low, high):
            axes.plot([low, high], [row - 0.1] * 2, color=colour, linewidth=3, solid_capstyle="butt")
        axes.plot(middle, row - 0.1, marker, color=colour, markersize=6)
        axes.annotate(
            _short(model["name"]), (0, row - 0.42), xycoords=("axes fraction", "data"), fontsize=8.5
        )
    axes.set_ylim(len(models) - 0.4, -0.75)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_xlabel("latency, ms")
    _log_if_wide(axes, [model["latency_ms"]["p50"] for model in models])
    return figure


def scatter(title, points, looks, *, x_label, measure, front=None):
    """One mark a model; the legend below names them.

    Args:
        title: str.
        points: list of (name, x, value of the measure).
        looks: dict from a name to (colour, marker).
        x_label: str, with its unit.
        measure: `hsvit_runtime.measure.Measure`.
        front: list of the names that a line joins as the best for their x, which are then the only ones that
            are named; None to name all.

    Returns:
        matplotlib Figure.
    """
    from matplotlib.ticker import PercentFormatter

    named = [point for point in points if front is None or point[0] in front]
    behind = [point for point in points if point not in named]
    figure, axes = _figure(title, height=SIZE[1] + 0.18 * (len(named) + bool(behind)))
    for name, x, value in named:
        colour, marker = looks[name]
        # Hollow, so that two models in one place are both seen.
        axes.plot(
            x,
            value,
            marker,
            color=colour,
            label=_short(name),
            markersize=9,
            fillstyle="none",
            markeredgewidth=2,
        )
    if front is not None:
        _draw_front(axes, named, behind)
    values = [value for _, _, value in points]
    room = max(0.01, 0.2 * (max(values) - min(values)))
    axes.set_ylim(min(values) - room, max(values) + room)
    if measure.is_share:
        axes.yaxis.set_major_formatter(PercentFormatter(1))
    axes.set_xlabel(x_label)
    axes.set_ylabel(measure.title.lower())
    _log_if_wide(axes, [x for _, x, _ in points])
    figure.legend(loc="outside lower left")
    return figure


def latency_lines(title, lines, looks, *, x_label):
    """A line a model: its median latency at each number of threads, or over time.

    Args:
        title: str.
        lines: dict from a model's name to (xs, latencies in milliseconds), two sequences of numbers.
        looks: dict from a name to (colour, marker).
        x_label: str, with its unit.

    Returns:
        matplotlib Figure.
    """
    from matplotlib.ticker import MaxNLocator

    figure, axes = _figure(title, height=SIZE[1] + 0.18 * len(lines))
    for name, (xs, latencies) in lines.items():
        colour, marker = looks[name]
        axes.plot(
            xs,
            latencies,
            color=colour,
            label=_short(name),
            marker=marker,
            markevery=max(1, len(xs) // 10),
            markersize=6,
            fillstyle="none",
        )
    if all(isinstance(x, int) for xs, _ in lines.values() for x in xs):
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel(x_label)
    axes.set_ylabel("median latency, ms")
    _log_if_wide(axes, [latency for _, latencies in lines.values() for latency in latencies], of="y")
    figure.legend(loc="outside lower left")
    return figure


def _draw_front(axes, on_it, behind):
    """The stairs of the best value at each x, and small dots for what lies behind."""
    _, xs, values = zip(*sorted(on_it, key=lambda point: point[1]), strict=True)
    axes.step(xs, values, where="post", color=COLOURS["ink"], linewidth=1, alpha=0.5)
    if behind:
        _, xs, values = zip(*behind, strict=True)
        axes.plot(xs, values, ".", color=COLOURS["ink"], alpha=0.5, markersize=6, label="behind the front")


def _figure(title, height=SIZE[1]):
    figure = new_figure((SIZE[0], height))
    axes = figure.subplots()
    axes.set_title(title)
    return figure, axes


def _short(name):
    """A name that fits into a figure."""
    return name if len(name) <= 36 else f"{name[:17]}…{name[-18:]}"


def _log_if_wide(axes, values, of="x"):
    """Makes an axis logarithmic if its `values` differ by more than a factor of 4, or else begins it at 0."""
    from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter

    values = [value for value in values if value]
    axis = getattr(axes, f"{of}axis")
    if values and max(values) > 4 * min(values):
        getattr(axes, f"set_{of}scale")("log")
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if max(values) < 100 * min(values) else (1,)))
        axis.set_major_formatter(ScalarFormatter())
        axis.set_minor_formatter(NullFormatter())
    else:
        getattr(axes, f"set_{of}lim")(0)


def as_svg(figure, name):
    """The figure as text of an SVG element, to be put into a page.

    Args:
        figure: matplotlib Figure.
        name: str of letters, digits and `-`, which makes the element's ids unique in the page.

    Returns:
        str. Colours are `var(--ink)`, `var(--rule)`, `var(--series0)`, ...; the size is the page's to set.
    """
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r'(href="#|url\(#)', rf"\g<1>{name}-", svg)
    svg = re.sub(r'^(<svg[^>]*?) width="[^"]*"', r"\1", svg)
    svg = re.sub(r'^(<svg[^>]*?) height="[^"]*"', r"\1", svg)
    for colour, value in COLOURS.items():
        svg = svg.replace(value, f"var(--{colour})")
    return svg

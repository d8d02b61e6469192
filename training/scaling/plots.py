"""The frontier of a search as a picture: accuracy against cost, as the paper's Figures 2 to 4."""

import itertools

from hsvit_runtime.files import replacing
from training.scaling.greedy import frontier

_COLOURS = ("#0b5fb0", "#b35900", "#1a7f4b", "#8250df", "#a40e26", "#00707a", "#6e5a00", "#57606a")


def draw(steps, permuted, references, unit, path):
    """Draws what a search looked at.

    Args:
        steps: list of `greedy.Step`.
        permuted: list of `greedy.Candidate`, of the random permutation.
        references: dict from name to `greedy.Candidate`, what to compare with.
        unit: str, of the cost.
        path: path of the .png to write.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullFormatter, PercentFormatter

    figure = Figure(figsize=(7, 4.6), layout="constrained")
    axes = figure.subplots()
    tried = [one for step in steps for one in step.candidates if one.accuracy is not None]
    factors = dict.fromkeys(one.factor for one in tried)
    for factor, colour in zip(factors, itertools.cycle(_COLOURS), strict=False):
        points = [(one.cost, one.accuracy) for one in tried if one.factor == factor]
        axes.plot(*zip(*points, strict=True), "o", color=colour, markersize=5, label=f"{factor} scaled up")
    path_of_search = [
        one for one in (steps[0].start, *(step.chosen for step in steps)) if one.accuracy is not None
    ]
    axes.plot(
        *_places(path_of_search), "-", color="#1f2328", linewidth=1.2, marker="*", markersize=13,
        markerfacecolor="none", label="chosen in each step",
    )  # fmt: skip
    drawn = [one for one in permuted if one.accuracy is not None]
    if drawn:
        axes.plot(*_places(drawn), "x", color="#6e7781", markersize=5, label="random permutation")
    for (name, one), marker in zip(references.items(), itertools.cycle("sD^v"), strict=False):
        if one.accuracy is not None:
            axes.plot(one.cost, one.accuracy, marker, color="#1f2328", markersize=7, label=name)
    best = frontier([*path_of_search, *tried, *drawn])
    axes.plot(*_places(best), "--", color="#6e7781", linewidth=1, drawstyle="steps-post", label="frontier")
    axes.set_xscale("log")
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xticks(ticks := sorted({step.target for step in steps} | {steps[0].start.cost}))
    axes.set_xticklabels([_short(tick) for tick in ticks])
    axes.yaxis.set_major_formatter(PercentFormatter(1))
    axes.set_xlabel(f"{unit} (ticks: start and targets)")
    axes.set_ylabel("accuracy on the test part")
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside right upper", frameon=False, fontsize=8)
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=120)


def _places(candidates):
    return [one.cost for one in candidates], [one.accuracy for one in candidates]


def _short(number):
    for size, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if number >= size:
            return f"{number / size:.3g}{letter}"
    return f"{number:.3g}"

"""The frontier of a search as a picture: score against cost, as the paper's Figures 2 to 4."""

import itertools

from command_line import plots
from training.scaling.greedy import frontier


def draw(steps, permuted, references, metric, unit, path):
    """Draws the candidates of a search.

    Args:
        steps: list of `greedy.Step`.
        permuted: list of `greedy.Candidate`, of the random permutation.
        references: dict from name to `greedy.Candidate`, what to compare with.
        metric: `hsvit_keras.tasks.Measure` of the scores.
        unit: str, of the cost.
        path: path of the .png to write.
    """
    from matplotlib.ticker import NullFormatter, PercentFormatter

    with plots.style():
        figure = plots.new_figure((7, 4.6))
        axes = figure.subplots()
        _draw_candidates(axes, steps, permuted, references, metric)
        axes.set_xscale("log")
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_xticks(ticks := sorted({step.target for step in steps} | {steps[0].start.cost}))
        axes.set_xticklabels([_short(tick) for tick in ticks])
        if metric.is_share:
            axes.yaxis.set_major_formatter(PercentFormatter(1))
        axes.set_xlabel(f"{unit} (ticks: start and targets)")
        axes.set_ylabel(f"{metric.title} in validation")
        figure.legend(loc="outside right upper", fontsize=8)
        plots.save(figure, path)


def _draw_candidates(axes, steps, permuted, references, metric):
    ink = plots.COLOURS["ink"]
    tried = _trained(one for step in steps for one in step.candidates)
    looks = plots.looks(one.factor for one in tried)
    for factor, (colour, marker) in looks.items():
        points = [one for one in tried if one.factor == factor]
        axes.plot(*_places(points), marker, color=colour, markersize=5, label=f"{factor} scaled up")
    chosen = _trained((steps[0].start, *(step.chosen for step in steps)))
    axes.plot(
        *_places(chosen), "-", color=ink, linewidth=1.2, marker="*", markersize=13,
        markerfacecolor="none", label="chosen in each step",
    )  # fmt: skip
    if drawn := _trained(permuted):
        axes.plot(*_places(drawn), "x", color=ink, alpha=0.6, markersize=5, label="random permutation")
    for (name, one), marker in zip(references.items(), itertools.cycle("pHd8"), strict=False):
        if one.score is not None:
            axes.plot(one.cost, one.score, marker, color=ink, markersize=7, label=name)
    best = _places(frontier([*chosen, *tried, *drawn], metric))
    axes.plot(*best, "--", color=ink, alpha=0.6, linewidth=1, drawstyle="steps-post", label="frontier")


def _trained(candidates):
    return [one for one in candidates if one.score is not None]


def _places(candidates):
    return [one.cost for one in candidates], [one.score for one in candidates]


def _short(number):
    for size, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if number >= size:
            return f"{number / size:.3g}{letter}"
    return f"{number:.3g}"

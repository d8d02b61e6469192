"""Hardware-aware scaling, Figure 8: whether costs rank models in the same order, by Kendall's coefficient.

Models are drawn from the paper's grid; of its 2,700 those up to 10^9 multiply-adds, for images of 128 pixels.
`python -m training.scaling.rank` takes any number of models, and other costs.
"""

from command_line import commands, plots
from hsvit_runtime.errors import FileError, InputError
from training.paper_figures.scaling import flops
from training.scaling import costs, rank
from training.scaling.factors import DEIT
from training.tables import scaling
from training.visualizing.paper_figure import PaperFigure

_COUNT, _SIDE, _MOST = 12, 128, 1e9
_COSTS = {
    "multiply-adds": ("full_multiply_adds", "float32"),
    "parameters": ("parameters", "float32"),
    "LiteRT, float32": ("litert_latency", "float32"),
    "LiteRT, dynamic": ("litert_latency", "dynamic"),
    "Cortex-A76": ("arm_instructions", "float32"),
}


def get_figure():
    return PaperFigure(scaling.figure(8, ()), _draw, measure=_measure)


def models():
    """Factors of the models: list of dicts."""
    affordable = [factors for factors in rank.draw(200, 0, _SIDE) if flops(factors) <= _MOST]
    return affordable[:: len(affordable) // _COUNT][:_COUNT]


def _measure(trained):
    folder = trained.workdir / "costs"
    folder.mkdir(parents=True, exist_ok=True)
    drawn, found, left_out = models(), {}, {}
    for title, (name, preset) in _COSTS.items():
        cost = costs.Cost(name, folder, preset=preset)
        try:
            values = []
            for number, factors in enumerate(drawn, 1):
                values.append(cost(DEIT.configuration(factors, 3, 1000)))
                commands.show_progress(f"models, {title}", number, len(drawn))
            found[title] = values
        except (FileError, ImportError, InputError) as error:
            left_out[title] = str(error)
            print(f"left out: {title}: {error}")
    kendall = rank.kendall(found)
    print(rank.as_text(kendall))
    return {"models": drawn, "costs": found, "kendall": kendall, "left_out": left_out}


def _draw(numbers):
    names = list(numbers["kendall"])
    values = [[numbers["kendall"][one][other] for other in names] for one in names]
    figure = plots.new_figure((1.0 * len(names) + 1.6, 0.8 * len(names) + 1.4))
    axes = figure.subplots()
    axes.imshow(values, cmap="Blues", vmin=min(map(min, values)) - 0.3, vmax=1.3)
    axes.grid(False)
    axes.set_xticks(range(len(names)), names, rotation=30, ha="right")
    axes.set_yticks(range(len(names)), names)
    for y, row in enumerate(values):
        for x, value in enumerate(row):
            axes.text(x, y, f"{value:.2f}", ha="center", va="center")
    axes.set_title(f"Kendall's coefficient, {len(numbers['models'])} models")
    return figure

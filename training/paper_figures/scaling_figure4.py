"""Hardware-aware scaling, Figure 4: random permutation around DeiT-Scaled-Tiny.

24 models of its FLOPs, within 5 %, whose factors are drawn near its own, as the search draws them
(`training.scaling.permutation`), are trained beside it. The paper prints the best of its own alone.
"""

import numpy as np

from training.paper_figures import scaling
from training.scaling.factors import DEIT
from training.scaling.permutation import permute
from training.tables import scaling as tables
from training.tables import scaling_table13
from training.tabulating.paper import Row
from training.tabulating.plan import choose_rows
from training.visualizing import points
from training.visualizing.paper_figure import PaperFigure

_COUNT = 24
# DeiT-Scaled-Tiny.
_SCALED = {
    "depth": 14, "num_heads": 4, "head_dim": 64, "mlp_ratio": 4, "image_size": 160, "patch_size": 16,
}  # fmt: skip
_NAMES = ("DeiT-Tiny", "DeiT-Scaled-Tiny", "DeiT-Scaled-Tiny-RP")


def get_figure():
    table13 = scaling_table13.get_table()
    rows = (*choose_rows(table13, _NAMES), *map(_row, permutations()))
    paper = scaling.printed(table13.rows)
    return PaperFigure(tables.figure(4, rows), _draw, measure=lambda trained: {"paper": paper})


def permutations():
    """The factors of the permuted models: list of dicts, the same on each call."""
    rng, target = np.random.default_rng(0), scaling.flops(_SCALED)
    return permute(DEIT, _SCALED, scaling.flops, target, _COUNT, rng, tolerance=0.05)


def _row(factors):
    arguments = DEIT.configuration(factors, 3, 1000)
    model, (side, _, _) = arguments.pop("name"), arguments.pop("input_shape")
    del arguments["num_classes"]
    name = " ".join(f"{letter}{value}" for letter, value in zip("dherIp", factors.values(), strict=True))
    return Row(name, model, arguments, image_size=side)


def _draw(numbers):
    def series(name):
        return scaling.series(name) if name.startswith("DeiT") else "random permutation"

    here = points.measured(numbers, scaling.billions, series)
    return points.draw(
        {
            "the paper's, imagenet": numbers["paper"],
            **{title: [_named(point) for point in found] for title, found in here.items()},
        },
        "10$^9$ multiply-adds",
        joined=(),
        frontier=True,
    )


def _named(point):
    return {**point, "name": ""} if point["series"] == "random permutation" else point

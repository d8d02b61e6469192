"""Hardware-aware scaling, Figure 3: accuracy depends on the aspect ratio, the dim over the depth.

The paper prints no shapes: these are of as many parameters as DeiT-Small has in its blocks, within 4 %, for
heads of 64. Points above each other differ in the size of the image alone. `--setting=image_shape=...` gives
all rows one size.
"""

from training.tables import scaling
from training.tabulating.paper import Row
from training.visualizing import points
from training.visualizing.paper_figure import PaperFigure

# Blocks and heads; 12 d (64 h)^2 parameters.
_SHAPES = ((3, 12), (7, 8), (12, 6), (17, 5), (27, 4), (48, 3))
_SIDES = (160, 224, 288)


def get_figure():
    rows = [_row(*shape, side) for shape in _SHAPES for side in _SIDES]
    table = scaling.figure(3, rows)
    return PaperFigure(table, _draw)


def _row(depth, num_heads, side):
    dim = 64 * num_heads
    arguments = {"depth": depth, "num_heads": num_heads, "hidden_dim": dim, "mlp_dim": 4 * dim}
    return Row(f"d {depth}, h {num_heads}, I {side}", "deit_small", arguments, image_size=side)


def _draw(numbers):
    def ratio(row):
        return row["arguments"]["hidden_dim"] / row["arguments"]["depth"]

    panels = points.measured(numbers, ratio, lambda name: name.rpartition(", ")[2])
    panels = {title: [_shape(point) for point in found] for title, found in panels.items()}
    return points.draw(panels, "aspect ratio: dim / depth")


def _shape(point):
    return {**point, "name": point["name"].rpartition(", ")[0]}

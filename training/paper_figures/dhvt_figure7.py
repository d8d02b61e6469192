"""DHVT's supplement, Figure 7: mean attention of DHVT-S, trained from scratch on ImageNet."""

import functools

from training.configs import dhvt_imagenet
from training.paper_figures import dhvt
from training.tables.dhvt import table
from training.tabulating.paper import Row
from training.visualizing.paper_figure import PaperFigure


def get_figure():
    recipes = {"imagenet": dhvt_imagenet.get_config}
    return PaperFigure(
        table("Figure 7", recipes, [Row("DHVT-S", "dhvt_s_imagenet")], image_size=224),
        functools.partial(dhvt.draw_attention, with_heads=False),
        measure=dhvt.measure_attention,
    )

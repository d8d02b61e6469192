"""DHVT's supplement, Figures 3 to 5: mean attention of DHVT-T, and of head tokens to patches, CIFAR-100."""

from training.paper_figures import dhvt
from training.tables.dhvt import RECIPES, ablation, table
from training.visualizing.paper_figure import PaperFigure


def get_figure():
    runs = table("Figures 3 to 5", RECIPES, [ablation("DHVT-T", None, {})], image_size=32)
    return PaperFigure(runs, dhvt.draw_attention, measure=dhvt.measure_attention)

"""DHVT's supplement, Figure 2: how the model learns with head tokens and without, without positions."""

from training.paper_figures import dhvt
from training.visualizing import epochs
from training.visualizing.paper_figure import PaperFigure


def get_figure():
    table = dhvt.table("Figure 2", ("+ SOPE + DAFF, woabs", "DHVT full"))
    return PaperFigure(table, epochs.draw, measure=epochs.measure)

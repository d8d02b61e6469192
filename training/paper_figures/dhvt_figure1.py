"""DHVT's supplement, Figure 1: how models learn with head tokens alone, and with SOPE and DAFF."""

import functools

from training.paper_figures import dhvt
from training.visualizing import epochs
from training.visualizing.paper_figure import PaperFigure

_PANELS = {
    "(a)": ("baseline", "+ head token"),
    "(b)": ("baseline", "+ SOPE", "+ DAFF", "+ SOPE + DAFF", "+ SOPE + DAFF, woabs"),
}


def get_figure():
    names = dict.fromkeys(name for panel in _PANELS.values() for name in panel)
    return PaperFigure(
        dhvt.table("Figure 1", names),
        functools.partial(epochs.draw, panels=_PANELS),
        measure=epochs.measure,
    )

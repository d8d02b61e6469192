"""HVT, Figure 4: how DeiT-Ti and Scale HVT-Ti-4 learn, validation accuracy and training loss."""

import functools

from training.paper_figures import hvt
from training.tables import hvt_table1
from training.tabulating.plan import choose_rows
from training.visualizing import epochs
from training.visualizing.paper_figure import PaperFigure


def get_figure():
    rows = choose_rows(hvt_table1.get_table(), ["DeiT-Ti", "Scale HVT-Ti-4"])
    return PaperFigure(
        hvt.table(4, rows), functools.partial(epochs.draw, with_loss=True), measure=epochs.measure
    )

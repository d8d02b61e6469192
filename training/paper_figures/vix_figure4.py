"""Vision X-formers, Figure 4: accuracy and memory of the models of Table 1, on CIFAR-10."""

import dataclasses

from training.paper_figures import vix
from training.tables import vix_table1
from training.visualizing.paper_figure import PaperFigure


def get_figure():
    table = dataclasses.replace(vix_table1.get_table(), title="Vision X-formers, Figure 4")
    return PaperFigure(table, vix.draw_memory, measure=vix.measure_memory)

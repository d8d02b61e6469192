"""Vision X-formers, Table 2 as a picture: accuracy, memory and parameters on Tiny-ImageNet."""

from training.paper_figures import vix
from training.tables import vix_table2
from training.visualizing.paper_figure import PaperFigure


def get_figure():
    return PaperFigure(vix_table2.get_table(), vix.draw_memory, measure=vix.measure_memory)

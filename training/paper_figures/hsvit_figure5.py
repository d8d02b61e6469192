"""HSViT, Figure 5: number of convolutional kernels against number of attention groups."""

from training.paper_figures import hsvit
from training.visualizing.paper_figure import PaperFigure


def get_figure():
    rows = [hsvit.row(kernels, groups) for groups in (0, 1, 2, 4, 8) for kernels in hsvit.KERNELS]
    return PaperFigure(hsvit.table(5, rows), draw=hsvit.over_kernels(hsvit.groups))

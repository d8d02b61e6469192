"""HSViT, Figure 8: convolution depth and attention depth."""

from training.paper_figures import hsvit
from training.visualizing.paper_figure import PaperFigure


def get_figure():
    rows = [
        hsvit.row(kernels, 1, stages, depth)
        for stages in (1, 2)
        for depth in (1, 2)
        for kernels in hsvit.KERNELS
    ]
    return PaperFigure(
        hsvit.table(8, rows),
        draw=hsvit.over_kernels(lambda arguments: f"{hsvit.stages(arguments)}, {hsvit.depth(arguments)}"),
    )

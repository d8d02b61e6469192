"""HSViT, Figure 6: number of convolutional kernels of a group against number of attention groups."""

from training.paper_figures import hsvit
from training.visualizing.paper_figure import PaperFigure

_NOTES = ("the paper's accuracy on CIFAR-10 levels off at about 87 % from 64 kernels of a group on",)


def get_figure():
    rows = [hsvit.row(groups * share, groups) for groups in (1, 2, 4, 8) for share in (16, 32, 64, 128)]
    return PaperFigure(
        hsvit.table(6, rows, _NOTES),
        draw=hsvit.over_kernels(
            hsvit.groups,
            x=lambda arguments: arguments["filters"][-1] // arguments["attention_groups"],
            x_label="kernels of a group",
        ),
    )

"""What HSViT's figures on CIFAR-10 have in common: small models of one or two convolutional stages.

The paper tells the sizes by the figures alone. As in the authors' program, there are 16 to 256 kernels in the
last stage, half as many in the first of two, and each stage pools with a stride of 2.
"""

import functools

from training.tables import hsvit
from training.tabulating.paper import Row, Table
from training.visualizing import curves

KERNELS = (16, 32, 64, 128, 256)


def row(kernels, groups, stages=1, depth=1):
    """The row of a model, such as "C1A1 K16 G2": stages, blocks, kernels and groups.

    Args:
        kernels: int, of the last stage.
        groups: int, attention groups.
        stages: int, convolutional stages.
        depth: int, attention blocks of each group.
    """
    arguments = {
        "filters": tuple(kernels // 2**stage for stage in reversed(range(stages))),
        "pool_strides": (2,) * stages,
        "attention_groups": groups,
        "depth": depth,
    }
    return Row(f"C{stages}A{depth} K{kernels} G{groups}", "hsvit_c2a2", arguments)


def table(number, rows, notes=()):
    """The runs of a figure.

    Args:
        number: int, of the figure.
        rows: iterable of `Row`.
        notes: tuple of str, what the paper says of the figure in numbers.
    """
    return Table(
        title=f"HSViT, Figure {number}",
        paper=hsvit.PAPER,
        recipes={"cifar10": hsvit.RECIPES["cifar10"]},
        rows=tuple(rows),
        notes=(*hsvit.NOTES, *notes),
        image_size=32,
    )


def over_kernels(line, **more):
    """Draws accuracy over the kernels of the last stage: a `draw` of `PaperFigure`.

    Args:
        line: function from the arguments of a model to the label of its line.
        **more: arguments of `curves.lines`.
    """
    options = {"x": lambda arguments: arguments["filters"][-1], "x_label": "kernels", "log_x": True}
    return functools.partial(curves.lines, line=line, **{**options, **more})


def groups(arguments):
    """The label of a line for each number of attention groups."""
    return _counted(arguments["attention_groups"], "group")


def depth(arguments):
    """What a label says of the attention blocks."""
    return _counted(arguments["depth"], "attention block")


def stages(arguments):
    """What a label says of the convolutional stages."""
    return _counted(len(arguments["filters"]), "stage")


def _counted(number, what):
    return f"{number} {what}" + ("" if number == 1 else "s")

"""What the tables of HVT have in common, https://arxiv.org/abs/2103.10619.

FLOPs of the paper are multiply-adds, parameters are in millions. Its CIFAR-100 is enlarged to 224 x 224.
"""

from training.configs import deit_imagenet, hvt_cifar100, hvt_imagenet
from training.tabulating.paper import Row, Table

_RECIPES = {"imagenet": hvt_imagenet.get_config, "cifar100": hvt_cifar100.get_config}


def table(number, data, rows):
    """One of the paper's tables.

    Args:
        number: int.
        data: sequence of str, its data sets.
        rows: sequence of `Row`.
    """
    return Table(
        title=f"HVT, Table {number}",
        paper="https://arxiv.org/abs/2103.10619",
        recipes={name: _RECIPES[name] for name in data},
        rows=tuple(rows),
        notes=(deit_imagenet.NOTE,),
        image_size=224,
    )


def row(name, model, flops, parameters, **others):
    """A row of figures as the paper prints them.

    Args:
        name, model: str, see `Row`.
        flops: str, multiply-adds in units of 10^9.
        parameters: str, in millions.
        **others: the rest of `Row`.
    """
    return Row(name, model, multiply_adds=f"{flops} G", parameters=f"{parameters} M", **others)


def on_cifar100(name, model, flops, parameters, top1, top5, **others):
    """A row of the tables on CIFAR-100 alone."""
    return row(name, model, flops, parameters, accuracy={"cifar100": (top1, top5)}, **others)

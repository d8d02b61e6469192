"""What the tables of the Vision X-formers have in common, https://arxiv.org/abs/2107.02239.

Their counts of parameters leave out what stands in no layer: class tokens, positions, projections of
Linformer and the gains of a normalization of maps.
"""

from training.configs import xformer_cifar10, xformer_tiny_imagenet
from training.tabulating.paper import Row, Table

_RECIPES = {"cifar10": xformer_cifar10.get_config, "tiny_imagenet": xformer_tiny_imagenet.get_config}
_NOTES = (
    "flips and shifts are ours: the paper names none",
    "40 epochs of one learning rate are those of one of the authors' programs: the paper names none",
    "the paper trains in mixed precision: --setting=dtype=mixed_float16",
    "the paper gives the best of three runs, on the test part",
)


def table(number, data, rows):
    """One of the paper's tables.

    Args:
        number: int.
        data: str, its data set.
        rows: iterable of `Row`.
    """
    return Table(
        title=f"Vision X-formers, Table {number}",
        paper="https://arxiv.org/abs/2107.02239",
        recipes={data: _RECIPES[data]},
        rows=tuple(rows),
        notes=_NOTES,
    )


def row(data, name, model, parameters, megabytes, top1, top5, gigabytes, **arguments):
    """A row as the paper prints it, then the arguments of the model."""
    others = {"Size (MB)": megabytes, "GPU (GB)": gigabytes}
    if megabytes is None:
        del others["Size (MB)"]
    return Row(name, model, arguments, {data: (top1, top5)}, parameters, others=others)

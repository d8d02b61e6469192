"""What the tables of hardware-aware scaling have in common.

FLOPs of the paper are multiply-adds. It distils from RegNetY-16GF, which is not in the package.
"""

import dataclasses

from training.configs import deit_imagenet, pit_imagenet
from training.tabulating.paper import Row, Table

_NOTES = (
    "without the paper's distillation from RegNetY-16GF",
    deit_imagenet.NOTE,
)
_FACTORS = ("d", "h", "e", "r", "I", "p")  # blocks, heads, dim of a head, ratio of the MLP, image, patch
# Factors, model, FLOPs in 10^9 and top-1 accuracy of what Tables 2 and 13 share.
SHARED = {
    "DeiT-Tiny": ("deit_tiny", "1.26", 74.5, (12, 3, 64, 4, 224, 16)),
    "DeiT-Scaled-Tiny": ("deit_scaled_tiny", "1.22", 76.4, (14, 4, 64, 4, 160, 16)),
    "DeiT-Small": ("deit_small", "4.62", 81.2, (12, 6, 64, 4, 224, 16)),
    "DeiT-Scaled-Small": ("deit_scaled_small", "4.79", 81.6, (20, 4, 64, 4, 256, 16)),
}


def table(number, rows, recipe=deit_imagenet.get_config, notes=()):
    """One of the paper's tables.

    Args:
        number: int.
        rows: sequence of `Row`.
        recipe: `get_config` of the recipe on ImageNet.
        notes: tuple of str, beside those of all tables.
    """
    return Table(
        title=f"Hardware-aware scaling, Table {number}",
        paper="An Investigation on Hardware-Aware Vision Transformer Scaling",
        recipes={"imagenet": recipe},
        rows=tuple(rows),
        notes=(*_NOTES, *notes),
        image_size=224,
    )


def figure(number, rows):
    """The runs of one of the paper's figures; none where it shows costs alone."""
    found = table(number, rows)
    recipes = found.recipes if rows else {}
    return dataclasses.replace(found, title=f"Hardware-aware scaling, Figure {number}", recipes=recipes)


def row(name, model, flops, top1, factors, costs=None):
    """A row of a model.

    Args:
        name, model: str, see `Row`.
        flops: str, multiply-adds in units of 10^9; None where the table has none.
        top1: float, in percent.
        factors: its d, h, e, r, I and p.
        costs: dict of the paper's other figures, or None.
    """
    others = {**dict(zip(_FACTORS, factors, strict=True)), **(costs or {})}
    return Row(
        name,
        model,
        accuracy={"imagenet": top1},
        multiply_adds=flops and f"{flops} G",
        others=others,
        image_size=others["I"],
    )


def pit_table(number, rows):
    """One of the paper's tables of PiT, which it optimizes by AdamP."""
    return table(number, rows, pit_imagenet.get_config, ("AdamW in place of AdamP for PiT",))

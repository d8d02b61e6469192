"""What the tables of DHVT's supplement have in common, https://arxiv.org/abs/2210.05958."""

from training.tabulating.paper import Table


def table(number, recipes, rows, image_size):
    """One of the supplement's tables.

    Args:
        number: int.
        recipes: dict from a data set to `get_config` of its recipe.
        rows: sequence of `Row`.
        image_size: int, side of the images.
    """
    return Table(
        title=f"DHVT's supplement, Table {number}",
        paper="https://arxiv.org/abs/2210.05958",
        recipes=recipes,
        rows=tuple(rows),
        notes=("augmentation is DeiT's as far as Keras has it: see training/configs/deit_imagenet.py",),
        image_size=image_size,
    )

"""What the tables of DHVT's supplement have in common, https://arxiv.org/abs/2210.05958."""

from hsvit_keras.models.dhvt import PLAIN
from training.configs import deit_imagenet, dhvt_cifar100
from training.tabulating.paper import Row, Table

PAPER = "https://arxiv.org/abs/2210.05958"
NOTES = (deit_imagenet.NOTE,)
RECIPES = {"cifar100": dhvt_cifar100.get_config}
# The ablations begin with ViT-T with 4 heads, as DHVT-T has them, in patches of 4: arguments of DHVT without
# its parts, and those that bring one of them in.
VIT = PLAIN
SOPE = {"embedding": "convolutions"}
SPLIT = {"split_class_token": True}
DAFF = {**SPLIT, "neighbours": "depthwise", "mlp_norm": "batch", "recalibration": "class_token"}
HEAD_TOKENS = {"head_tokens": True}
WITHOUT_POSITIONS = {"position_embedding": False}


def table(place, recipes, rows, image_size, notes=()):
    """One of the supplement's tables.

    Args:
        place: str, such as "Table 2".
        recipes: dict from a data set to `get_config` of its recipe.
        rows: sequence of `Row`.
        image_size: int, side of the images.
        notes: tuple of str, beside those of all tables.
    """
    return Table(
        title=f"DHVT's supplement, {place}",
        paper=PAPER,
        recipes=recipes,
        rows=tuple(rows),
        notes=(*NOTES, *notes),
        image_size=image_size,
    )


def ablation(name, top1, arguments, **others):
    """A row of DHVT-T on CIFAR-100 with some arguments changed.

    Args:
        name: str.
        top1: float, as the paper prints it, in percent; None where it prints none.
        arguments: dict of arguments of the model.
        **others: the rest of `Row`.
    """
    accuracy = {} if top1 is None else {"cifar100": top1}
    return Row(name, "dhvt_t_cifar_p4", arguments, accuracy, **others)

"""DHVT's supplement, Table 4: the number of heads on CIFAR-100.

The size of a patch is not printed; that of ViT-T is taken to be DHVT's, 4. Heads share the dim of a model.
"""

from training.tables import dhvt
from training.tabulating.paper import Row


def get_table():
    rows = (
        _row("ViT-T", "deit_tiny", 3, 66.50, patch_size=4),
        _row("ViT-T", "deit_tiny", 4, 67.59, patch_size=4),
        _row("DHVT-T", "dhvt_t_cifar_p4", 3, 80.92),
        _row("DHVT-T", "dhvt_t_cifar_p4", 4, 80.98),
        _row("DHVT-S", "dhvt_s_cifar_p4", 4, 82.27),
        _row("DHVT-S", "dhvt_s_cifar_p4", 6, 82.59),
        _row("DHVT-S", "dhvt_s_cifar_p4", 8, 82.82),
    )
    return dhvt.table("Table 4", dhvt.RECIPES, rows, image_size=32)


def _row(name, model, heads, top1, **arguments):
    return Row(
        f"{name} with {heads} heads",
        model,
        {"num_heads": heads, **arguments},
        {"cifar100": top1},
        others={"#Head": heads},
    )

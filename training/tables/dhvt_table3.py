"""DHVT's supplement, Table 3: minor operations in DAFF, on CIFAR-100."""

from training.tables import dhvt


def get_table():
    rows = (
        dhvt.ablation("DHVT", 80.85, {}),
        dhvt.ablation("DHVT (Agg on all token)", 78.34, {"recalibration": "all_tokens"}),
        dhvt.ablation("DHVT (w/o shortcut)", 80.14, {"shortcut": False}),
    )
    return dhvt.table("Table 3", dhvt.RECIPES, rows, image_size=32)

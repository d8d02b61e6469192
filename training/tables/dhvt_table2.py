"""DHVT's supplement, Table 2: minor operations on the feed-forward of ViT, on CIFAR-100.

Whether the average of neighbours is added to a patch's own features is not printed; it is here, as in DHVT.
"""

from training.tables import dhvt


def get_table():
    recalibrated = {"recalibration": "class_token"}
    rows = (
        dhvt.ablation("ViT", 67.59, dhvt.VIT),
        dhvt.ablation("ViT + Split CLS", 68.76, {**dhvt.VIT, **dhvt.SPLIT}),
        dhvt.ablation("ViT + Split CLS + Agg on CLS", 69.34, {**dhvt.VIT, **dhvt.SPLIT, **recalibrated}),
        dhvt.ablation(
            "ViT + Split CLS + AvgPool", 70.48, {**dhvt.VIT, **dhvt.SPLIT, "neighbours": "average"}
        ),
    )
    return dhvt.table("Table 2", dhvt.RECIPES, rows, image_size=32)

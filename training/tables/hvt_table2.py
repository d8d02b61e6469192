"""HVT, Table 2: prediction without the class token."""

from training.tables import hvt


def get_table():
    rows = (
        hvt.row(
            "DeiT-Ti with CLS", "deit_tiny", "1.25", "5.72",
            accuracy={"imagenet": (72.20, 91.10), "cifar100": (64.49, 89.27)},
        ),
        hvt.row(
            "DeiT-Ti without CLS", "hvt_ti_0", "1.25", "5.72",
            accuracy={"imagenet": (72.42, 91.55), "cifar100": (65.93, 90.33)},
        ),
    )  # fmt: skip
    return hvt.table(2, ("imagenet", "cifar100"), rows)

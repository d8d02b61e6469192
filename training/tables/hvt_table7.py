"""HVT, Table 7: HVT-S-4 at different image resolutions, on CIFAR-100."""

from training.tables import hvt


def get_table():
    rows = (
        _row(160, "0.69", "21.70", 73.84, 92.90),
        _row(224, "1.39", "21.77", 75.43, 93.56),
        _row(320, "3.00", "21.92", 75.54, 94.18),
        _row(384, "4.48", "22.06", 76.31, 94.02),
    )
    return hvt.table(7, ("cifar100",), rows)


def _row(side, *figures):
    return hvt.on_cifar100(f"Resolution {side}", "hvt_s_4", *figures, image_size=side)

"""HVT, Table 8: HVT-S-4 with different sizes of a patch, on CIFAR-100."""

from training.tables import hvt


def get_table():
    rows = (
        hvt.on_cifar100("Patch 8", "hvt_s_4_p8", "6.18", "21.99", 77.29, 94.22),
        hvt.on_cifar100("Patch 16", "hvt_s_4", "1.39", "21.77", 75.43, 93.56),
        hvt.on_cifar100("Patch 32", "hvt_s_4_p32", "0.37", "22.55", 68.15, 90.19),
    )
    return hvt.table(8, ("cifar100",), rows)

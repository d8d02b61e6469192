"""HVT, Table 5: HVT-S-4 with different numbers of blocks, on CIFAR-100."""

from training.tables import hvt


def get_table():
    rows = (
        hvt.on_cifar100("12 blocks", "hvt_s_4", "1.39", "21.77", 75.43, 93.56),
        hvt.on_cifar100("16 blocks", "hvt_s_4_d16", "1.72", "28.87", 75.32, 93.30),
        hvt.on_cifar100("20 blocks", "hvt_s_4_d20", "2.05", "35.97", 75.35, 93.35),
        hvt.on_cifar100("24 blocks", "hvt_s_4_d24", "2.37", "43.07", 75.04, 93.39),
    )
    return hvt.table(5, ("cifar100",), rows)

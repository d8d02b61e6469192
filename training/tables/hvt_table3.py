"""HVT, Table 3: HVT-S-4 with three ways to reduce the sequence, on CIFAR-100."""

from training.tables import hvt


def get_table():
    rows = (
        hvt.on_cifar100("HVT-S (Conv)", "hvt_s_4_convolution", "1.47", "23.54", 69.75, 92.12),
        hvt.on_cifar100("HVT-S (Avg)", "hvt_s_4_average", "1.39", "21.77", 70.38, 91.39),
        hvt.on_cifar100("HVT-S (Max)", "hvt_s_4", "1.39", "21.77", 75.43, 93.56),
    )
    return hvt.table(3, ("cifar100",), rows)

"""HVT, Table 6: HVT-Ti-4 with different numbers of heads, on CIFAR-100."""

from training.tables import hvt


def get_table():
    rows = (
        hvt.on_cifar100("3 heads", "hvt_ti_4", "0.38", "5.58", 69.51, 91.78),
        hvt.on_cifar100("6 heads", "hvt_scale_ti_4", "1.39", "21.77", 75.43, 93.56),
        hvt.on_cifar100("12 heads", "hvt_ti_4_h12", "5.34", "86.01", 76.26, 93.39),
        hvt.on_cifar100("16 heads", "hvt_ti_4_h16", "9.39", "152.43", 76.30, 93.16),
    )
    return hvt.table(6, ("cifar100",), rows)

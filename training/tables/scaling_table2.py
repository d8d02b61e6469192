"""Hardware-aware scaling, Table 2: scaled models against DeiT of the same FLOPs."""

from training.tables import scaling


def get_table():
    rows = (
        *(scaling.row(name, *figures) for name, figures in scaling.SHARED.items()),
        scaling.row("DeiT-Base", "deit_base", "17.66", 83.4, (12, 12, 64, 4, 224, 16)),
        scaling.row("DeiT-Scaled-Base", "deit_scaled_base", "16.82", 83.8, (20, 6, 64, 4, 320, 16)),
    )
    return scaling.table(2, rows)

"""Hardware-aware scaling, Table 13: random permutation of the scaled models."""

from training.tables import scaling


def get_table():
    rows = (
        *(scaling.row(name, *figures) for name, figures in scaling.SHARED.items()),
        scaling.row("DeiT-Scaled-Tiny-RP", "deit_scaled_tiny_rp", "1.22", 76.9, (17, 4, 60, 5, 171, 19)),
        scaling.row("DeiT-Scaled-Small-RP", "deit_scaled_small_rp", "4.79", 82.0, (21, 4, 68, 5, 210, 15)),
    )
    return scaling.table(13, rows)

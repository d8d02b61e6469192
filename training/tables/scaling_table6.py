"""Hardware-aware scaling, Table 6: the strategies of DeiT transferred to PiT.

"PiT-Small" is what PiT's authors print, "PiT-Small (Reproduced)" what this paper reached with the same model.
"""

from training.tables import scaling
from training.tabulating.paper import Row


def get_table():
    rows = (
        _row("PiT-Tiny", "pit_ti", 74.6, "0.71", 224),
        _row("PiT-Scaled-Tiny", "pit_scaled_tiny", 76.7, "0.70", 160),
        _row("PiT-XS", "pit_xs", 79.1, "1.40", 224),
        _row("PiT-Scaled-XS", "pit_scaled_xs", 79.5, "1.38", 160),
        _row("PiT-Small", None, 81.9, "2.9", 224),
        _row("PiT-Small (Reproduced)", "pit_s", 81.7, "2.9", 224),
        _row("PiT-Scaled-Small", "pit_scaled_small", 81.8, "3.0", 256),
    )
    return scaling.pit_table(6, rows)


def _row(name, model, top1, flops, side):
    return Row(
        name,
        model,
        accuracy={"imagenet": top1},
        multiply_adds=f"{flops} G",
        image_size=side,
        why_not="" if model else "the model is that of the next row",
    )

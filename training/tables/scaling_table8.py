"""Hardware-aware scaling, Table 8: architecture configuration of DeiT, PiT and their scaled forms.

PiT has three stages: their blocks and heads stand one behind the other. PiT is trained by DeiT's recipe, from
which PiT's differs in the optimizer alone.
"""

from training.tables import scaling
from training.tabulating.paper import Row


def get_table():
    rows = (
        _row("DeiT-Tiny", "deit_tiny", "1.26", 74.5, 224, "14", 12, 3, 64),
        _row("DeiT-Scaled-Tiny", "deit_scaled_tiny", "1.22", 76.4, 160, "10", 14, 4, 64),
        _row("PiT-Tiny", "pit_ti", "0.71", 74.6, 224, "27-14-7", "2-6-4", "2-4-8", 32),
        _row("PiT-Scaled-Tiny", "pit_scaled_tiny", "0.70", 76.7, 160, "19-10-5", "2-7-4", "3-6-12", 32),
        _row("PiT-XS", "pit_xs", "1.41", 79.1, 224, "27-14-7", "2-6-4", "2-4-8", 48),
        _row("PiT-Scaled-XS", "pit_scaled_xs", "1.38", 79.5, 160, "19-10-5", "2-6-4", "3-6-12", 48),
        _row("DeiT-Small", "deit_small", "4.62", 81.2, 224, "14", 12, 6, 64),
        _row("DeiT-Scaled-Small", "deit_scaled_small", "4.79", 81.6, 256, "16", 20, 4, 64),
        _row("PiT-Small", "pit_s", "2.90", 81.7, 224, "27-14-7", "2-6-4", "3-6-12", 48),
        _row("PiT-Scaled-Small", "pit_scaled_small", "3.04", 81.8, 256, "31-16-8", "3-10-6", "2-4-8", 48),
    )
    return scaling.pit_table(8, rows)


def _row(name, model, flops, top1, side, tokens, blocks, heads, head_dim):
    return Row(
        name,
        model,
        accuracy={"imagenet": top1},
        multiply_adds=f"{flops} G",
        others={"I": side, "Spatial size": tokens, "d": blocks, "h": heads, "e": head_dim},
        image_size=side,
    )

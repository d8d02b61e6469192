"""HVT, Table 1: comparison with DeiT and PoWER on ImageNet.

How many tokens PoWER leaves to each block is not printed. Here each block keeps the same share of them, that
which has the printed FLOPs, and the model is trained in one step; PoWER has three, and learns these numbers.
"""

from training.tables import hvt


def get_table():
    rows = (
        _row("DeiT-Ti", "deit_tiny", 192, 3, "1.25", "5.72", 72.20, 91.10),
        _row("DeiT-Ti + PoWER", "deit_tiny", 192, 3, "0.80", "5.72", 69.40, 89.20, keep_rate=0.928),
        _row("HVT-Ti-1", "hvt_ti_1", 192, 3, "0.64", "5.74", 69.64, 89.40),
        _row("Scale HVT-Ti-4", "hvt_scale_ti_4", 384, 6, "1.39", "22.12", 75.23, 92.30),
        _row("DeiT-S", "deit_small", 384, 6, "4.60", "22.05", 79.80, 95.00),
        _row("DeiT-S + PoWER", "deit_small", 384, 6, "2.70", "22.05", 78.30, 94.00, keep_rate=0.9105),
        _row("HVT-S-1", "hvt_s_1", 384, 6, "2.40", "22.09", 78.00, 93.83),
    )
    return hvt.table(1, ("imagenet",), rows)


def _row(name, model, dim, heads, flops, parameters, top1, top5, **arguments):
    return hvt.row(
        name,
        model,
        flops,
        parameters,
        accuracy={"imagenet": (top1, top5)},
        arguments=arguments,
        others={"Embedding Dim": dim, "#Heads": heads, "#Blocks": 12},
    )

"""Hardware-aware scaling, Table 9: TimeSformer over DeiT and DeiT-Scaled on Kinetics-400.

FLOPs of the paper are multiply-adds and five operations for each number that is normalized.
"""

from training.configs import timesformer_kinetics
from training.tabulating.paper import Row, Table

_NOTES = (
    "from random weights: the paper starts from models trained on ImageNet",
    "evaluated on the centre of the frames: TimeSformer's program averages three crops",
)


def get_table():
    rows = (
        _row("joint", "DeiT-Tiny", "deit_tiny", 67.7, "19.9", 224),
        _row("joint", "DeiT-Scaled-Tiny", "deit_scaled_tiny", 67.4, "13.3", 160),
        _row("joint", "DeiT-Small", "deit_small", 71.2, "56.5", 224),
        _row("joint", "DeiT-Scaled-Small", "deit_scaled_small", 71.4, "61.9", 256),
        _row("divided", "DeiT-Tiny", "deit_tiny", 68.4, "13.6", 224),
        _row("divided", "DeiT-Scaled-Tiny", "deit_scaled_tiny", 67.8, "12.7", 160),
        _row("divided", "DeiT-Small", "deit_small", 71.4, "50.8", 224),
        _row("divided", "DeiT-Scaled-Small", "deit_scaled_small", 72.0, "54.2", 256),
    )
    return Table(
        title="Hardware-aware scaling, Table 9",
        paper="An Investigation on Hardware-Aware Vision Transformer Scaling",
        recipes={"kinetics": timesformer_kinetics.get_config},
        rows=rows,
        notes=_NOTES,
    )


def _row(attention, name, backbone, top1, flops, side):
    return Row(
        f"{attention.capitalize()}, {name}",
        f"timesformer_{attention}_{backbone}",
        accuracy={"kinetics": top1},
        multiply_adds=f"{flops} G",
        image_size=side,
    )

"""Hardware-aware scaling, Table 7: DeiT and DeiT-Scaled as backbones of Deformable DETR on COCO.

Figures of the paper are average precision on val2017, and images a second on a V100.
"""

from training.configs import detr_coco
from training.tabulating.paper import Row, Table

_NOTES = (
    "backbones begin with random weights, the paper's were trained on ImageNet",
    "images are stretched to 800 x 800, the paper's keep their aspect",
    "the backbone has the learning rate of the rest, in the authors' program a tenth of it",
)
_SIDE = detr_coco.SIDE


def get_table():
    return Table(
        title="Hardware-aware scaling, Table 7",
        paper="An Investigation on Hardware-Aware Vision Transformer Scaling",
        recipes={"coco": detr_coco.get_config},
        task="detection",
        rows=(
            _row("DeiT-Tiny", "deit_tiny", 35.0, 13.31),
            _row("DeiT-Scaled-Tiny", "deit_scaled_tiny", 35.7, 13.05),
            _row("DeiT-Small", "deit_small", 41.0, 10.81),
            _row("DeiT-Scaled-Small", "deit_scaled_small", 41.7, 9.81),
        ),
        notes=_NOTES,
    )


def _row(name, backbone, precision, speed):
    return Row(
        name,
        f"deformable_detr_{backbone}",
        arguments={"resizing": {"filter": "bilinear", "size": (_SIDE, _SIDE)}},
        average_precision={"coco": precision},
        others={"images/s": speed},
    )

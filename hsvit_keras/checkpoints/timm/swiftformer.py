"""SwiftFormer as timm names it."""

from hsvit_keras.checkpoints import swiftformer as original
from hsvit_keras.checkpoints import tensors as read
from hsvit_keras.checkpoints import timm_blocks

ATTENTION = {**original.ATTENTION, "project": "proj"}


def load(model, tensors):
    """Sets the weights of `model` from timm's tensors."""
    original.load_stem(model, tensors, "stem")
    for stage, depth in enumerate(model.depths):
        theirs = f"stages.{stage}"
        if stage:
            read.normalized_convolution(
                model, tensors, f"stage{stage}_conv", f"{theirs}.downsample.proj", f"{theirs}.downsample.norm"
            )
        original.load_stage(
            model, tensors, stage, depth, f"{theirs}.blocks", "dwconv", original.PARTS, ATTENTION, ".gamma"
        )
    timm_blocks.heads(model, tensors)

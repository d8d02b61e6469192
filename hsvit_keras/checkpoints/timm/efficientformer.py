"""EfficientFormer as timm names it."""

from hsvit_keras.checkpoints import efficientformer as original
from hsvit_keras.checkpoints import tensors as read
from hsvit_keras.checkpoints import timm_blocks

SCALE = "ls{}.gamma"


def load(model, tensors):
    """Sets the weights of `model` from timm's tensors."""
    for i in range(2):
        read.normalized_convolution(model, tensors, f"stem_conv{i}", f"stem.conv{i + 1}", f"stem.norm{i + 1}")
    for stage in range(1, len(model.depths)):
        theirs = f"stages.{stage}.downsample"
        read.normalized_convolution(model, tensors, f"stage{stage}_conv", f"{theirs}.conv", f"{theirs}.norm")
    original.load_blocks(model, tensors, "stages.{}.blocks".format, SCALE)
    timm_blocks.heads(model, tensors)

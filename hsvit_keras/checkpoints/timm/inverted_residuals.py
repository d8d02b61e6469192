"""MobileNetV2 and EfficientNet as timm names them, in one class of its own."""

from hsvit_keras.checkpoints import convolutions
from hsvit_keras.checkpoints import tensors as read

# Convolution and normalization of each part of a block; one that does not expand has fewer.
_EXPANDING = {
    "expand": ("conv_pw", "bn1"), "depthwise": ("conv_dw", "bn2"), "project": ("conv_pwl", "bn3"),
}  # fmt: skip
_OTHERS = {"depthwise": ("conv_dw", "bn1"), "project": ("conv_pw", "bn2")}


def load(model, tensors):
    """Sets the weights of `model` from timm's tensors."""
    read.normalized_convolution(model, tensors, "stem_conv", "conv_stem", "bn1")
    for stage, depth in enumerate(model.depths):
        for i in range(depth):
            _load_block(model, tensors, f"stage{stage}_block{i}", f"blocks.{stage}.{i}")
    read.normalized_convolution(model, tensors, "head_conv", "conv_head", "bn2")
    read.dense(model.get_layer("head"), tensors, "classifier")


def _load_block(model, tensors, ours, theirs):
    parts = _EXPANDING if convolutions.has(model, f"{ours}_expand") else _OTHERS
    for part, names in parts.items():
        read.normalized_convolution(model, tensors, f"{ours}_{part}", *(f"{theirs}.{name}" for name in names))
    if convolutions.has(model, f"{ours}_gate_squeeze"):
        for part, name in (("squeeze", "conv_reduce"), ("excite", "conv_expand")):
            read.convolution(model.get_layer(f"{ours}_gate_{part}"), tensors, f"{theirs}.se.{name}")

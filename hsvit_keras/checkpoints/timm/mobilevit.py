"""MobileViT as timm names it."""

from hsvit_keras.checkpoints import tensors as read
from hsvit_keras.checkpoints import timm_blocks


def load(model, tensors):
    """Sets the weights of `model` from timm's tensors."""
    _convolution(model, tensors, "stem_conv", "stem")
    without_transformer = len(model.depths) - len(model.hidden_dims)
    for i, depth in enumerate(model.depths):
        stage, theirs = f"stage{i}", f"stages.{i}"
        has_transformer = i >= without_transformer
        for j in range(1 if has_transformer else depth):
            for part, name in (("expand", "conv1_1x1"), ("depthwise", "conv2_kxk"), ("project", "conv3_1x1")):
                _convolution(model, tensors, f"{stage}_residual{j}_{part}", f"{theirs}.{j}.{name}")
        if has_transformer:
            _transformer(model, tensors, stage, f"{theirs}.1", depth)
    _convolution(model, tensors, "last_conv", "final_conv")
    read.dense(model.get_layer("head"), tensors, "head.fc")


def _transformer(model, tensors, stage, theirs, depth):
    """Sets the weights of a block with a transformer."""
    _convolution(model, tensors, f"{stage}_local_conv", f"{theirs}.conv_kxk")
    read.convolution(model.get_layer(f"{stage}_input_conv"), tensors, f"{theirs}.conv_1x1")
    for i in range(depth):
        timm_blocks.block(model, tensors, f"{stage}_block{i}", f"{theirs}.transformer.{i}")
    read.normalization(model.get_layer(f"{stage}_norm"), tensors, f"{theirs}.norm")
    _convolution(model, tensors, f"{stage}_output_conv", f"{theirs}.conv_proj")
    _convolution(model, tensors, f"{stage}_fusion_conv", f"{theirs}.conv_fusion")


def _convolution(model, tensors, layer, name):
    """Sets the weights of a convolution and of the batch normalization behind it."""
    read.normalized_convolution(model, tensors, layer, f"{name}.conv", f"{name}.bn")

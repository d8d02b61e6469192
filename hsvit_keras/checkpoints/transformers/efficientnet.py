"""EfficientNet checkpoints of the library transformers."""

import math

from hsvit_keras.checkpoints import convolutions
from hsvit_keras.checkpoints import tensors as read
from hsvit_keras.checkpoints.transformers import settings
from hsvit_keras.models import EfficientNet
from hsvit_keras.models.blocks import rounded_width
from hsvit_keras.models.efficientnet import (
    DEPTHS,
    EXPANSIONS,
    FILTERS,
    HEAD_FILTERS,
    KERNEL_SIZES,
    STEM_FILTERS,
    STRIDES,
)

CLASSES = ("EfficientNetForImageClassification",)
PROCESSOR = "EfficientNetImageProcessor"
DEFAULTS = {
    "num_channels": 3,
    "image_size": 600,
    "width_coefficient": 2.0,
    "depth_coefficient": 3.1,
    "depth_divisor": 8,
    "kernel_sizes": KERNEL_SIZES,
    "out_channels": FILTERS,
    "depthwise_padding": (),
    "strides": STRIDES,
    "num_block_repeats": DEPTHS,
    "expand_ratios": EXPANSIONS,
    "squeeze_expansion_ratio": 0.25,
    "hidden_act": "swish",
    "pooling_type": "mean",
    "batch_norm_eps": 0.001,
    "dropout_rate": 0.5,
    "drop_connect_rate": 0.2,
}
# Convolution and normalization of each part of a block.
_PARTS = {
    "expand": ("expansion.expand_conv", "expansion.expand_bn"),
    "depthwise": ("depthwise_conv.depthwise_conv", "depthwise_conv.depthwise_norm"),
    "project": ("projection.project_conv", "projection.project_bn"),
}


def build(config, input_shape, **common):
    """The model that a config describes.

    Args:
        config: dict of a config.json, `DEFAULTS` filled in.
        input_shape: (height, width, channels) in pixels, or None for that of the config.
        **common: other arguments of the model: `num_classes`, and those of `ImageModel`.
    """
    settings.check_settings(config, hidden_act=("swish", "silu"), pooling_type="mean")

    def scaled(width):
        return rounded_width(width * config["width_coefficient"], config["depth_divisor"])

    return EfficientNet(
        input_shape=settings.image_shape(config, input_shape),
        stem_filters=scaled(STEM_FILTERS),
        filters=[scaled(width) for width in config["out_channels"]],
        depths=[math.ceil(depth * config["depth_coefficient"]) for depth in config["num_block_repeats"]],
        kernel_sizes=config["kernel_sizes"],
        strides=config["strides"],
        expansions=config["expand_ratios"],
        head_filters=scaled(HEAD_FILTERS),
        squeeze_ratio=config["squeeze_expansion_ratio"],
        symmetric_blocks=config["depthwise_padding"],
        batch_norm_epsilon=config["batch_norm_eps"],
        dropout_rate=config["dropout_rate"],
        drop_connect_rate=config["drop_connect_rate"],
        **common,
    )


def load(model, tensors):
    """Sets the weights of `model` from the tensors of the checkpoint."""
    stem, top = "efficientnet.embeddings", "efficientnet.encoder"
    read.normalized_convolution(model, tensors, "stem_conv", f"{stem}.convolution", f"{stem}.batchnorm")
    for number, ours in enumerate(convolutions.blocks(model)):
        theirs = f"efficientnet.encoder.blocks.{number}"
        for part, modules in _PARTS.items():
            if convolutions.has(model, f"{ours}_{part}"):
                names = (f"{theirs}.{module}" for module in modules)
                read.normalized_convolution(model, tensors, f"{ours}_{part}", *names)
        read.convolution(model.get_layer(f"{ours}_gate_squeeze"), tensors, f"{theirs}.squeeze_excite.reduce")
        read.convolution(model.get_layer(f"{ours}_gate_excite"), tensors, f"{theirs}.squeeze_excite.expand")
    read.normalized_convolution(model, tensors, "head_conv", f"{top}.top_conv", f"{top}.top_bn")
    read.dense(model.get_layer("head"), tensors, "classifier")

"""EfficientNet checkpoints of torchvision (efficientnet.py)."""

import math

from hsvit_keras.checkpoints import convolutions
from hsvit_keras.checkpoints import tensors as read
from hsvit_keras.models import EfficientNet
from hsvit_keras.models.blocks import rounded_width

ARCHITECTURES = ("efficientnet",)
REQUIRED = ("num_classes", "width_mult", "depth_mult", "inverted_residual_setting")
OPTIONAL = ("last_channel", "batch_norm_eps")


def build(architecture, config, input_shape):
    """The model that the authors' constructor arguments describe.

    Args:
        architecture: str, `"efficientnet"`.
        config: dict of torchvision's arguments; a row of `inverted_residual_setting` is expansion, kernel,
            stride, channels of the first input and of the outputs, blocks.
        input_shape: (height, width, channels) in pixels; 224 x 224 x 3 by default.
    """

    def widths(channels):
        return [rounded_width(count * config["width_mult"]) for count in channels]

    expansions, kernel_sizes, strides, inputs, outputs, depths = zip(
        *config["inverted_residual_setting"], strict=True
    )
    return EfficientNet(
        input_shape=input_shape or (224, 224, 3),
        num_classes=config["num_classes"],
        stem_filters=widths(inputs)[0],
        filters=widths(outputs),
        depths=[math.ceil(depth * config["depth_mult"]) for depth in depths],
        kernel_sizes=kernel_sizes,
        strides=strides,
        expansions=expansions,
        head_filters=config.get("last_channel") or 4 * widths(outputs)[-1],
        padding="symmetric",
        residual_in_first_blocks=True,
        batch_norm_epsilon=config.get("batch_norm_eps", 1e-5),
    )


def load(model, tensors):
    """Sets the weights of `model` from torchvision's tensors."""
    read.normalized_convolution(model, tensors, "stem_conv", "features.0.0", "features.0.1")
    for stage, depth in enumerate(model.depths):
        for i in range(depth):
            _load_block(model, tensors, f"stage{stage}_block{i}", f"features.{stage + 1}.{i}.block")
    last = f"features.{len(model.depths) + 1}"
    read.normalized_convolution(model, tensors, "head_conv", f"{last}.0", f"{last}.1")
    read.dense(model.get_layer("head"), tensors, "classifier.1")


def _load_block(model, tensors, ours, theirs):
    parts = ("expand", "depthwise", "gate", "project")
    parts = parts if convolutions.has(model, f"{ours}_expand") else parts[1:]
    for i, part in enumerate(parts):
        if part == "gate":
            read.convolution(model.get_layer(f"{ours}_gate_squeeze"), tensors, f"{theirs}.{i}.fc1")
            read.convolution(model.get_layer(f"{ours}_gate_excite"), tensors, f"{theirs}.{i}.fc2")
        else:
            read.normalized_convolution(
                model, tensors, f"{ours}_{part}", f"{theirs}.{i}.0", f"{theirs}.{i}.1"
            )

"""MobileNetV2 checkpoints of torchvision (mobilenetv2.py)."""

from hsvit_keras.checkpoints import convolutions
from hsvit_keras.checkpoints import tensors as read
from hsvit_keras.models import MobileNetV2
from hsvit_keras.models.blocks import rounded_width

ARCHITECTURES = ("mobilenet_v2",)
REQUIRED = ("num_classes", "width_mult", "stem_channels", "last_channel", "inverted_residual_setting")
OPTIONAL = ("round_nearest",)


def build(architecture, config, input_shape):
    """The model that the authors' constructor arguments describe.

    Args:
        architecture: str, `"mobilenet_v2"`.
        config: dict of torchvision's arguments, with `stem_channels` and `last_channel`, 32 and 1280 there.
        input_shape: (height, width, channels) in pixels; 224 x 224 x 3 by default.
    """
    multiplier, divisor = config["width_mult"], config.get("round_nearest", 8)
    expansions, widths, depths, strides = zip(*config["inverted_residual_setting"], strict=True)
    return MobileNetV2(
        input_shape=input_shape or (224, 224, 3),
        num_classes=config["num_classes"],
        stem_filters=rounded_width(config["stem_channels"] * multiplier, divisor),
        filters=[rounded_width(width * multiplier, divisor) for width in widths],
        depths=depths,
        strides=strides,
        expansions=expansions,
        residual_in_first_block=True,
        head_filters=rounded_width(config["last_channel"] * max(1.0, multiplier), divisor),
        width_divisor=1,
        padding="symmetric",
        batch_norm_epsilon=1e-5,
    )


def load(model, tensors):
    """Sets the weights of `model` from torchvision's tensors."""
    read.normalized_convolution(model, tensors, "stem_conv", "features.0.0", "features.0.1")
    names = convolutions.blocks(model)
    for number, ours in enumerate(names, 1):
        theirs = f"features.{number}.conv"
        parts = [part for part in ("expand", "depthwise") if convolutions.has(model, f"{ours}_{part}")]
        for i, part in enumerate(parts):
            read.normalized_convolution(
                model, tensors, f"{ours}_{part}", f"{theirs}.{i}.0", f"{theirs}.{i}.1"
            )
        last = f"{theirs}.{len(parts)}", f"{theirs}.{len(parts) + 1}"
        read.normalized_convolution(model, tensors, f"{ours}_project", *last)
    last = f"features.{len(names) + 1}"
    read.normalized_convolution(model, tensors, "head_conv", f"{last}.0", f"{last}.1")
    read.dense(model.get_layer("head"), tensors, "classifier.1")

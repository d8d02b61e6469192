"""MobileNetV2 checkpoints of the library transformers."""

from hsvit_keras.checkpoints import convolutions
from hsvit_keras.checkpoints import tensors as read
from hsvit_keras.checkpoints.transformers import settings
from hsvit_keras.models import MobileNetV2
from hsvit_keras.models.blocks import rounded_width
from hsvit_keras.models.mobilenet_v2 import FILTERS, HEAD_FILTERS, STEM_FILTERS

CLASSES = ("MobileNetV2ForImageClassification",)
PROCESSOR = "MobileNetV2ImageProcessor"
DEFAULTS = {
    "num_channels": 3,
    "image_size": 224,
    "depth_multiplier": 1.0,
    "depth_divisible_by": 8,
    "min_depth": 8,
    "expand_ratio": 6,
    "output_stride": 32,
    "first_layer_is_expansion": True,
    "finegrained_output": True,
    "hidden_act": "relu6",
    "tf_padding": True,
    "classifier_dropout_prob": 0.8,
    "layer_norm_eps": 0.001,
}
_PARTS = {"expand": "expand_1x1", "depthwise": "conv_3x3", "project": "reduce_1x1"}


def build(config, input_shape, **common):
    """The model that a config describes.

    Args:
        config: dict of a config.json, `DEFAULTS` filled in.
        input_shape: (height, width, channels) in pixels, or None for that of the config.
        **common: other arguments of the model: `num_classes`, and those of `ImageModel`.
    """
    settings.check_settings(config, hidden_act="relu6")
    multiplier, divisor = config["depth_multiplier"], config["depth_divisible_by"]

    def scaled(width):
        return rounded_width(round(width * multiplier), divisor, config["min_depth"])

    widens_last = multiplier >= 1 or not config["finegrained_output"]
    ratio = config["expand_ratio"]
    ratio = int(ratio) if ratio == int(ratio) else ratio
    return MobileNetV2(
        input_shape=settings.image_shape(config, input_shape),
        stem_filters=scaled(STEM_FILTERS),
        filters=[scaled(width) for width in FILTERS],
        expansions=[1, *[ratio] * (len(FILTERS) - 1)],
        expand_always=not config["first_layer_is_expansion"],
        head_filters=scaled(HEAD_FILTERS) if widens_last else HEAD_FILTERS,
        width_divisor=divisor,
        padding="same" if config["tf_padding"] else "symmetric",
        output_stride=config["output_stride"],
        batch_norm_epsilon=config["layer_norm_eps"],
        dropout_rate=config["classifier_dropout_prob"],
        **common,
    )


def load(model, tensors):
    """Sets the weights of `model` from the tensors of the checkpoint."""
    stem = "mobilenet_v2.conv_stem"
    _load_unit(model, tensors, "stem_conv", f"{stem}.first_conv")
    for number, ours in enumerate(convolutions.blocks(model)):
        theirs = f"mobilenet_v2.layer.{number - 1}" if number else stem
        for part, name in _PARTS.items():
            if convolutions.has(model, f"{ours}_{part}"):
                _load_unit(model, tensors, f"{ours}_{part}", f"{theirs}.{name}")
    _load_unit(model, tensors, "head_conv", "mobilenet_v2.conv_1x1")
    read.dense(model.get_layer("head"), tensors, "classifier")


def _load_unit(model, tensors, ours, theirs):
    read.normalized_convolution(model, tensors, ours, f"{theirs}.convolution", f"{theirs}.normalization")

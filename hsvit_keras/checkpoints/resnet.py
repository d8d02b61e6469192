"""ResNet checkpoints of torchvision (resnet.py)."""

import re

from hsvit_keras.checkpoints import tensors as read
from hsvit_keras.models import ResNet
from hsvit_keras.models.resnet import REDUCTION

ARCHITECTURES = ("resnet18", "resnet50")
REQUIRED = ("block", "layers", "stem_channels", "channels", "num_classes")
OPTIONAL = ()


def build(architecture, config, input_shape):
    """The model that the authors' constructor arguments describe.

    Args:
        architecture: str, one of `ARCHITECTURES`.
        config: dict of `block`, `"basic"` or `"bottleneck"`, `layers`, blocks of each stage, `num_classes`,
            and the channels of the stem and inside of each stage's blocks.
        input_shape: (height, width, channels) in pixels; 224 x 224 x 3 by default.
    """
    bottleneck = config["block"] == "bottleneck"
    return ResNet(
        input_shape=input_shape or (224, 224, 3),
        num_classes=config["num_classes"],
        stem_filters=config["stem_channels"],
        filters=[count * (REDUCTION if bottleneck else 1) for count in config["channels"]],
        depths=config["layers"],
        bottleneck=bottleneck,
        name=architecture,
    )


def load(model, tensors):
    """Sets the weights of `model` from torchvision's tensors."""
    load_body(model, tensors)
    read.dense(model.get_layer("head"), tensors, "fc")


def load_body(model, tensors, prefix=""):
    """Sets the weights in front of the head.

    Args:
        model: `ResNet`, or a `keras.Model` of its layers.
        tensors: `Tensors`.
        prefix: str, in front of torchvision's names.
    """
    read.normalized_convolution(model, tensors, "stem_conv", f"{prefix}conv1", f"{prefix}bn1")
    for layer in model.layers:
        unit = re.fullmatch(r"stage(\d+)_block(\d+)_(conv|shortcut)(\d*)", layer.name)
        if unit is None:
            continue
        stage, block, kind, number = unit.groups()
        theirs = f"{prefix}layer{int(stage) + 1}.{block}"
        if kind == "shortcut":
            names = f"{theirs}.downsample.0", f"{theirs}.downsample.1"
        else:
            names = f"{theirs}.conv{int(number) + 1}", f"{theirs}.bn{int(number) + 1}"
        read.normalized_convolution(model, tensors, layer.name, *names)

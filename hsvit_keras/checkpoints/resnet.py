"""ResNet checkpoints of torchvision (resnet.py)."""

from hsvit_keras.checkpoints import convolutions
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
    read.normalized_convolution(model, tensors, "stem_conv", "conv1", "bn1")
    for stage, depth in enumerate(model.depths):
        for i in range(depth):
            ours, theirs = f"stage{stage}_block{i}", f"layer{stage + 1}.{i}"
            for j in range(3 if model.bottleneck else 2):
                unit = f"{theirs}.conv{j + 1}", f"{theirs}.bn{j + 1}"
                read.normalized_convolution(model, tensors, f"{ours}_conv{j}", *unit)
            if convolutions.has(model, f"{ours}_shortcut"):
                unit = f"{theirs}.downsample.0", f"{theirs}.downsample.1"
                read.normalized_convolution(model, tensors, f"{ours}_shortcut", *unit)
    read.dense(model.get_layer("head"), tensors, "fc")

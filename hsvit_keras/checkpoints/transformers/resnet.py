"""ResNet checkpoints of the library transformers."""

from hsvit_keras.checkpoints import convolutions
from hsvit_keras.checkpoints import tensors as read
from hsvit_keras.checkpoints.transformers import settings
from hsvit_keras.models import ResNet

CLASSES = ("ResNetForImageClassification",)
PROCESSOR = "ConvNextImageProcessor"
DEFAULTS = {
    "num_channels": 3,
    "embedding_size": 64,
    "hidden_sizes": [256, 512, 1024, 2048],
    "depths": [3, 4, 6, 3],
    "layer_type": "bottleneck",
    "hidden_act": "relu",
    "downsample_in_first_stage": False,
    "downsample_in_bottleneck": False,
}


def build(config, input_shape, **common):
    """The model that a config describes.

    Args:
        config: dict of a config.json, `DEFAULTS` filled in.
        input_shape: (height, width, channels) in pixels, or None for that of the config.
        **common: other arguments of the model: `num_classes`, and those of `ImageModel`.
    """
    settings.check_settings(config, hidden_act="relu", layer_type=("basic", "bottleneck"))
    first_stride = 2 if config["downsample_in_first_stage"] else 1
    return ResNet(
        input_shape=settings.image_shape(config, input_shape),
        stem_filters=config["embedding_size"],
        filters=config["hidden_sizes"],
        depths=config["depths"],
        strides=[first_stride, *[2] * (len(config["depths"]) - 1)],
        bottleneck=config["layer_type"] == "bottleneck",
        downsample_in_bottleneck=config["downsample_in_bottleneck"],
        **common,
    )


def load(model, tensors):
    """Sets the weights of `model` from the tensors of the checkpoint."""
    _load_unit(model, tensors, "stem_conv", "resnet.embedder.embedder")
    for stage, depth in enumerate(model.depths):
        for i in range(depth):
            ours, theirs = f"stage{stage}_block{i}", f"resnet.encoder.stages.{stage}.layers.{i}"
            for j in range(3 if model.bottleneck else 2):
                _load_unit(model, tensors, f"{ours}_conv{j}", f"{theirs}.layer.{j}")
            if convolutions.has(model, f"{ours}_shortcut"):
                _load_unit(model, tensors, f"{ours}_shortcut", f"{theirs}.shortcut")
    read.dense(model.get_layer("head"), tensors, "classifier.1")


def _load_unit(model, tensors, ours, theirs):
    read.normalized_convolution(model, tensors, ours, f"{theirs}.convolution", f"{theirs}.normalization")

"""Checkpoints of 2DFNet.py of https://github.com/pranavphoenix/VisionXformer."""

from hsvit_keras.checkpoints import tensors as read
from hsvit_keras.models import FNet2D

ARCHITECTURES = ("fnet2d",)
REQUIRED = ("num_classes", "depth", "image_size", "final_dim")
OPTIONAL = ("dropout", "mlp_mult")


def build(architecture, config, input_shape):
    """The model that the authors' constructor arguments describe."""
    side = config["image_size"]
    return FNet2D(
        input_shape=input_shape or (side, side, 3),
        num_classes=config["num_classes"],
        hidden_dim=config["final_dim"],
        depth=config["depth"],
        mlp_ratio=config.get("mlp_mult", 2),
        dropout_rate=config.get("dropout", 0.0),
    )


def load(model, tensors):
    """Sets the weights of `model` from the authors' tensors."""
    for i in range(2):
        read.convolution(model.get_layer(f"stem_conv{i}"), tensors, f"conv.{i}")
    for i in range(model.depth):
        read.normalization(model.get_layer(f"block{i}_norm"), tensors, f"layers.{i}.ff.0")
        read.dense(model.get_layer(f"block{i}_mlp_hidden"), tensors, f"layers.{i}.ff.1.net.0")
        read.dense(model.get_layer(f"block{i}_mlp_output"), tensors, f"layers.{i}.ff.1.net.3")
    read.dense(model.get_layer("head"), tensors, "pool.2")

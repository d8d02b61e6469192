"""Checkpoints of MLPMixer.py and HybridMLPMixer.py of https://github.com/pranavphoenix/VisionXformer.

The programs are `nn.Sequential`s: modules are numbered, and the embedding decides where the blocks begin.
"""

from hsvit_keras.checkpoints import tensors as read
from hsvit_keras.models import MLPMixer

ARCHITECTURES = ("mlp_mixer", "hybrid_mlp_mixer")
REQUIRED = ("image_size", "patch_size", "dim", "depth", "num_classes")
OPTIONAL = ("channels", "expansion_factor")


def build(architecture, config, input_shape):
    """The model that the authors' constructor arguments describe."""
    side = config["image_size"]
    return MLPMixer(
        input_shape=input_shape or (side, side, config.get("channels", 3)),
        num_classes=config["num_classes"],
        embedding="convolutions" if architecture.startswith("hybrid_") else "patches",
        patch_size=config["patch_size"],
        embedding_stride=(input_shape[0] if input_shape else side) // side,
        hidden_dim=config["dim"],
        depth=config["depth"],
        expansion=config.get("expansion_factor", 1),
    )


def load(model, tensors):
    """Sets the weights of `model` from the authors' tensors."""
    if model.embedding == "patches":
        read.patches(model.get_layer("patch_embedding"), tensors, "1")
        first = 2
    else:
        for i in range(3):
            read.convolution(model.get_layer(f"embedding_conv{i}"), tensors, f"{i}")
        first = 4
    for i in range(model.depth):
        for j, part in enumerate(("tokens", "channels")):
            ours, theirs = f"block{i}_{part}", f"{first + i}.{j}"
            read.normalization(model.get_layer(f"{ours}_norm"), tensors, f"{theirs}.norm")
            read.dense(model.get_layer(f"{ours}_hidden"), tensors, f"{theirs}.fn.0")
            read.dense(model.get_layer(f"{ours}_output"), tensors, f"{theirs}.fn.3")
    last = first + model.depth
    read.normalization(model.get_layer("head_norm"), tensors, f"{last}")
    read.dense(model.get_layer("head"), tensors, f"{last + 2}")

"""DeiT checkpoints of https://github.com/facebookresearch/deit, a `VisionTransformer` of timm 0.4.12.

ViT is the same class.
"""

import numpy as np

from hsvit_keras.checkpoints import tensors as read
from hsvit_keras.checkpoints import timm_blocks
from hsvit_keras.models import VisionTransformer

ARCHITECTURES = ("deit", "vit_base")
REQUIRED = ("img_size", "patch_size", "num_classes", "embed_dim", "depth", "num_heads")
OPTIONAL = ("mlp_ratio", "qkv_bias", "distilled", "norm_eps", "in_chans")


def build(architecture, config, input_shape):
    """The model that the authors' constructor arguments describe.

    Args:
        architecture: str, `"deit"` or `"vit_base"`.
        config: dict of the arguments of `VisionTransformer`.
        input_shape: (height, width, channels) in pixels; `img_size`, a side or both, by default.
    """
    dim = config["embed_dim"]
    return VisionTransformer(
        input_shape=input_shape or (*sides(config), config.get("in_chans", 3)),
        num_classes=config["num_classes"],
        patch_size=config["patch_size"],
        hidden_dim=dim,
        depth=config["depth"],
        num_heads=config["num_heads"],
        mlp_dim=int(dim * config.get("mlp_ratio", 4)),
        qkv_bias=config.get("qkv_bias", True),
        distilled=config.get("distilled", False),
        layer_norm_epsilon=config.get("norm_eps", 1e-6),
    )


def grid(config):
    """(height, width) of the map of patches that the checkpoint's positions are for."""
    return tuple(side // config["patch_size"] for side in sides(config))


def sides(config):
    """(height, width) of the images of a config, whose `img_size` is a side or both."""
    size = config["img_size"]
    return (size, size) if isinstance(size, int) else tuple(size)


def load(model, tensors):
    """Sets the weights of `model` from the authors' tensors."""
    read.convolution(model.get_layer("patch_embedding"), tensors, "patch_embed.proj")
    names = ("cls_token", "dist_token") if model.distilled else ("cls_token",)
    tokens = [tensors.take(name, (1, 1, model.hidden_dim))[0] for name in names]
    model.get_layer("class_token").set_weights([np.concatenate(tokens)])
    grid = model.get_layer("patch_embedding").output.shape[1:3]
    read.positions(model.get_layer("position_embedding"), tensors, "pos_embed", grid, len(names))
    for i in range(model.depth):
        timm_blocks.block(model, tensors, f"block{i}", f"blocks.{i}")
    timm_blocks.heads(model, tensors)

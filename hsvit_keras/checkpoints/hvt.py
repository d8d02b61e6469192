"""HVT checkpoints of https://github.com/MonashAI/HVT (models.py)."""

from hsvit_keras.checkpoints import tensors as read
from hsvit_keras.checkpoints import timm_blocks
from hsvit_keras.models import HVT

ARCHITECTURES = ("hvt",)
REQUIRED = (
    "img_size", "patch_size", "num_classes", "embed_dim", "depth", "num_heads", "pool_kernel_size",
    "pool_block_width",
)  # fmt: skip
OPTIONAL = ("mlp_ratio", "qkv_bias", "norm_eps", "pool_stride", "in_chans")


def build(architecture, config, input_shape):
    """The model that the authors' constructor arguments describe.

    Args:
        architecture: str, `"hvt"`.
        config: dict of the arguments of `HVT`. `pool_stride` is without effect, as in the authors'
            program: the stride is 2.
        input_shape: (height, width, channels) in pixels; square of side `img_size` by default.
    """
    side, dim = config["img_size"], config["embed_dim"]
    return HVT(
        input_shape=input_shape or (side, side, config.get("in_chans", 3)),
        num_classes=config["num_classes"],
        patch_size=config["patch_size"],
        hidden_dim=dim,
        depth=config["depth"],
        num_heads=config["num_heads"],
        mlp_dim=int(dim * config.get("mlp_ratio", 4)),
        pool_every=config["pool_block_width"],
        pool_size=config["pool_kernel_size"],
        qkv_bias=config.get("qkv_bias", True),
        layer_norm_epsilon=config.get("norm_eps", 1e-6),
    )


def load(model, tensors):
    """Sets the weights of `model` from the authors' tensors."""
    read.convolution(model.get_layer("patch_embedding"), tensors, "patch_embed.proj")
    read.embedding(model.get_layer("position_embedding"), tensors, "pos_embed")
    for i in range(model.depth):
        timm_blocks.block(model, tensors, f"block{i}", f"blocks.{i}")
    for i in range(0, model.depth, model.pool_every):
        read.embedding(model.get_layer(f"block{i}_position_embedding"), tensors, f"blocks.{i}.pos_embed")
    timm_blocks.heads(model, tensors)

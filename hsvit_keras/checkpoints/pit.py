"""PiT checkpoints of https://github.com/naver-ai/pit (pit.py)."""

from hsvit_keras.checkpoints import tensors as read
from hsvit_keras.checkpoints import timm_blocks
from hsvit_keras.models import PoolingTransformer

ARCHITECTURES = ("pit",)
REQUIRED = ("image_size", "patch_size", "stride", "base_dims", "depth", "heads", "mlp_ratio", "num_classes")
OPTIONAL = ("distilled", "in_chans")


def build(architecture, config, input_shape):
    """The model that the authors' constructor arguments describe.

    Args:
        architecture: str, `"pit"`.
        config: dict of the arguments of `PoolingTransformer`. An entry `class` of
            `"DistilledPoolingTransformer"`, or `distilled`, asks for the distilled model.
        input_shape: (height, width, channels) in pixels; square of side `image_size` by default.
    """
    side = config["image_size"]
    return PoolingTransformer(
        input_shape=input_shape or (side, side, config.get("in_chans", 3)),
        num_classes=config["num_classes"],
        patch_size=config["patch_size"],
        patch_stride=config["stride"],
        depths=config["depth"],
        num_heads=config["heads"],
        head_dims=config["base_dims"],
        mlp_ratio=config["mlp_ratio"],
        distilled=config.get("distilled", config.get("class") == "DistilledPoolingTransformer"),
    )


def grid(config):
    """(height, width) of the map of patches that the checkpoint's positions are for."""
    return ((config["image_size"] - config["patch_size"]) // config["stride"] + 1,) * 2


def load(model, tensors, pools="pools.{}".format):
    """Sets the weights of `model` from the authors' tensors.

    Args:
        model: `PoolingTransformer`.
        tensors: `Tensors`.
        pools: function from the number of a pooling to its module.
    """
    patches = model.get_layer("patch_embedding")
    read.convolution(patches, tensors, "patch_embed.conv")
    position, sides = model.get_layer("position_embedding"), patches.output.shape[1:3]
    read.positions(position, tensors, "pos_embed", sides, channels_first=True)
    read.embedding(model.get_layer("class_token"), tensors, "cls_token")
    for stage, depth in enumerate(model.depths):
        if stage:
            pool = pools(stage - 1)
            read.depthwise(model.get_layer(f"stage{stage}_pool_conv"), tensors, f"{pool}.conv")
            read.dense(model.get_layer(f"stage{stage}_pool_class_dense"), tensors, f"{pool}.fc")
        for i in range(depth):
            block = f"transformers.{stage}.blocks.{i}"
            timm_blocks.block(model, tensors, f"stage{stage}_block{i}", block)
    timm_blocks.heads(model, tensors)

"""PiT of https://github.com/lucidrains/vit-pytorch, with the attention of the X-formers.

The X-formers' repository has no such file; this is the class that gives the paper's counts.
"""

from hsvit_keras.checkpoints import attention
from hsvit_keras.checkpoints import tensors as read
from hsvit_keras.models import PoolingXFormer

KINDS = {"pix_pit": "softmax", "pix_pip": "performer", "pix_pin": "nystrom"}
ARCHITECTURES = tuple(KINDS)
REQUIRED = ("image_size", "patch_size", "num_classes", "dim", "depth", "heads", "mlp_dim")
OPTIONAL = ("channels", "dim_head", *attention.SETTINGS)


def build(architecture, config, input_shape):
    """The model that the authors' constructor arguments describe, with their maxima over the batch."""
    side, kind = config["image_size"], KINDS[architecture]
    return PoolingXFormer(
        input_shape=input_shape or (side, side, config.get("channels", 3)),
        num_classes=config["num_classes"],
        attention=kind,
        attention_arguments=attention.arguments(kind, config),
        patch_size=config["patch_size"],
        hidden_dim=config["dim"],
        depths=config["depth"],
        num_heads=config["heads"],
        head_dim=config.get("dim_head", 32),
        mlp_dim=config["mlp_dim"],
        qkv_bias=config.get("qkv_bias", kind == "performer"),
    )


def load(model, tensors):
    """Sets the weights of `model` from the authors' tensors."""
    read.patches(model.get_layer("patch_embedding"), tensors, "to_patch_embedding.2", channels_first=True)
    read.embedding(model.get_layer("class_token"), tensors, "cls_token")
    read.embedding(model.get_layer("position_embedding"), tensors, "pos_embedding")
    for stage, depth in enumerate(model.depths):
        if stage:
            pool, name = f"stage{stage}_pool", f"layers.{2 * stage - 1}"
            read.depthwise(model.get_layer(f"{pool}_conv"), tensors, f"{name}.downsample.net.0")
            read.dense(model.get_layer(f"{pool}_dense"), tensors, f"{name}.downsample.net.1")
            read.dense(model.get_layer(f"{pool}_class_dense"), tensors, f"{name}.cls_ff")
        for i in range(depth):
            attention.load_block(model, tensors, f"stage{stage}_block{i}", f"layers.{2 * stage}.layers.{i}")
    read.normalization(model.get_layer("head_norm"), tensors, "mlp_head.0")
    read.dense(model.get_layer("head"), tensors, "mlp_head.1")

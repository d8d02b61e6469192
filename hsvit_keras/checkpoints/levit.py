"""Checkpoints of LeViN.ipynb and LeViP.ipynb of https://github.com/pranavphoenix/VisionXformer.

LeViT is the class of https://github.com/lucidrains/vit-pytorch, changed as the paper says.
"""

from hsvit_keras.checkpoints import attention
from hsvit_keras.checkpoints import tensors as read
from hsvit_keras.models import LeViT
from hsvit_runtime.errors import InputError

KINDS = {"levit": "softmax", "levip": "performer", "levil": "linformer", "levin": "nystrom"}
ARCHITECTURES = tuple(KINDS)
REQUIRED = ("image_size", "num_classes", "dim", "depth", "heads", "mlp_mult")
OPTIONAL = (
    "stages", "dim_key", "dim_value", "dim_head", "embedding_strides", *attention.SETTINGS,
)  # fmt: skip


def build(architecture, config, input_shape):
    """The model that the authors' constructor arguments describe, with their maxima over the batch."""
    side, kind = config["image_size"], KINDS[architecture]
    if config.get("stages", 1) != 1:
        raise InputError(f"stages has to be 1, as in the paper; received stages={config['stages']}")
    return LeViT(
        input_shape=input_shape or (side, side, 3),
        num_classes=config["num_classes"],
        attention=kind,
        attention_arguments=attention.arguments(kind, config),
        embedding_stride=_embedding_stride(config, side, input_shape),
        hidden_dim=config["dim"],
        depth=config["depth"],
        num_heads=config["heads"],
        head_dim=config.get("dim_head", config.get("dim_key", 32)),
        value_dim=config.get("dim_value", 64 if kind == "softmax" else None),
        mlp_ratio=config["mlp_mult"],
        qkv_bias=config.get("qkv_bias", kind == "performer"),
        shared_key_head=config.get("one_kv_head", kind == "linformer"),
    )


def _embedding_stride(config, side, input_shape):
    """The stride of the first of three convolutions, the only one that is not 1."""
    default = (input_shape[0] if input_shape else side) // side
    first, *others = config.get("embedding_strides", (default, 1, 1))
    if list(others) != [1, 1]:
        raise InputError(
            "embedding_strides have to be 1 but for the first of three, as in the paper; received "
            f"embedding_strides={config['embedding_strides']}"
        )
    return first


def load(model, tensors):
    """Sets the weights of `model` from the authors' tensors."""
    for i in range(3):
        read.convolution(model.get_layer(f"embedding_conv{i}"), tensors, f"conv_embedding.{i}")
    for i in range(model.depth):
        ours, theirs = f"block{i}", f"backbone.0.layers.{i}"
        if model.attention == "softmax":
            _load_normalized_attention(model, tensors, f"{ours}_attention", f"{theirs}.0")
        else:
            attention.load(model.attention, model, tensors, f"{ours}_attention", f"{theirs}.0")
        read.dense(model.get_layer(f"{ours}_mlp_hidden"), tensors, f"{theirs}.1.net.0")
        read.dense(model.get_layer(f"{ours}_mlp_output"), tensors, f"{theirs}.1.net.3")
    read.dense(model.get_layer("head"), tensors, "mlp_head")


def _load_normalized_attention(model, tensors, ours, theirs):
    for part, name, first in (("query", "q", 0), ("key", "k", 0), ("value", "v", 0), ("output", "out", 1)):
        read.dense(model.get_layer(f"{ours}_{part}"), tensors, f"{theirs}.to_{name}.{first}")
        read.normalization(model.get_layer(f"{ours}_{part}_norm"), tensors, f"{theirs}.to_{name}.{first + 1}")

"""HSViT checkpoints of https://github.com/xuchenhao001/HSViT (models/hsvit.py).

There each group is a module of its own with a fused `in_proj` for query, key and value; here the
groups are the first axis of each kernel.
"""

import numpy as np

from hsvit_keras.checkpoints import tensors as read
from hsvit_keras.models import HSViT

ARCHITECTURES = ("hsvit",)
REQUIRED = (
    "num_channels", "image_size", "conv_kernel_nums", "conv_kernel_sizes", "pool_strides", "attn_num",
    "attn_depth", "attn_embed_dim", "num_heads", "num_classes", "dropout",
)  # fmt: skip
OPTIONAL = ()


def build(architecture, config, input_shape):
    """The model that the authors' constructor arguments describe.

    Args:
        architecture: str, `"hsvit"`.
        config: dict of the arguments of `HSViTForImageClassification`.
        input_shape: (height, width, channels) in pixels; square of side `image_size` by default.
    """
    side, filters = config["image_size"], config["conv_kernel_nums"]
    sizes = config["conv_kernel_sizes"]
    sizes = [sizes] * len(filters) if isinstance(sizes, int) else sizes
    return HSViT(
        input_shape=input_shape or (side, side, config["num_channels"]),
        num_classes=config["num_classes"],
        filters=filters,
        kernel_sizes=[max(size, 1) for size in sizes],
        pool_strides=config["pool_strides"],
        attention_groups=config["attn_num"],
        depth=config["attn_depth"],
        hidden_dim=config["attn_embed_dim"],
        num_heads=config["num_heads"],
        dropout_rate=config["dropout"],
        use_convolution=sizes[-1] > 0,  # in the authors' config 0 means the ablation
    )


def load(model, tensors):
    """Sets the weights of `model` from the authors' tensors."""
    if model.use_convolution:
        for i in range(len(model.filters)):
            for j in range(2):
                name = f"model.conv2d_layers.{i}.layer.{j}"
                read.convolution(model.get_layer(f"stage{i}_conv{j}"), tensors, f"{name}.convolution")
                read.normalization(model.get_layer(f"stage{i}_norm{j}"), tensors, f"{name}.normalization")
        read.dense(model.get_layer("embedding"), tensors, "model.embed_projection.0")
    if model.attention_groups:
        _load_tokens(model, tensors)
        for i in range(model.depth):
            _load_block(model, tensors, i)
    read.normalization(model.get_layer("head_norm"), tensors, "classifier.mlp_head.0")
    read.dense(model.get_layer("head"), tensors, "classifier.mlp_head.1")


def _load_tokens(model, tensors):
    """(groups, 1, tokens, dim) to (tokens, groups, dim)."""
    for layer, name in (("class_token", "cls_token"), ("position_embedding", "position")):
        layer = model.get_layer(layer)
        tokens, groups, dim = layer.weights[0].shape
        values = tensors.take(f"model.{name}_embeddings", (groups, 1, tokens, dim))
        layer.set_weights([values[:, 0].transpose(1, 0, 2)])


def _load_block(model, tensors, index):
    dim = model.hidden_dim
    names = [f"model.attn_encoders.{group}.{index}.attn_block" for group in range(model.attention_groups)]

    def of_all_groups(suffix, *shape):
        return np.stack([tensors.take(f"{name}.{suffix}", shape) for name in names])

    norm = [of_all_groups("layer_norm.weight", dim), of_all_groups("layer_norm.bias", dim)]
    model.get_layer(f"block{index}_norm").set_weights(norm)
    kernels = np.split(of_all_groups("self_attn.in_proj_weight", 3 * dim, dim), 3, axis=1)
    biases = np.split(of_all_groups("self_attn.in_proj_bias", 3 * dim), 3, axis=1)
    kernels.append(of_all_groups("self_attn.out_proj.weight", dim, dim))
    biases.append(of_all_groups("self_attn.out_proj.bias", dim))
    for part, kernel, bias in zip(("query", "key", "value", "output"), kernels, biases, strict=True):
        layer = model.get_layer(f"block{index}_attention_{part}")
        layer.set_weights([kernel.transpose(0, 2, 1), bias])

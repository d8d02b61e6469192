"""Checkpoints of CCT.py, ccp.py and CCN.py of https://github.com/pranavphoenix/VisionXformer."""

from hsvit_keras.checkpoints import attention
from hsvit_keras.checkpoints import tensors as read
from hsvit_keras.models import CompactTransformer
from hsvit_runtime.errors import InputError

KINDS = {"cct": "softmax", "ccp": "performer", "ccl": "linformer", "ccn": "nystrom"}
ARCHITECTURES = tuple(KINDS)
REQUIRED = ("img_size", "embedding_dim", "num_layers", "num_heads", "num_classes")
OPTIONAL = (
    "n_conv_layers", "kernel_size", "stride", "padding", "pooling_kernel_size", "pooling_stride",
    "pooling_padding", "positional_embedding", "mlp_ratio", "dim_head", *attention.SETTINGS,
)  # fmt: skip


def build(architecture, config, input_shape):
    """The model that the authors' constructor arguments describe, with their maxima over the batch."""
    side, kind = config["img_size"], KINDS[architecture]
    if config.get("positional_embedding", "learnable") != "learnable":
        raise InputError(
            f"positional_embedding has to be 'learnable'; received {config['positional_embedding']!r}"
        )
    kernel_size, pool_size = config.get("kernel_size", 3), config.get("pooling_kernel_size", 3)
    for name, size in (("padding", kernel_size), ("pooling_padding", pool_size)):
        if config.get(name, size // 2) != size // 2:
            raise InputError(f"{name} has to be half the kernel, {size // 2}; received {name}={config[name]}")
    count, strides = config.get("n_conv_layers", 1), config.get("stride", 1)
    strides = [strides] * count if isinstance(strides, int) else strides
    if len(strides) != count:
        raise InputError(f"stride has to have n_conv_layers, {count}, entries; received stride={strides}")
    return CompactTransformer(
        input_shape=input_shape or (side, side, 3),
        num_classes=config["num_classes"],
        attention=kind,
        attention_arguments=attention.arguments(kind, config),
        strides=strides,
        kernel_size=kernel_size,
        pool_size=pool_size,
        pool_stride=config.get("pooling_stride", 1),
        hidden_dim=config["embedding_dim"],
        depth=config["num_layers"],
        num_heads=config["num_heads"],
        head_dim=config.get("dim_head", config["embedding_dim"] // config["num_heads"]),
        mlp_ratio=int(config.get("mlp_ratio", 4)),
        qkv_bias=config.get("qkv_bias", kind == "performer"),
        shared_key_head=config.get("one_kv_head", kind == "linformer"),
    )


def load(model, tensors):
    """Sets the weights of `model` from the authors' tensors."""
    for i in range(len(model.strides)):
        read.convolution(model.get_layer(f"tokenizer_conv{i}"), tensors, f"tokenizer.conv_layers.{i}.0")
    read.embedding(model.get_layer("position_embedding"), tensors, "classifier.positional_emb")
    for i in range(model.depth):
        ours, theirs = f"block{i}", f"classifier.blocks.{i}"
        read.normalization(model.get_layer(f"{ours}_norm"), tensors, f"{theirs}.pre_norm")
        if model.attention == "softmax":
            names = [f"{ours}_attention_{part}" for part in ("query", "key", "value")]
            read.fused_dense([model.get_layer(name) for name in names], tensors, f"{theirs}.self_attn.qkv")
            read.dense(model.get_layer(f"{ours}_attention_output"), tensors, f"{theirs}.self_attn.proj")
        else:
            attention.load(model.attention, model, tensors, f"{ours}_attention", f"{theirs}.self_attn")
        read.normalization(model.get_layer(f"{ours}_mlp_norm"), tensors, f"{theirs}.norm1")
        read.dense(model.get_layer(f"{ours}_mlp_hidden"), tensors, f"{theirs}.linear1")
        read.dense(model.get_layer(f"{ours}_mlp_output"), tensors, f"{theirs}.linear2")
    read.normalization(model.get_layer("head_norm"), tensors, "classifier.norm")
    read.dense(model.get_layer("head_scores"), tensors, "classifier.attention_pool")
    read.dense(model.get_layer("head"), tensors, "classifier.fc")

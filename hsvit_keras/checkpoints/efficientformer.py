"""EfficientFormer checkpoints of https://github.com/snap-research/EfficientFormer."""

import numpy as np

from hsvit_keras.checkpoints import tensors as read
from hsvit_keras.models import EfficientFormer

ARCHITECTURES = ("efficientformer",)
REQUIRED = ("layers", "embed_dims")
OPTIONAL = ("mlp_ratios", "num_classes", "distillation", "vit_num", "pool_size", "attention")
# Our layers of a block -> the authors' modules.
POOLING = {"hidden": ("fc1", "norm1"), "output": ("fc2", "norm2")}
TRANSFORMER = {
    "norm": "norm1", "mlp_norm": "norm2", "attention_output": "token_mixer.proj", "mlp_hidden": "mlp.fc1",
    "mlp_output": "mlp.fc2",
}  # fmt: skip
SCALE = "layer_scale_{}"


def build(architecture, config, input_shape):
    """The model that the authors' constructor arguments describe.

    Args:
        architecture: str, `"efficientformer"`.
        config: dict of the arguments of `EfficientFormer`; `attention` holds those of its `Attention`.
        input_shape: (height, width, channels) in pixels; 32 times the resolution of attention by default.
    """
    attention = config.get("attention", {})
    return EfficientFormer(
        input_shape=input_shape or (*(32 * side for side in grid(config)), 3),
        num_classes=config.get("num_classes", 1000),
        filters=config["embed_dims"],
        depths=config["layers"],
        transformer_depth=config.get("vit_num", 0),
        num_heads=attention.get("num_heads", 8),
        key_dim=attention.get("key_dim", 32),
        value_ratio=attention.get("attn_ratio", 4),
        mlp_ratio=config.get("mlp_ratios", 4),
        pool_size=config.get("pool_size", 3),
        distilled=config.get("distillation", True),
        layer_norm_epsilon=1e-5,
    )


def grid(config):
    """(height, width) of the map that the checkpoint's biases of attention are for."""
    return (config.get("attention", {}).get("resolution", 7),) * 2


def load(model, tensors):
    """Sets the weights of `model` from the authors' tensors."""
    for i, number in enumerate((0, 3)):
        read.normalized_convolution(
            model, tensors, f"stem_conv{i}", f"patch_embed.{number}", f"patch_embed.{number + 1}"
        )
    for stage in range(1, len(model.depths)):
        theirs = f"network.{2 * stage - 1}"
        read.normalized_convolution(model, tensors, f"stage{stage}_conv", f"{theirs}.proj", f"{theirs}.norm")
    load_blocks(model, tensors, lambda stage: f"network.{2 * stage}", SCALE)
    read.normalization(model.get_layer("head_norm"), tensors, "norm")
    read.dense(model.get_layer("head"), tensors, "head")
    if model.distilled:
        read.dense(model.get_layer("head_distillation"), tensors, "dist_head")


def load_blocks(model, tensors, stages, scale):
    """Sets the weights of all blocks.

    Args:
        model: `EfficientFormer`.
        tensors: `Tensors`.
        stages: function from the number of a stage to the module of its blocks.
        scale: str, the name of the factors of a branch, with a place for its number.
    """
    last = len(model.depths) - 1
    for stage, depth in enumerate(model.depths):
        pooling = depth - model.transformer_depth if stage == last else depth
        for j in range(depth):
            ours, theirs = f"stage{stage}_block{j}", stages(stage)
            if j < pooling:
                load_pooling_block(model, tensors, ours, f"{theirs}.{j}", POOLING, scale)
            else:  # behind one more module, which flattens the map
                load_transformer_block(model, tensors, ours, f"{theirs}.{j + 1}", TRANSFORMER, scale)


def load_pooling_block(model, tensors, ours, theirs, names, scale=SCALE):
    """Sets the weights of a block with pooling.

    Args:
        model: `EfficientFormer`.
        tensors: `Tensors`.
        ours: str, what the names of our layers start with.
        theirs: str, the authors' module.
        names: dict from our names of its convolutions to theirs and those of their normalizations.
        scale: str, the name of the factors of a branch, with a place for its number.
    """
    for part, (convolution, norm) in names.items():
        read.normalized_convolution(
            model, tensors, f"{ours}_mlp_{part}", f"{theirs}.mlp.{convolution}", f"{theirs}.mlp.{norm}"
        )
    _load_scales(model, tensors, (f"{ours}_pool", f"{ours}_mlp"), theirs, scale)


def load_transformer_block(model, tensors, ours, theirs, names, scale=SCALE):
    """Sets the weights of a transformer block.

    Args:
        model: `EfficientFormer`.
        tensors: `Tensors`.
        ours: str, what the names of our layers start with.
        theirs: str, the authors' module.
        names: dict from our names of its layers to theirs.
        scale: str, the name of the factors of a branch, with a place for its number.
    """
    for part, name in names.items():
        reader = read.normalization if part.endswith("norm") else read.dense
        reader(model.get_layer(f"{ours}_{part}"), tensors, f"{theirs}.{name}")
    projections = [model.get_layer(f"{ours}_attention_{part}") for part in ("query", "key", "value")]
    _load_projections(projections, tensors, f"{theirs}.token_mixer.qkv", model.num_heads)
    read.offsets(model.get_layer(f"{ours}_attention"), tensors, f"{theirs}.token_mixer.attention_biases")
    tensors.ignore(f"{theirs}.token_mixer.attention_bias_idxs")
    _load_scales(model, tensors, (f"{ours}_attention", f"{ours}_mlp"), theirs, scale)


def _load_projections(layers, tensors, name, num_heads):
    """Queries, keys and values from one `nn.Linear` that gives all three of a head before the next."""
    inputs = layers[0].kernel.shape[0]
    sizes = [layer.kernel.shape[1] // num_heads for layer in layers]
    rows, cuts = sum(sizes), np.cumsum(sizes)[:-1]
    kernel = tensors.take(f"{name}.weight", (num_heads * rows, inputs)).reshape(num_heads, rows, inputs)
    bias = tensors.take(f"{name}.bias", (num_heads * rows,)).reshape(num_heads, rows)
    parts = zip(layers, np.split(kernel, cuts, axis=1), np.split(bias, cuts, axis=1), strict=True)
    for layer, weight, offset in parts:
        layer.set_weights([weight.reshape(-1, inputs).T, offset.reshape(-1)])


def _load_scales(model, tensors, branches, theirs, name):
    if model.layer_scale is None:
        return
    for i, branch in enumerate(branches, start=1):
        scale = model.get_layer(f"{branch}_scale")
        scale.set_weights([tensors.take(f"{theirs}.{name.format(i)}", scale.gamma.shape)])

"""TimeSformer checkpoints of https://github.com/facebookresearch/TimeSformer, `timesformer/models/vit.py`."""

import numpy as np

from hsvit_keras.checkpoints import deit, timm_blocks
from hsvit_keras.checkpoints import tensors as read
from hsvit_keras.models import TimeSformer
from hsvit_runtime.errors import InputError

# Ours and the authors' names of the kinds of attention.
_ATTENTION = {"divided": "divided_space_time", "joint": "joint_space_time"}
_WRAPPER = "model."  # of the class TimeSformer, which holds the model that the config describes
ARCHITECTURES = tuple(f"timesformer_{kind}" for kind in _ATTENTION)
REQUIRED = (*deit.REQUIRED, "num_frames")
OPTIONAL = ("attention_type", "mlp_ratio", "qkv_bias", "norm_eps", "in_chans")


def build(architecture, config, input_shape):
    """The model that the authors' constructor arguments describe.

    Args:
        architecture: str, one of `ARCHITECTURES`.
        config: dict of the arguments of their `VisionTransformer`.
        input_shape: (frames, height, width, channels) of a clip; `num_frames` and `img_size`, a side or both,
            by default.
    """
    kind, dim = architecture.removeprefix("timesformer_"), config["embed_dim"]
    if config.get("attention_type", _ATTENTION[kind]) != _ATTENTION[kind]:
        raise InputError(
            f"{architecture!r} has attention_type={_ATTENTION[kind]!r}; "
            f"received attention_type={config['attention_type']!r}"
        )
    return TimeSformer(
        input_shape=input_shape or (config["num_frames"], *deit.sides(config), config.get("in_chans", 3)),
        num_classes=config["num_classes"],
        attention=kind,
        patch_size=config["patch_size"],
        hidden_dim=dim,
        depth=config["depth"],
        num_heads=config["num_heads"],
        mlp_dim=int(dim * config.get("mlp_ratio", 4)),
        qkv_bias=config.get("qkv_bias", False),
        layer_norm_epsilon=config.get("norm_eps", 1e-5),
    )


def load(model, tensors):
    """Sets the weights of `model` from the authors' tensors."""
    if all(name.startswith(_WRAPPER) for name in tensors.state_dict):
        tensors.state_dict = {name.removeprefix(_WRAPPER): x for name, x in tensors.state_dict.items()}
    read.convolution(model.get_layer("patch_embedding"), tensors, "patch_embed.proj")
    patches, frames, dim = model.get_layer("frames_behind_patches").output.shape[1:]
    position = tensors.take("pos_embed", (1, 1 + patches, dim))[0]
    model.get_layer("class_token").set_weights([tensors.take("cls_token", (1, 1, dim))[0] + position[:1]])
    model.get_layer("position_embedding").set_weights([position[1:, np.newaxis]])
    model.get_layer("time_embedding").set_weights([tensors.take("time_embed", (1, frames, dim))])
    for i in range(model.depth):
        timm_blocks.block(model, tensors, f"block{i}", f"blocks.{i}")
        if model.attention == "divided":
            ours, theirs = f"block{i}_temporal", f"blocks.{i}.temporal"
            read.normalization(model.get_layer(f"{ours}_norm"), tensors, f"{theirs}_norm1")
            timm_blocks.attention(model, tensors, f"{ours}_attention", f"{theirs}_attn")
            read.dense(model.get_layer(f"{ours}_output"), tensors, f"{theirs}_fc")
    timm_blocks.heads(model, tensors)

"""SwiftFormer checkpoints of https://github.com/Amshaker/SwiftFormer."""

import functools

from hsvit_keras.checkpoints import tensors as read
from hsvit_keras.models import SwiftFormer
from hsvit_runtime.errors import InputError

ARCHITECTURES = ("swiftformer",)
REQUIRED = ("layers", "embed_dims")
OPTIONAL = ("mlp_ratios", "num_classes", "distillation", "vit_num")
# Our layer of a convolution block -> the authors' module.
PARTS = {"hidden": "pwconv1", "output": "pwconv2"}
ATTENTION = {"query": "to_query", "key": "to_key", "project": "Proj", "output": "final"}


def build(architecture, config, input_shape):
    """The model that the authors' constructor arguments describe.

    Args:
        architecture: str, `"swiftformer"`.
        config: dict of the arguments of `SwiftFormer`.
        input_shape: (height, width, channels) in pixels; (224, 224, 3) by default.
    """
    if config.get("vit_num", 1) != 1:
        raise InputError(
            f"our model has one block of attention a stage; received vit_num={config['vit_num']}"
        )
    return SwiftFormer(
        input_shape=input_shape or (224, 224, 3),
        num_classes=config.get("num_classes", 1000),
        filters=config["embed_dims"],
        depths=config["layers"],
        mlp_ratio=config.get("mlp_ratios", 4),
        weighted_queries=True,
        distilled=config.get("distillation", True),
    )


def load(model, tensors):
    """Sets the weights of `model` from the authors' tensors."""
    load_stem(model, tensors, "patch_embed")
    for stage, depth in enumerate(model.depths):
        if stage:
            read.normalized_convolution(
                model, tensors, f"stage{stage}_conv", f"network.{2 * stage - 1}.proj",
                f"network.{2 * stage - 1}.norm",
            )  # fmt: skip
        load_stage(model, tensors, stage, depth, f"network.{2 * stage}", "dwconv", PARTS, ATTENTION)
    load_heads(model, tensors)


def load_stem(model, tensors, name):
    """Sets the weights of the two convolutions in front of the stages."""
    for i, number in enumerate((0, 3)):
        read.normalized_convolution(
            model, tensors, f"stem_conv{i}", f"{name}.{number}", f"{name}.{number + 1}"
        )


def load_heads(model, tensors):
    """Sets the weights of the last normalization and of the heads."""
    read.normalization(model.get_layer("head_norm"), tensors, "norm")
    read.dense(model.get_layer("head"), tensors, "head")
    if model.distilled:
        read.dense(model.get_layer("head_distillation"), tensors, "dist_head")


def load_stage(model, tensors, stage, depth, theirs, depthwise, parts, attention, scale=""):
    """Sets the weights of a stage's blocks.

    Args:
        model: `SwiftFormer`.
        tensors: `Tensors`.
        stage: int.
        depth: int, its blocks.
        theirs: str, the authors' module.
        depthwise: str, their name of the depthwise convolution.
        parts: dict from our names of its other convolutions to theirs.
        attention: dict from our names of the projections of attention to theirs.
        scale: str, what the names of factors end with behind the name of their branch.
    """
    convolutions = functools.partial(
        _load_convolutions, model, tensors, depthwise=depthwise, parts=parts, scale=scale
    )
    for j in range(depth - 1):
        convolutions(f"stage{stage}_block{j}", f"{theirs}.{j}")
    ours, last = f"stage{stage}_block{depth - 1}", f"{theirs}.{depth - 1}"
    convolutions(f"{ours}_local", f"{last}.local_representation")
    for part, name in attention.items():
        read.dense(model.get_layer(f"{ours}_attention_{part}"), tensors, f"{last}.attn.{name}")
    core = model.get_layer(f"{ours}_attention")
    core.set_weights([tensors.take(f"{last}.attn.w_g", core.score.shape)])
    read.normalization(model.get_layer(f"{ours}_mlp_norm"), tensors, f"{last}.linear.norm1")
    for part, name in (("hidden", "fc1"), ("output", "fc2")):
        read.convolution(model.get_layer(f"{ours}_mlp_{part}"), tensors, f"{last}.linear.{name}")
    if model.layer_scale is not None:
        _load_scale(model, tensors, f"{ours}_attention", f"{last}.layer_scale_1{scale}")
        _load_scale(model, tensors, f"{ours}_mlp", f"{last}.layer_scale_2{scale}")


def _load_convolutions(model, tensors, ours, theirs, depthwise, parts, scale):
    read.normalized_convolution(
        model, tensors, f"{ours}_depthwise", f"{theirs}.{depthwise}", f"{theirs}.norm"
    )
    for part, name in parts.items():
        read.convolution(model.get_layer(f"{ours}_{part}"), tensors, f"{theirs}.{name}")
    _load_scale(model, tensors, ours, f"{theirs}.layer_scale{scale}")


def _load_scale(model, tensors, ours, theirs):
    scale = model.get_layer(f"{ours}_scale")
    (channels,) = scale.gamma.shape
    scale.set_weights([tensors.take(theirs, (channels, 1, 1)).reshape(-1)])

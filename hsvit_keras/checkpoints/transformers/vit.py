"""ViT and DeiT of the `transformers` library.

Both classes of DeiT have a distillation token; in `DeiTForImageClassification` it has no head.
"""

import numpy as np

from hsvit_keras.checkpoints import tensors as read
from hsvit_keras.checkpoints.transformers import encoder
from hsvit_keras.checkpoints.transformers.settings import check_settings, image_shape
from hsvit_keras.models import VisionTransformer

WITH_TEACHER = "DeiTForImageClassificationWithTeacher"
CLASSES = ("ViTForImageClassification", "DeiTForImageClassification", WITH_TEACHER)
PROCESSOR = "ViTImageProcessor"
DEFAULTS = {
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.0,
    "hidden_size": 768,
    "image_size": 224,
    "intermediate_size": 3072,
    "layer_norm_eps": 1e-12,
    "num_attention_heads": 12,
    "num_channels": 3,
    "num_hidden_layers": 12,
    "patch_size": 16,
    "qkv_bias": True,
}


def build(config, input_shape, **common):
    """The model that a config describes.

    Args:
        config: dict of a config.json, with all keys of `DEFAULTS`.
        input_shape: (height, width, channels) in pixels; `image_size` by default.
        **common: other arguments of the model, `num_classes` among them.
    """
    check_settings(config, hidden_act="gelu")
    (name,) = config["architectures"]
    return VisionTransformer(
        input_shape=image_shape(config, input_shape),
        patch_size=config["patch_size"],
        hidden_dim=config["hidden_size"],
        depth=config["num_hidden_layers"],
        num_heads=config["num_attention_heads"],
        mlp_dim=config["intermediate_size"],
        qkv_bias=config["qkv_bias"],
        distilled=name.startswith("DeiT"),
        distillation_head=name == WITH_TEACHER,
        layer_norm_epsilon=config["layer_norm_eps"],
        dropout_rate=config["hidden_dropout_prob"],
        **common,
    )


def grid(config):
    """(height, width) of the map of patches that the checkpoint's positions are for."""
    return tuple(side // config["patch_size"] for side in image_shape(config, None)[:2])


def load(model, tensors):
    """Sets the weights of `model` from the published tensors; some files have a pooler, which is not read."""
    family = "deit" if model.distilled else "vit"
    embeddings = f"{family}.embeddings"
    read.convolution(model.get_layer("patch_embedding"), tensors, f"{embeddings}.patch_embeddings.projection")
    names = ("cls_token", "distillation_token") if model.distilled else ("cls_token",)
    tokens = [tensors.take(f"{embeddings}.{name}", (1, 1, model.hidden_dim))[0] for name in names]
    model.get_layer("class_token").set_weights([np.concatenate(tokens)])
    read.positions(
        model.get_layer("position_embedding"),
        tensors,
        f"{embeddings}.position_embeddings",
        model.get_layer("patch_embedding").output.shape[1:3],
        leading=len(names),
    )
    for i in range(model.depth):
        encoder.block(model, tensors, f"block{i}", f"{family}.encoder.layer.{i}")
    read.normalization(model.get_layer("head_norm"), tensors, f"{family}.layernorm")
    if model.distilled and model.distillation_head:
        read.dense(model.get_layer("head"), tensors, "cls_classifier")
        read.dense(model.get_layer("head_distillation"), tensors, "distillation_classifier")
    else:
        read.dense(model.get_layer("head"), tensors, "classifier")
    for part in ("weight", "bias"):
        tensors.ignore(f"{family}.pooler.dense.{part}")

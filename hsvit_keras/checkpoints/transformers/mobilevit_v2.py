"""MobileViTV2 of the `transformers` library."""

import dataclasses

from hsvit_keras.checkpoints import mobilevit_weights
from hsvit_keras.checkpoints import tensors as read
from hsvit_keras.checkpoints.transformers import mobilevit
from hsvit_keras.checkpoints.transformers.settings import check_settings, image_shape
from hsvit_keras.models import MobileViTV2
from hsvit_keras.models.mobilevit_v2 import scaled_widths

CLASSES = ("MobileViTV2ForImageClassification",)
DEFAULTS = {
    "base_attn_unit_dims": [128, 192, 256],
    "conv_kernel_size": 3,
    "expand_ratio": 2.0,
    "ffn_dropout": 0.0,
    "ffn_multiplier": 2,
    "hidden_act": "swish",
    "image_size": 256,
    "layer_norm_eps": 1e-5,
    "n_attn_blocks": [2, 4, 3],
    "num_channels": 3,
    "output_stride": 32,
    "patch_size": 2,
    "width_multiplier": 1.0,
}
_RESIDUALS = (1, 2)  # of the first stages, fixed in the class
_NAMES = dataclasses.replace(
    mobilevit.NAMES,
    stem="mobilevitv2.conv_stem",
    residual="mobilevitv2.encoder.layer.{stage}.layer.{index}",
    downsampling="mobilevitv2.encoder.layer.{stage}.downsampling_layer",
    transformer="mobilevitv2.encoder.layer.{stage}",
    fusion=None,
    last=None,
)
_DENSE = {"attention_output": "attention.out_proj", "mlp_hidden": "ffn.conv1", "mlp_output": "ffn.conv2"}


def build(config, input_shape, **common):
    """The model that a config describes.

    Args:
        config: dict of a config.json, with all keys of `DEFAULTS`.
        input_shape: (height, width, channels) in pixels; `image_size` by default.
        **common: other arguments of the model, `num_classes` among them.
    """
    check_settings(config, hidden_act=("silu", "swish"), conv_kernel_size=3, patch_size=2, output_stride=32)
    depths = (*_RESIDUALS, *config["n_attn_blocks"])
    return MobileViTV2(
        input_shape=image_shape(config, input_shape),
        depths=depths,
        expand_ratios=[config["expand_ratio"]] * len(depths),
        layer_norm_epsilon=config["layer_norm_eps"],
        dropout_rate=config["ffn_dropout"],
        **scaled_widths(config["width_multiplier"], config["base_attn_unit_dims"], config["ffn_multiplier"]),
        **common,
    )


def load(model, tensors):
    """Sets the weights of `model` from the published tensors."""
    mobilevit_weights.load(model, tensors, _NAMES, _block)


def _block(model, tensors, layer, name):
    """Sets the weights of a transformer block, whose projections are convolutions of size 1."""
    projections = [model.get_layer(f"{layer}_attention_{part}") for part in ("query", "key", "value")]
    read.fused_dense(projections, tensors, f"{name}.attention.qkv_proj.convolution")
    for ours, theirs in _DENSE.items():
        read.dense(model.get_layer(f"{layer}_{ours}"), tensors, f"{name}.{theirs}.convolution")
    for ours, theirs in (("norm", "layernorm_before"), ("mlp_norm", "layernorm_after")):
        read.normalization(model.get_layer(f"{layer}_{ours}"), tensors, f"{name}.{theirs}")

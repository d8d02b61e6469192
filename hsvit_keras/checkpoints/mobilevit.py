"""MobileViT checkpoints of https://github.com/apple/ml-cvnets."""

from hsvit_keras.checkpoints import mobilevit_weights
from hsvit_keras.checkpoints import tensors as read
from hsvit_keras.models import MobileViT
from hsvit_runtime.errors import InputError

ARCHITECTURES = ("mobilevit",)
REQUIRED = ("n_classes", "number_heads", "last_layer_exp_factor", "layers")
OPTIONAL = ("conv_1_out_channels",)
# What a layer of the config says beside its sizes, for the strides and patches that our model has.
_FIXED = {"patch_h": 2, "patch_w": 2, "stride": 2}
_NAMES = mobilevit_weights.Names(
    stem="conv_1",
    residual="layer_{number}.{index}.block",
    downsampling="layer_{number}.0.block",
    expand="exp_1x1",
    depthwise="conv_3x3",
    project="red_1x1",
    transformer="layer_{number}.1",
    local="local_rep.conv_3x3",
    input="local_rep.conv_1x1.block.conv",
    block="global_rep.{index}",
    norm="global_rep.{index}",
    output="conv_proj",
    fusion="fusion",
    last="conv_1x1_exp",
    head="classifier.fc",
    convolution="block.conv",
    normalization="block.norm",
)


def build(architecture, config, input_shape):
    """The model that the authors' options describe.

    Args:
        architecture: str, `"mobilevit"`.
        config: dict of the options of `MobileViT`; `layers` is what `get_configuration` gives.
        input_shape: (height, width, channels) in pixels; (256, 256, 3) by default.
    """
    stages = [config["layers"][f"layer{i}"] for i in range(1, 6)]
    _check_stages(stages)
    transformers = [stage for stage in stages if stage["block_type"] == "mobilevit"]
    filters = [config.get("conv_1_out_channels", 16), *(stage["out_channels"] for stage in stages)]
    return MobileViT(
        input_shape=input_shape or (256, 256, 3),
        num_classes=config["n_classes"],
        filters=filters,
        last_filters=min(config["last_layer_exp_factor"] * filters[-1], 960),
        depths=[stage.get("transformer_blocks", stage.get("num_blocks")) for stage in stages],
        expand_ratios=[stage.get("mv_expand_ratio", stage.get("expand_ratio")) for stage in stages],
        hidden_dims=[stage["transformer_channels"] for stage in transformers],
        mlp_dims=[stage["ffn_dim"] for stage in transformers],
        num_heads=config["number_heads"],
    )


def _check_stages(stages):
    for i, stage in enumerate(stages):
        is_mobilevit = stage["block_type"] == "mobilevit"
        expected = {name: value for name, value in _FIXED.items() if is_mobilevit or name == "stride"}
        expected["stride"] = 1 if i == 0 else 2
        found = {name: stage.get(name) for name in expected}
        if found != expected:
            raise InputError(f"layer{i + 1} of the config has to have {expected}; received {found}")


def load(model, tensors):
    """Sets the weights of `model` from the authors' tensors."""
    mobilevit_weights.load(model, tensors, _NAMES, _block)


def _block(model, tensors, layer, name):
    """Sets the weights of a transformer block."""
    read.normalization(model.get_layer(f"{layer}_norm"), tensors, f"{name}.pre_norm_mha.0")
    projections = [model.get_layer(f"{layer}_attention_{part}") for part in ("query", "key", "value")]
    read.fused_dense(projections, tensors, f"{name}.pre_norm_mha.1.qkv_proj")
    read.dense(model.get_layer(f"{layer}_attention_output"), tensors, f"{name}.pre_norm_mha.1.out_proj")
    read.normalization(model.get_layer(f"{layer}_mlp_norm"), tensors, f"{name}.pre_norm_ffn.0")
    read.dense(model.get_layer(f"{layer}_mlp_hidden"), tensors, f"{name}.pre_norm_ffn.1")
    read.dense(model.get_layer(f"{layer}_mlp_output"), tensors, f"{name}.pre_norm_ffn.4")

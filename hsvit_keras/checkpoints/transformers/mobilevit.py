"""MobileViT of the `transformers` library."""

from hsvit_keras.checkpoints import tensors as read
from hsvit_keras.checkpoints.transformers import encoder
from hsvit_keras.checkpoints.transformers.settings import check_settings, image_shape
from hsvit_keras.models import MobileViT

CLASSES = ("MobileViTForImageClassification",)
PROCESSOR = "MobileViTImageProcessor"
DEFAULTS = {
    "conv_kernel_size": 3,
    "expand_ratio": 4.0,
    "hidden_act": "silu",
    "hidden_dropout_prob": 0.1,
    "hidden_sizes": [144, 192, 240],
    "image_size": 256,
    "layer_norm_eps": 1e-5,
    "mlp_ratio": 2.0,
    "neck_hidden_sizes": [16, 32, 64, 96, 128, 160, 640],
    "num_attention_heads": 4,
    "num_channels": 3,
    "output_stride": 32,
    "patch_size": 2,
    "qkv_bias": True,
}
DEPTHS = (1, 3, 2, 4, 3)  # fixed in the class


def build(config, input_shape, **common):
    """The model that a config describes.

    Args:
        config: dict of a config.json, with all keys of `DEFAULTS`.
        input_shape: (height, width, channels) in pixels; `image_size` by default.
        **common: other arguments of the model, `num_classes` among them.
    """
    check_settings(config, hidden_act=("silu", "swish"), conv_kernel_size=3, patch_size=2, output_stride=32)
    dims, filters = config["hidden_sizes"], config["neck_hidden_sizes"]
    return MobileViT(
        input_shape=image_shape(config, input_shape),
        filters=filters[:-1],
        last_filters=filters[-1],
        depths=DEPTHS,
        expand_ratios=[config["expand_ratio"]] * len(DEPTHS),
        hidden_dims=dims,
        mlp_dims=[int(dim * config["mlp_ratio"]) for dim in dims],
        num_heads=config["num_attention_heads"],
        qkv_bias=config["qkv_bias"],
        layer_norm_epsilon=config["layer_norm_eps"],
        dropout_rate=config["hidden_dropout_prob"],
        **common,
    )


def load(model, tensors):
    """Sets the weights of `model` from the published tensors."""
    load_stages(model, tensors, "mobilevit", _transformer)
    convolution(model, tensors, "last_conv", "mobilevit.conv_1x1_exp")
    read.dense(model.get_layer("head"), tensors, "classifier")


def load_stages(model, tensors, family, load_transformer):
    """Sets the weights of stem and stages, which MobileViTV2 names alike.

    Args:
        model: `keras.Model`.
        tensors: `Tensors`.
        family: str, the authors' module.
        load_transformer: function from (model, tensors, what the names of our layers start with, the authors'
            module, depth) that sets the weights of what follows the inverted residual of a stage.
    """
    convolution(model, tensors, "stem_conv", f"{family}.conv_stem")
    without_transformer = len(model.depths) - len(model.hidden_dims)
    for i, depth in enumerate(model.depths):
        stage, theirs = f"stage{i}", f"{family}.encoder.layer.{i}"
        if i < without_transformer:
            for j in range(depth):
                _inverted_residual(model, tensors, f"{stage}_residual{j}", f"{theirs}.layer.{j}")
        else:
            _inverted_residual(model, tensors, f"{stage}_residual0", f"{theirs}.downsampling_layer")
            load_transformer(model, tensors, stage, theirs, depth)


def _inverted_residual(model, tensors, layer, name):
    for part, theirs in (("expand", "expand_1x1"), ("depthwise", "conv_3x3"), ("project", "reduce_1x1")):
        convolution(model, tensors, f"{layer}_{part}", f"{name}.{theirs}")


def _transformer(model, tensors, stage, theirs, depth):
    """Sets the weights of a block with a transformer."""
    convolution(model, tensors, f"{stage}_local_conv", f"{theirs}.conv_kxk")
    read.convolution(model.get_layer(f"{stage}_input_conv"), tensors, f"{theirs}.conv_1x1.convolution")
    for i in range(depth):
        encoder.block(model, tensors, f"{stage}_block{i}", f"{theirs}.transformer.layer.{i}")
    read.normalization(model.get_layer(f"{stage}_norm"), tensors, f"{theirs}.layernorm")
    convolution(model, tensors, f"{stage}_output_conv", f"{theirs}.conv_projection")
    convolution(model, tensors, f"{stage}_fusion_conv", f"{theirs}.fusion")


def convolution(model, tensors, layer, name):
    """Sets the weights of a convolution and of the batch normalization behind it."""
    read.normalized_convolution(model, tensors, layer, f"{name}.convolution", f"{name}.normalization")

"""MobileViT of the `transformers` library."""

from hsvit_keras.checkpoints import mobilevit_weights
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
NAMES = mobilevit_weights.Names(
    stem="mobilevit.conv_stem",
    residual="mobilevit.encoder.layer.{stage}.layer.{index}",
    downsampling="mobilevit.encoder.layer.{stage}.downsampling_layer",
    expand="expand_1x1",
    depthwise="conv_3x3",
    project="reduce_1x1",
    transformer="mobilevit.encoder.layer.{stage}",
    local="conv_kxk",
    input="conv_1x1.convolution",
    block="transformer.layer.{index}",
    norm="layernorm",
    output="conv_projection",
    fusion="fusion",
    last="mobilevit.conv_1x1_exp",
    head="classifier",
    convolution="convolution",
    normalization="normalization",
)


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
    mobilevit_weights.load(model, tensors, NAMES, encoder.block)

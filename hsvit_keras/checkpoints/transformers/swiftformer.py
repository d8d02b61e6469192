"""SwiftFormer of the `transformers` library."""

from hsvit_keras.checkpoints import swiftformer as original
from hsvit_keras.checkpoints import tensors as read
from hsvit_keras.checkpoints.transformers.settings import check_settings, image_shape
from hsvit_keras.models import SwiftFormer

CLASSES = ("SwiftFormerForImageClassification",)
PROCESSOR = "ViTImageProcessor"
DEFAULTS = {
    "batch_norm_eps": 1e-5,
    "depths": [3, 3, 6, 4],
    "down_pad": 1,
    "down_patch_size": 3,
    "down_stride": 2,
    "downsamples": [True, True, True, True],
    "embed_dims": [48, 56, 112, 220],
    "hidden_act": "gelu",
    "image_size": 224,
    "layer_scale_init_value": 1e-5,
    "mlp_ratio": 4,
    "num_channels": 3,
    "use_layer_scale": True,
}
PARTS = {"hidden": "point_wise_conv1", "output": "point_wise_conv2"}
ATTENTION = {"query": "to_query", "key": "to_key", "project": "proj", "output": "final"}


def build(config, input_shape, **common):
    """The model that a config describes.

    Args:
        config: dict of a config.json, with all keys of `DEFAULTS`.
        input_shape: (height, width, channels) in pixels; `image_size` by default.
        **common: other arguments of the model, `num_classes` among them.
    """
    check_settings(
        config, batch_norm_eps=1e-5, down_pad=1, down_patch_size=3, down_stride=2, hidden_act="gelu",
        downsamples=([True] * len(config["depths"]),),
    )  # fmt: skip
    return SwiftFormer(
        input_shape=image_shape(config, input_shape),
        filters=config["embed_dims"],
        depths=config["depths"],
        mlp_ratio=config["mlp_ratio"],
        layer_scale=config["layer_scale_init_value"] if config["use_layer_scale"] else None,
        **common,
    )


def load(model, tensors):
    """Sets the weights of `model` from the published tensors."""
    original.load_stem(model, tensors, "swiftformer.patch_embed.patch_embedding")
    network = "swiftformer.encoder.network"
    for stage, depth in enumerate(model.depths):
        if stage:
            theirs = f"{network}.{2 * stage - 1}"
            read.normalized_convolution(
                model, tensors, f"stage{stage}_conv", f"{theirs}.proj", f"{theirs}.norm"
            )
        blocks = f"{network}.{2 * stage}.blocks"
        original.load_stage(model, tensors, stage, depth, blocks, "depth_wise_conv", PARTS, ATTENTION)
    original.load_heads(model, tensors)

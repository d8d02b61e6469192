"""EfficientFormer of the `transformers` library, which has it up to its version 4."""

from hsvit_keras.checkpoints import efficientformer as original
from hsvit_keras.checkpoints import tensors as read
from hsvit_keras.checkpoints.transformers.settings import check_settings, image_shape
from hsvit_keras.models import EfficientFormer

WITH_TEACHER = "EfficientFormerForImageClassificationWithTeacher"
CLASSES = ("EfficientFormerForImageClassification", WITH_TEACHER)
PROCESSOR = "EfficientFormerImageProcessor"
DEFAULTS = {
    "attention_ratio": 4,
    "batch_norm_eps": 1e-5,
    "depths": [3, 2, 6, 4],
    "downsample_pad": 1,
    "downsample_patch_size": 3,
    "downsample_stride": 2,
    "downsamples": [True, True, True, True],
    "hidden_act": "gelu",
    "hidden_sizes": [48, 96, 224, 448],
    "image_size": 224,
    "key_dim": 32,
    "layer_norm_eps": 1e-12,
    "layer_scale_init_value": 1e-5,
    "mlp_expansion_ratio": 4,
    "num_attention_heads": 8,
    "num_channels": 3,
    "num_meta3d_blocks": 1,
    "pool_size": 3,
    "resolution": 7,
    "use_layer_scale": True,
}
POOLING = {"hidden": ("convolution1", "batchnorm_before"), "output": ("convolution2", "batchnorm_after")}
TRANSFORMER = {
    "norm": "layernorm1", "mlp_norm": "layernorm2", "attention_output": "token_mixer.projection",
    "mlp_hidden": "mlp.linear_in", "mlp_output": "mlp.linear_out",
}  # fmt: skip


def build(config, input_shape, **common):
    """The model that a config describes.

    Args:
        config: dict of a config.json, with all keys of `DEFAULTS`.
        input_shape: (height, width, channels) in pixels; 32 times `resolution` by default, which is what the
            offsets of attention fit, whatever `image_size` says.
        **common: other arguments of the model, `num_classes` among them.
    """
    check_settings(
        config, batch_norm_eps=1e-5, downsample_pad=1, downsample_patch_size=3, downsample_stride=2,
        downsamples=([True] * len(config["depths"]),), hidden_act="gelu",
    )  # fmt: skip
    (name,) = config["architectures"]
    return EfficientFormer(
        input_shape=image_shape({**config, "image_size": 32 * config["resolution"]}, input_shape),
        filters=config["hidden_sizes"],
        depths=config["depths"],
        transformer_depth=config["num_meta3d_blocks"],
        num_heads=config["num_attention_heads"],
        key_dim=config["key_dim"],
        value_ratio=config["attention_ratio"],
        mlp_ratio=config["mlp_expansion_ratio"],
        pool_size=config["pool_size"],
        distilled=name == WITH_TEACHER,
        layer_scale=config["layer_scale_init_value"] if config["use_layer_scale"] else None,
        layer_norm_epsilon=config["layer_norm_eps"],
        **common,
    )


def grid(config):
    """(height, width) of the map that the checkpoint's biases of attention are for."""
    return (config["resolution"],) * 2


def load(model, tensors):
    """Sets the weights of `model` from the published tensors."""
    stem, encoder = "efficientformer.patch_embed", "efficientformer.encoder"
    for i, place in enumerate(("before", "after")):
        read.normalized_convolution(
            model, tensors, f"stem_conv{i}", f"{stem}.convolution{i + 1}", f"{stem}.batchnorm_{place}"
        )
    *stages, (last, depth) = enumerate(model.depths)
    for stage, blocks in stages:
        theirs = f"{encoder}.intermediate_stages.{2 * stage}"
        for j in range(blocks):
            original.load_pooling_block(
                model, tensors, f"stage{stage}_block{j}", f"{theirs}.meta4D_layers.blocks.{j}", POOLING
            )
        between = f"{encoder}.intermediate_stages.{2 * stage + 1}"
        read.normalized_convolution(
            model, tensors, f"stage{stage + 1}_conv", f"{between}.projection", f"{between}.norm"
        )
    pooling = depth - model.transformer_depth
    for j in range(depth):
        ours, theirs = f"stage{last}_block{j}", f"{encoder}.last_stage"
        if j < pooling:
            original.load_pooling_block(model, tensors, ours, f"{theirs}.meta4D_layers.blocks.{j}", POOLING)
        else:
            name = f"{theirs}.meta3D_layers.blocks.{j - pooling}"
            original.load_transformer_block(model, tensors, ours, name, TRANSFORMER)
    read.normalization(model.get_layer("head_norm"), tensors, "efficientformer.layernorm")
    read.dense(model.get_layer("head"), tensors, "classifier")
    if model.distilled:
        read.dense(model.get_layer("head_distillation"), tensors, "distillation_classifier")

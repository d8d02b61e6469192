"""Checkpoints of https://github.com/fundamentalvision/Deformable-DETR, without its two-stage form."""

import math

import keras

from hsvit_keras.checkpoints import ms_deform_attn, resnet
from hsvit_keras.checkpoints import tensors as read
from hsvit_keras.models.deformable_detr import INPUT_SHAPE, DeformableDETR, check_arguments
from hsvit_keras.models.deformable_transformer import detections, queries_of_maps, valid_sizes_of_images
from hsvit_runtime.errors import InputError

ARCHITECTURES = ("deformable_detr", "deformable_detr_refine")
# The authors' arguments and ours.
_NAMES = {
    "num_classes": "num_classes", "num_feature_levels": "num_levels", "hidden_dim": "hidden_dim",
    "nheads": "num_heads", "enc_layers": "encoder_layers", "dec_layers": "decoder_layers",
    "dim_feedforward": "mlp_dim", "enc_n_points": "encoder_points", "dec_n_points": "decoder_points",
    "num_queries": "num_queries", "with_box_refine": "box_refinement",
}  # fmt: skip
REQUIRED = tuple(_NAMES)
OPTIONAL = (
    "backbone", "backbone_channels", "padded_image_size", "image_sizes", "group_norm_groups", "two_stage",
    "dropout",
)  # fmt: skip
_FIRST_STRIDE = 8


def build(architecture, config, input_shape):
    """The model that the authors' arguments describe.

    Args:
        architecture: str, one of `ARCHITECTURES`; `with_box_refine` tells them apart.
        config: dict of the arguments of the authors' program, `backbone` being `"resnet50"`. Or, for a model
            from maps `map0`, `map1`, ... of strides 8, 16, ... in place of images, `backbone_channels`, the
            channels of each, `padded_image_size` (height, width), and `image_sizes`, that of each image of a
            batch, which stands at the top left of the padded one.
        input_shape: (height, width, channels) in pixels; 320 x 320 x 3 by default.
    """
    if config.get("two_stage"):
        raise InputError("the two-stage form is left out: two_stage has to be False")
    arguments = {ours: config[theirs] for theirs, ours in _NAMES.items()}
    arguments |= {
        "group_norm_groups": config.get("group_norm_groups", 32),
        "dropout_rate": config.get("dropout", 0.0),
    }
    if "backbone_channels" in config:
        return _of_maps(config, arguments, architecture)
    if config.get("backbone", "resnet50") != "resnet50":
        raise InputError(f"backbone has to be 'resnet50'; received {config['backbone']!r}")
    features = ("stage3",) if arguments["num_levels"] == 1 else ("stage1", "stage2", "stage3")
    shape = input_shape or INPUT_SHAPE
    return DeformableDETR(
        input_shape=shape, backbone="resnet50", backbone_features=features, name=architecture, **arguments
    )


def _of_maps(config, arguments, name):
    padded, channels = tuple(config["padded_image_size"]), config["backbone_channels"]
    check_arguments({**arguments, "input_shape": (*padded, 3)})
    maps = {}
    for i, count in enumerate(channels):
        sides = (math.ceil(side / (_FIRST_STRIDE * 2**i)) for side in padded)
        maps[f"map{i}"] = keras.Input((*sides, count), name=f"map{i}")
    image_sizes = config.get("image_sizes") or [padded]
    is_padded = any(tuple(size) != padded for size in image_sizes)
    valid_sizes_of = valid_sizes_of_images(image_sizes, padded) if is_padded else None
    features = queries_of_maps(list(maps.values()), arguments, valid_sizes_of)
    return keras.Model(maps, detections(features, arguments), name=name)


def load(model, tensors):
    """Sets the weights of `model` from the authors' tensors."""
    names = {layer.name for layer in model.layers}
    if "backbone" in names:
        resnet.load_body(model.get_layer("backbone"), tensors, "backbone.0.body.")
    for level in _counted("level{}_conv", names):
        read.convolution(model.get_layer(f"level{level}_conv"), tensors, f"input_proj.{level}.0")
        read.normalization(model.get_layer(f"level{level}_norm"), tensors, f"input_proj.{level}.1")
    embedding = model.get_layer("positions")
    embedding.set_weights([tensors.take("transformer.level_embed", embedding.level_embedding.shape)])
    for i in _counted("encoder{}_mlp_norm", names):
        ours, theirs = f"encoder{i}", f"transformer.encoder.layers.{i}"
        _load_deformable(model, tensors, f"{ours}_attention", f"{theirs}.self_attn")
        read.normalization(model.get_layer(f"{ours}_attention_norm"), tensors, f"{theirs}.norm1")
        _load_feed_forward(model, tensors, ours, theirs, "norm2")
    _load_queries(model, tensors)
    layers = _counted("decoder{}_mlp_norm", names)
    for i in layers:
        ours, theirs = f"decoder{i}", f"transformer.decoder.layers.{i}"
        _load_attention(model, tensors, f"{ours}_self", f"{theirs}.self_attn")
        read.normalization(model.get_layer(f"{ours}_self_norm"), tensors, f"{theirs}.norm2")
        _load_deformable(model, tensors, f"{ours}_cross", f"{theirs}.cross_attn")
        read.normalization(model.get_layer(f"{ours}_cross_norm"), tensors, f"{theirs}.norm1")
        _load_feed_forward(model, tensors, ours, theirs, "norm3")
    _load_heads(model, tensors, layers[-1], "box_output" not in names)


def _counted(pattern, names):
    return [i for i in range(len(names)) if pattern.format(i) in names]


def _load_deformable(model, tensors, ours, theirs):
    projections = {part: model.get_layer(f"{ours}_{part}") for part in ms_deform_attn.PARTS}
    ms_deform_attn.load_projections(model.get_layer(ours), projections, tensors, f"{theirs}.")


def _load_attention(model, tensors, ours, theirs):
    """`nn.MultiheadAttention`, whose projections of the inputs are one tensor under names of its own."""
    projections = [model.get_layer(f"{ours}_{part}") for part in ("query", "key", "value")]
    read.fused_dense(projections, tensors, f"{theirs}.in_proj", separator="_")
    read.dense(model.get_layer(f"{ours}_output"), tensors, f"{theirs}.out_proj")


def _load_feed_forward(model, tensors, ours, theirs, norm):
    read.dense(model.get_layer(f"{ours}_mlp_hidden"), tensors, f"{theirs}.linear1")
    read.dense(model.get_layer(f"{ours}_mlp_output"), tensors, f"{theirs}.linear2")
    read.normalization(model.get_layer(f"{ours}_mlp_norm"), tensors, f"{theirs}.{norm}")


def _load_queries(model, tensors):
    """The first half of an embedding is the position, the second the content."""
    layers = [model.get_layer(name) for name in ("query_positions", "query_content")]
    _, count, dim = layers[0].shape
    embedding = tensors.take("query_embed.weight", (count, 2 * dim))
    for i, layer in enumerate(layers):
        layer.set_weights([embedding[None, :, i * dim : (i + 1) * dim]])
    read.dense(model.get_layer("reference_points"), tensors, "transformer.reference_points")


def _load_heads(model, tensors, last, is_refined):
    """Heads are listed for each decoder layer; without refinement all are the first."""
    read.dense(model.get_layer("class_head"), tensors, f"class_embed.{last if is_refined else 0}")
    for i in range(last + 1 if is_refined else 1):
        prefix = f"decoder{i}_box" if is_refined else "box"
        for j, part in enumerate(("hidden0", "hidden1", "output")):
            read.dense(model.get_layer(f"{prefix}_{part}"), tensors, f"bbox_embed.{i}.layers.{j}")
    for name in tensors.state_dict:
        if name.startswith(("class_embed.", "bbox_embed.", "transformer.decoder.bbox_embed.")):
            tensors.ignore(name)  # the heads of other layers, and further names of these

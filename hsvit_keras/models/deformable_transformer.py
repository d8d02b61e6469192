"""The encoder and the decoder of Deformable DETR, from maps of several sizes to queries.

A level is a map of one size; the tokens are the pixels of all levels in turn. Blocks are normalized behind
each sum.
"""

import math

import keras
import numpy as np
from keras import layers

from hsvit_keras.layers import (
    BoxLogits,
    DeformableAttention,
    ForEachSample,
    OwnWeight,
    SinePositionEmbedding,
    SoftmaxAttention,
    StopGradient,
)
from hsvit_keras.layers.deformable_attention import SamplingRays
from hsvit_keras.models import blocks
from hsvit_keras.models.image_model import as_plain
from hsvit_runtime.errors import InputError

EPSILON = 1e-5
# Arguments of `queries_of_maps` and `detections`, those of the constructor, in the order of the paper.
SIZES = (
    "num_levels", "hidden_dim", "num_heads", "encoder_layers", "decoder_layers", "mlp_dim", "encoder_points",
    "decoder_points", "num_queries", "group_norm_groups",
)  # fmt: skip


def queries_of_maps(maps, arguments, valid_sizes_of=None):
    """What the decoder makes of the queries.

    Args:
        maps: list of KerasTensors `(batch, height, width, channels)`, the largest first.
        arguments: dict of the arguments of `DeformableDETR`.
        valid_sizes_of: function from the sizes of all levels to `valid_sizes` of `DeformableAttention`, for
            images with padding; None without.

    Returns:
        dict with `queries` `(batch, queries, dim)`, `references`, logits of the points or boxes that the
        boxes are relative to, and `encoded`, the tokens of all levels.
    """
    levels = _levels(maps, arguments)
    sizes = [tuple(level.shape[1:3]) for level in levels]
    valid_sizes = valid_sizes_of and valid_sizes_of(sizes)
    tokens = [blocks.flatten(level, f"level{i}_tokens") for i, level in enumerate(levels)]
    tokens = layers.Concatenate(axis=1, name="levels")(tokens) if len(tokens) > 1 else tokens[0]
    make = _Layers(arguments, sizes, valid_sizes)
    positions = SinePositionEmbedding(sizes, valid_sizes, name="positions")
    for i in range(arguments["encoder_layers"]):
        tokens = make.encoder_layer(tokens, positions, f"encoder{i}")
    return {**make.decoder(tokens), "encoded": tokens}


def detections(features, arguments):
    """Logits and boxes of the queries, from the features of `queries_of_maps`."""
    offsets = _box_head(features["queries"], arguments["decoder_layers"] - 1, arguments)
    boxes = BoxLogits(name="box_logits")(offsets, features["references"])
    logits = layers.Dense(
        arguments["num_classes"],
        # the logit of a probability of 0.01, as of https://arxiv.org/abs/1708.02002, section 4.1
        bias_initializer=keras.initializers.Constant(-math.log(99)),
        name="class_head",
    )(features["queries"])
    return {"logits": logits, "boxes": layers.Activation("sigmoid", dtype="float32", name="boxes")(boxes)}


def has_decoder(model):
    """Whether a model has the decoder and the heads of Deformable DETR, by the names of its layers."""
    return {"class_head", "box_logits", "decoder0_mlp_norm"} <= {layer.name for layer in model.layers}


def with_auxiliary_outputs(model):
    """The same layers with the outputs of each decoder layer, for training.

    Args:
        model: `DeformableDETR`, or what a pass made of one.

    Returns:
        A `keras.Model` whose dict of outputs has `logits_0`, `boxes_0`, ... of the earlier decoder layers
        besides `logits` and `boxes`. What trains it trains `model`.

    Raises:
        InputError: `model` is no detector with a decoder.

    References:
        - [DETR](https://arxiv.org/abs/2005.12872), section 3.2, auxiliary decoding losses
    """
    names = {layer.name for layer in model.layers}
    if not has_decoder(model):
        raise InputError(
            f"auxiliary outputs are those of a decoder of Deformable DETR; {model.name!r} has none"
        )
    outputs = dict(model.output)
    count = sum(f"decoder{i}_mlp_norm" in names for i in range(len(names)))
    boxes = model.get_layer("boxes")
    for i in range(count - 1):
        queries = model.get_layer(f"decoder{i}_mlp_norm").output
        if f"decoder{i}_box_logits" in names:
            logits_of_boxes = model.get_layer(f"decoder{i}_box_logits").output
        else:
            offsets = queries
            for name in ("box_hidden0", "box_hidden1", "box_output"):
                offsets = model.get_layer(name)(offsets)
            _, references = model.get_layer("box_logits").input
            logits_of_boxes = model.get_layer("box_logits")(offsets, references)
        outputs[f"logits_{i}"] = model.get_layer("class_head")(queries)
        outputs[f"boxes_{i}"] = boxes(logits_of_boxes)
    return keras.Model(model.input, outputs, name=model.name)


def _levels(maps, arguments):
    """The maps projected to one number of channels, and smaller ones made of the last."""
    dim, groups, levels = arguments["hidden_dim"], arguments["group_norm_groups"], []
    for i in range(arguments["num_levels"]):
        if i < len(maps):
            level = layers.Conv2D(dim, 1, name=f"level{i}_conv")(maps[i])
        else:
            source = maps[-1] if i == len(maps) else levels[-1]
            level = blocks.convolution(source, dim, 3, 2, True, f"level{i}_conv")
        norm = layers.GroupNormalization(groups, epsilon=EPSILON, name=f"level{i}_norm")
        levels.append(norm(level))
    return levels


class _Layers:
    """The layers of the encoder and the decoder for levels of some sizes."""

    def __init__(self, arguments, sizes, valid_sizes):
        self._arguments, self._sizes, self._valid_sizes = arguments, sizes, valid_sizes
        self._dim, self._dropout_rate = arguments["hidden_dim"], arguments["dropout_rate"]

    def encoder_layer(self, tokens, positions, name):
        """Pixels read other pixels, of all levels."""
        points = self._arguments["encoder_points"]
        mixed = self._deformable_attention(positions(tokens), tokens, None, points, f"{name}_attention")
        tokens = self._added(tokens, mixed, f"{name}_attention")
        return self._feed_forward(tokens, name)

    def decoder(self, tokens):
        """Learned queries read each other and the tokens."""
        arguments, is_refined = self._arguments, self._arguments["box_refinement"]
        positions, queries = (self._learned(tokens, name) for name in ("query_positions", "query_content"))
        references = layers.Dense(2, dtype="float32", name="reference_points")(positions)
        for i in range(arguments["decoder_layers"]):
            name = f"decoder{i}"
            points = layers.Activation("sigmoid", dtype="float32", name=f"{name}_references")(references)
            queries = self._decoder_layer(queries, positions, tokens, points, name)
            if is_refined and i < arguments["decoder_layers"] - 1:
                boxes = BoxLogits(name=f"{name}_box_logits")(_box_head(queries, i, arguments), references)
                references = StopGradient(dtype="float32", name=f"{name}_box")(boxes)
        return {"queries": queries, "references": references}

    def _learned(self, tokens, name):
        shape = (1, self._arguments["num_queries"], self._dim)
        learned = OwnWeight(shape, initializer=keras.initializers.RandomNormal(stddev=1.0), name=name)
        return ForEachSample(name=f"{name}_repeated")(learned(tokens), tokens)

    def _decoder_layer(self, queries, positions, tokens, references, name):
        placed = layers.Add(name=f"{name}_self_placed")([queries, positions])
        mixed = self._attention(placed, queries, f"{name}_self")
        queries = self._added(queries, mixed, f"{name}_self")
        placed = layers.Add(name=f"{name}_cross_placed")([queries, positions])
        points = self._arguments["decoder_points"]
        mixed = self._deformable_attention(placed, tokens, references, points, f"{name}_cross")
        queries = self._added(queries, mixed, f"{name}_cross")
        return self._feed_forward(queries, name)

    def _attention(self, placed, queries, name):
        query, key, value = (
            layers.Dense(self._dim, name=f"{name}_{part}")(source)
            for part, source in (("query", placed), ("key", placed), ("value", queries))
        )
        mixed = SoftmaxAttention(self._arguments["num_heads"], self._dropout_rate, name=name)
        return layers.Dense(self._dim, name=f"{name}_output")(mixed(query, key, value))

    def _deformable_attention(self, queries, tokens, references, num_points, name):
        heads = self._arguments["num_heads"]
        read = deformable_attention(heads, num_points, self._sizes, self._valid_sizes, name)
        return read(queries, tokens, references)

    def _feed_forward(self, tokens, name):
        mlp_dim, name = self._arguments["mlp_dim"], f"{name}_mlp"
        hidden = layers.Dense(mlp_dim, activation="relu", name=f"{name}_hidden")(tokens)
        hidden = layers.Dropout(self._dropout_rate, name=f"{name}_hidden_dropout")(hidden)
        return self._added(tokens, layers.Dense(self._dim, name=f"{name}_output")(hidden), name)

    def _added(self, tokens, branch, name):
        branch = layers.Dropout(self._dropout_rate, name=f"{name}_dropout")(branch)
        tokens = layers.Add(name=f"{name}_add")([tokens, branch])
        return layers.LayerNormalization(epsilon=EPSILON, name=f"{name}_norm")(tokens)


def deformable_attention(num_heads, num_points, map_sizes, valid_sizes, name):
    """A function `(queries, tokens, references) -> (batch, queries, dim)`: `DeformableAttention` with its
    projections; see there for the arguments.
    """  # fmt: skip
    levels = len(map_sizes)
    count = num_heads * levels * num_points
    rays = SamplingRays(num_heads, levels, num_points)

    def attend(queries, tokens, references):
        dim = tokens.shape[-1]
        value = layers.Dense(dim, name=f"{name}_value")(tokens)
        offsets = layers.Dense(
            2 * count, kernel_initializer="zeros", bias_initializer=rays, name=f"{name}_offsets"
        )(queries)
        scores = layers.Dense(count, kernel_initializer="zeros", name=f"{name}_scores")(queries)
        core = DeformableAttention(num_heads, num_points, map_sizes, valid_sizes, name=name)
        read = core(value, offsets, scores, *([] if references is None else [references]))
        return layers.Dense(dim, name=f"{name}_output")(read)

    return attend


def _box_head(queries, layer, arguments):
    """Offsets of the boxes of a decoder layer, `(batch, queries, 4)`.

    With refinement each layer has a head of its own; else all share one.
    """
    is_refined, dim = arguments["box_refinement"], arguments["hidden_dim"]
    prefix = f"decoder{layer}_box" if is_refined else "box"
    size = 0.0 if is_refined and layer else -2.0  # refined boxes have a size already
    hidden = queries
    for i in range(2):
        hidden = layers.Dense(dim, activation="relu", name=f"{prefix}_hidden{i}")(hidden)
    return layers.Dense(
        4,
        kernel_initializer="zeros",
        bias_initializer=BoxBias(size),
        dtype="float32",
        name=f"{prefix}_output",
    )(hidden)


@keras.saving.register_keras_serializable("hsvit_keras")
class BoxBias(keras.initializers.Initializer):
    """The first offsets of boxes: none of the center, one of width and height.

    Args:
        size: float, logit of width and height.
    """

    def __init__(self, size):
        self.size = size

    def __call__(self, shape, dtype=None):
        return keras.ops.convert_to_tensor([0.0, 0.0, self.size, self.size], dtype)

    def get_config(self):
        return {"size": self.size}


def valid_sizes_of_images(image_sizes, padded_size):
    """A function from the sizes of all levels to the part of each that is no padding, for each image.

    A pixel of a level is no padding if the pixel of the image that is nearest to its corner is none.

    Args:
        image_sizes: sequence of (height, width), one an image.
        padded_size: (height, width) of all images with padding, which is below them and right of them.
    """

    def of_levels(level_sizes):
        return as_plain(
            [
                [
                    [
                        int(np.sum(np.arange(side) * whole // side < valid))
                        for side, whole, valid in zip(size, padded_size, image_size, strict=True)
                    ]
                    for size in level_sizes
                ]
                for image_size in image_sizes
            ]
        )

    return of_levels

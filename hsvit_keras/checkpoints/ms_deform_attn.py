"""Multi-scale deformable attention of https://github.com/fundamentalvision/Deformable-DETR, on its own."""

import math

import keras

from hsvit_keras.checkpoints import tensors as read
from hsvit_keras.models.deformable_transformer import deformable_attention

ARCHITECTURES = ("ms_deform_attn", "ms_deform_attn_box")
REQUIRED = ("d_model", "n_levels", "n_heads", "n_points", "spatial_shapes", "num_query", "reference_dim")
OPTIONAL = ("valid_hw",)
PARTS = ("value", "offsets", "scores", "output")
_NAME = "attention"


def build(architecture, config, input_shape):
    """A model of the module alone, from a dict of `query`, `reference_points` and `input_flatten`.

    Args:
        architecture: str, one of `ARCHITECTURES`.
        config: dict of the module's arguments; of the shapes of its inputs: `spatial_shapes`, (height, width)
            of each level, `num_query` and `reference_dim`, 2 for points and 4 for boxes; and `valid_hw`, the
            part of each level that is no padding for each image of the batch, or None.
        input_shape: is not used.
    """
    dim, sizes, queries = config["d_model"], config["spatial_shapes"], config["num_query"]
    shapes = {
        "query": (queries, dim),
        "reference_points": (queries, config["n_levels"], config["reference_dim"]),
        "input_flatten": (sum(map(math.prod, sizes)), dim),
    }
    inputs = {name: keras.Input(shape, name=name) for name, shape in shapes.items()}
    attend = deformable_attention(config["n_heads"], config["n_points"], sizes, config.get("valid_hw"), _NAME)
    outputs = attend(inputs["query"], inputs["input_flatten"], inputs["reference_points"])
    return keras.Model(inputs, outputs, name=architecture)


def load(model, tensors):
    """Sets the weights of `model` from the authors' tensors."""
    projections = {part: model.get_layer(f"{_NAME}_{part}") for part in PARTS}
    load_projections(model.get_layer(_NAME), projections, tensors, "")


def load_projections(core, projections, tensors, prefix):
    """Sets the weights around a `DeformableAttention`.

    Args:
        core: `DeformableAttention`.
        projections: dict from `PARTS` to the `Dense` layers.
        tensors: `Tensors`.
        prefix: str, in front of the authors' names.
    """
    levels = len(core.map_sizes)
    for part, name in (("value", "value_proj"), ("output", "output_proj"), ("scores", "attention_weights")):
        read.dense(projections[part], tensors, f"{prefix}{name}")
    # Theirs are (heads, levels, points, xy), ours (levels, xy, heads, points).
    shape = core.num_heads, levels, core.num_points, 2
    inputs, outputs = projections["offsets"].kernel.shape
    kernel = tensors.take(f"{prefix}sampling_offsets.weight", (outputs, inputs)).T
    bias = tensors.take(f"{prefix}sampling_offsets.bias", (outputs,))
    projections["offsets"].set_weights(
        [
            values.reshape(-1, *shape).transpose(0, 2, 4, 1, 3).reshape(weight.shape)
            for values, weight in (
                (kernel, projections["offsets"].kernel),
                (bias, projections["offsets"].bias),
            )
        ]
    )

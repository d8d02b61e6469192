"""The pass that cuts an HSViT into models for several devices: its groups need nothing of each other.

Each part goes from the image to the class tokens of its groups; the head makes the answer from the mean of
those that arrive. See section 3.3 of the paper.
"""

import keras
import numpy as np
from keras import layers

from hsvit_keras.compression.rewriting import Graph, rewrite
from hsvit_keras.compression.slimming import slim, slimmable_parts
from hsvit_runtime.errors import InputError


def shard(model, num_shards):
    """Cuts a model along its attention groups.

    A part computes its own slice of the kernels behind which groups are apart: of the last convolution, or
    of all of them with `stem="split"`; what all groups share is repeated in each part. Quantize the parts,
    not the model, for each has ranges of its own.

    Args:
        model: `keras.Model` with attention groups whose answers are averaged, such as `HSViT`. It stays as
            it is.
        num_shards: int, from 1 to the number of groups. Where it does not divide them, the first parts
            hold one group more.

    Returns:
        (parts, head): a list of `keras.Model`, each from images `(batch, height, width, channels)` to class
        tokens `(batch, its groups, dim)`; and a `keras.Model` that takes the class tokens of any groups,
        concatenated on axis 1 in any order, and gives logits `(batch, classes)`.

    Raises:
        ValueError: `model` has no such groups, or not so many; it is quantized, or has no graph that could
            be followed.

    Example:

    ```python
    parts, head = hsvit_keras.shard(hsvit_keras.create_model("hsvit_c2a2"), num_shards=4)
    tokens = keras.ops.concatenate([part(images) for part in parts[:3]], axis=1)  # one is lost
    logits = head(tokens)
    ```

    References:
        - [HSViT: Horizontally Scalable Vision Transformer](https://arxiv.org/abs/2404.05196)
    """
    num_groups = num_groups_of(model)
    if type(num_shards) is not int or not 1 <= num_shards <= num_groups:
        raise InputError(
            f"num_shards has to be an integer from 1 to {num_groups}, the groups of {model.name!r}; "
            f"received num_shards={num_shards!r}"
        )
    return cut(model, [len(groups) for groups in np.array_split(np.arange(num_groups), num_shards)])


def num_groups_of(model):
    """How many attention groups a model has whose answers are averaged; `ValueError` if it has none."""
    return _mean_of_groups(Graph(model)).input.shape[1]


def cut(model, sizes):
    """Cuts a model as `shard` does, into parts of given sizes.

    Args:
        model: see `shard`.
        sizes: list of int, how many groups each part holds; they add up to those of the model.

    Returns:
        (parts, head), see `shard`.
    """
    graph = Graph(model)
    mean = _mean_of_groups(graph)
    answers = graph.producers(mean)[0].name
    ends = np.cumsum(sizes).tolist()
    parts = [
        _part(graph.model, list(range(end - size, end)), answers, f"shard{i}")
        for i, (size, end) in enumerate(zip(sizes, ends, strict=True))
    ]
    return parts, _head(graph, mean)


def join(parts, head, batch_size=None):
    """One model from the image to the answer of all groups of some parts.

    Args:
        parts: list of `keras.Model`, see `shard`.
        head: `keras.Model`, see there.
        batch_size: int, a fixed size of the batch; any by default.

    Returns:
        A `keras.Model`.
    """
    image = keras.Input(parts[0].input_shape[1:], batch_size=batch_size, name="image")
    tokens = [part(image) for part in parts]
    return keras.Model(image, head(layers.Concatenate(axis=1)(tokens) if tokens[1:] else tokens[0]))


def _mean_of_groups(graph):
    """The layer that averages the answers of all groups."""
    num_groups = slimmable_parts(graph.model)["groups"]
    means = [
        layer
        for layer in graph.model.layers
        if isinstance(layer, layers.GlobalAveragePooling1D) and layer.input.shape[1] == num_groups
    ]
    if not num_groups or len(means) != 1:
        raise InputError(
            f"{graph.model.name!r} has no attention groups whose answers are averaged: there is nothing that "
            "several devices could compute apart"
        )
    return means[0]


def _part(model, groups, answers, name):
    """From the image to the answers of some groups."""
    slimmed = slim(model, groups=groups)
    return rewrite(keras.Model(slimmed.input, slimmed.get_layer(answers).output, name=name))


def _head(graph, mean):
    """From the answers of any number of groups to logits."""
    answers = keras.Input((None, *mean.input.shape[2:]), name="class_tokens", dtype=mean.input.dtype)
    layer, output, copies = mean, answers, []
    while layer is not None:
        copies.append((layer, type(layer).from_config(layer.get_config())))
        output = copies[-1][1](output)
        layer = next(iter(graph.consumers(layer)), None)
    head = keras.Model(answers, output, name="head")
    for original, copy in copies:
        copy.set_weights(original.get_weights())
    return head

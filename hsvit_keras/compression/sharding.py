"""A pass that cuts an HSViT into models for several devices, along its independent attention groups.

Each part computes the class tokens of its groups from the image; the head computes the logits from the mean
of the class tokens it receives. See section 3.3 of the paper.
"""

import keras
import numpy as np
from keras import layers

from hsvit_keras.compression.graph import Graph
from hsvit_keras.compression.rewriting import config_of, rewrite
from hsvit_keras.compression.slimming import slim, slimmable_parts
from hsvit_runtime.errors import InputError


def shard(model, num_shards):
    """Cuts a model along its attention groups.

    A part has only the kernels of its own groups: of the last convolution, or of all convolutions with
    `stem="split"`. Layers that all groups share are repeated in each part. Quantize the parts instead of the
    model, since each part has ranges of its own.

    Args:
        model: `keras.Model` with attention groups whose class tokens are averaged, such as `HSViT`. It is
            not modified.
        num_shards: int, from 1 to the number of groups. If the groups cannot be divided evenly, the first
            parts have one group more.

    Returns:
        (parts, head): a list of `keras.Model`, each from images `(batch, height, width, channels)` to class
        tokens `(batch, its groups, dim)`; and a `keras.Model` from the class tokens of any groups,
        concatenated on axis 1 in any order, to logits `(batch, classes)`.

    Raises:
        InputError: `num_shards` is not in its range; or `model` has no attention groups, is quantized, or is
            neither Functional nor Sequential.

    Example:

    ```python
    parts, head = hsvit_keras.shard(hsvit_keras.create_model("hsvit_c2a2"), num_shards=4)
    tokens = keras.ops.concatenate([part(images) for part in parts[:3]], axis=1)  # without the last part
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
    """The number of attention groups whose class tokens are averaged.

    Raises:
        InputError: `model` has no such groups.
    """
    return _mean_of_groups(Graph(model)).input.shape[1]


def cut(model, sizes):
    """Cuts a model as `shard` does, into parts of given sizes.

    Args:
        model: see `shard`.
        sizes: list of int, the number of groups of each part; their sum is that of the model.

    Returns:
        (parts, head), see `shard`.
    """
    graph = Graph(model)
    mean = _mean_of_groups(graph)
    tokens_layer = graph.producers(mean)[0].name
    ends = np.cumsum(sizes).tolist()
    parts = [
        _part(graph.model, list(range(end - size, end)), tokens_layer, f"shard{i}")
        for i, (size, end) in enumerate(zip(sizes, ends, strict=True))
    ]
    return parts, _head(graph, mean)


def join(parts, head, batch_size=None):
    """Joins some parts and the head into one model from the image to the logits.

    Args:
        parts: list of `keras.Model`, see `shard`.
        head: `keras.Model`, see `shard`.
        batch_size: int, a fixed batch size; any by default.

    Returns:
        A `keras.Model`.
    """
    image = keras.Input(parts[0].input_shape[1:], batch_size=batch_size, name="image")
    tokens = [part(image) for part in parts]
    return keras.Model(image, head(layers.Concatenate(axis=1)(tokens) if tokens[1:] else tokens[0]))


def _mean_of_groups(graph):
    """The layer that averages the class tokens of all groups."""
    num_groups = slimmable_parts(graph.model)["groups"]
    means = [
        layer
        for layer in graph.layers
        if isinstance(layer, layers.GlobalAveragePooling1D) and layer.input.shape[1] == num_groups
    ]
    if not num_groups or len(means) != 1:
        raise InputError(
            f"{graph.model.name!r} has no attention groups whose class tokens are averaged, so it cannot be "
            "cut into parts for several devices"
        )
    return means[0]


def _part(model, groups, tokens_layer, name):
    """A model from the image to the class tokens of some groups."""
    slimmed = slim(model, groups=groups)
    return rewrite(keras.Model(slimmed.input, slimmed.get_layer(tokens_layer).output, name=name))


def _head(graph, mean):
    """A model from the class tokens of any number of groups to the logits."""
    tokens = keras.Input((None, *mean.input.shape[2:]), name="class_tokens", dtype=mean.input.dtype)
    layer, output, copies = mean, tokens, []
    while layer is not None:
        copies.append((layer, type(layer).from_config(config_of(layer))))
        output = copies[-1][1](output)
        layer = next(iter(graph.consumers(layer)), None)
    head = keras.Model(tokens, output, name="head")
    for original, copy in copies:
        copy.set_weights(original.get_weights())
    return head

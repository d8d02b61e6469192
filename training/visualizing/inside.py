"""What a trained model computes inside: tensors of its graph, and attention weights, as NumPy arrays."""

import numpy as np


def values(model, tensors, images):
    """The values of tensors of a Functional model.

    Args:
        model: `keras.Model` of one input.
        tensors: KerasTensor of its graph, or a list of them.
        images: array `(batch, height, width, channels)` in the model's input range.

    Returns:
        float32 array, or a list of them.
    """
    import keras

    found = keras.Model(model.inputs[0], tensors)(images)
    return keras.tree.map_structure(lambda value: np.asarray(value, np.float32), found)


def attention_weights(model, name, images):
    """The weights of an attention, whose rows sum to 1.

    Args:
        model: `keras.Model` of one input.
        name: str, a `SoftmaxAttention` of it.
        images: array `(batch, height, width, channels)` in the model's input range.

    Returns:
        float32 array `(batch, heads, queries, tokens)`.
    """
    attention = model.get_layer(name)
    query, key = values(model, list(attention.input[:2]), images)
    return np.asarray(attention.attention_weights(query, key), np.float32)


def liveliest(maps, count):
    """The channels that vary most over the map.

    Args:
        maps: array `(height, width, channels)`.
        count: int, at most.

    Returns:
        array `(height, width, at most count)`, the liveliest first.
    """
    return maps[..., np.argsort(-maps.var((0, 1)), kind="stable")[:count]]

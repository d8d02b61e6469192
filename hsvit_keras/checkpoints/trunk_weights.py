"""The weights of a model's trunk, for the same layers with other classes or images of another size."""

import numpy as np

from hsvit_keras.checkpoints.interpolation import check_mode, interpolate, interpolate_offsets
from hsvit_keras.layers import GridAttention, PositionEmbedding
from hsvit_runtime.errors import InputError

HEADS = ("head", "head_distillation")  # layers whose weights depend on the classes


def with_weights_of(source, model, interpolation="bicubic"):
    """Sets the weights of a model to those of another, those of the heads excepted.

    Where the map of tokens has another size, positions and biases of attention are interpolated.

    Args:
        source: `keras.Model`.
        model: `keras.Model` of the same layers.
        interpolation: `"bicubic"` or `"bilinear"`, as PyTorch's `interpolate` without `antialias`.

    Returns:
        `model`.

    Raises:
        InputError: other weights have another shape; the message names the first layer.
    """
    check_mode("interpolation", interpolation)
    for layer in model.layers:
        if layer.weights and layer.name not in HEADS:
            _carry(source.get_layer(layer.name), layer, model, interpolation)
    return model


def _carry(old, new, model, mode):
    weights = [np.asarray(weight) for weight in old.get_weights()]
    wanted = [tuple(weight.shape) for weight in new.weights]
    # Positions in groups are those of kernels, which are as many whatever the size of the map.
    if isinstance(new, PositionEmbedding) and weights[0].ndim == 2:
        new.set_weights([_positions(weights[0], _map_behind(old), _map_behind(new), mode)])
    elif isinstance(new, GridAttention):
        new.set_weights([_offsets(weights[0], old.grid, new.grid, mode)])
    elif [weight.shape for weight in weights] == wanted:
        new.set_weights(weights)
    else:
        raise InputError(
            f"{model.name} has weights that depend on the size of the images: with "
            f"input_shape={model.input_shape[1:]} layer {new.name!r} needs {wanted[0]} in place of "
            f"{weights[0].shape}"
        )


def _positions(positions, old, new, mode):
    """Positions (tokens, dim) for another map of tokens; those of class tokens in front stay as they are."""
    if old == new:
        return positions
    leading, dim = len(positions) - old[0] * old[1], positions.shape[1]
    maps = interpolate(positions[leading:].reshape(*old, dim), new, mode)
    return np.concatenate([positions[:leading], maps.reshape(-1, dim)])


def _offsets(table, old, new, mode):
    return table if old == new else interpolate_offsets(table, old, new, mode)


def _map_behind(layer):
    """(height, width) of the map whose pixels became the tokens that a layer of a graph takes."""
    tensors = [layer.input]
    while True:
        tensor = next((tensor for tensor in tensors if len(tensor.shape) == 4), None)
        if tensor is not None:
            return tuple(tensor.shape[1:3])
        tensors = [given for t in tensors for given in _inputs_of(t)]


def _inputs_of(tensor):
    operation, node, _ = tensor._keras_history
    return operation._inbound_nodes[node].input_tensors

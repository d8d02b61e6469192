"""Weights of Keras layers from the tensors of a PyTorch state dict.

Each function sets the weights of one layer, in Keras' layout. Mismatches are collected, so that one
error names them all.
"""

import math

import keras
import numpy as np

from hsvit_keras.checkpoints.interpolation import check_mode, interpolate, interpolate_offsets
from hsvit_runtime.errors import InputError, listed


class Tensors:
    """A state dict that records which of its tensors are used.

    Args:
        state_dict: dict of str to array.
        grid: (height, width) of the map of tokens that its positions are for; where the model's map has
            another size they are interpolated. None if they have to be those of the model.
        interpolation: `"bicubic"` or `"bilinear"`.

    Raises:
        InputError: there is no such interpolation.
    """

    def __init__(self, state_dict, grid=None, interpolation="bicubic"):
        check_mode("interpolation", interpolation)
        self.state_dict = state_dict
        self.grid = None if grid is None else tuple(grid)
        self.interpolation = interpolation
        self.taken = set()
        self.problems = []

    def take(self, name, shape):
        """Returns a tensor; zeros if it is missing or has another shape, which is recorded as a problem.

        Args:
            name: str.
            shape: sequence of int, what it has to be.

        Returns:
            float32 array of this shape.
        """
        self.taken.add(name)
        shape = tuple(shape)
        if name not in self.state_dict:
            self.problems.append(f"{name} is missing, the model needs it with shape {shape}")
        elif np.shape(self.state_dict[name]) != shape:
            found = tuple(np.shape(self.state_dict[name]))
            self.problems.append(f"{name} has shape {found}, the model needs {shape}")
        else:
            return np.asarray(self.state_dict[name], "float32")
        return np.zeros(shape, "float32")

    def take_map(self, name, channels, grid, leading=0, channels_first=False):
        """Returns positions of tokens, interpolated where the map of tokens has another size.

        Args:
            name: str, a tensor (1, tokens, channels), or (1, channels, height, width).
            channels: int.
            grid: (height, width) of the model's map of tokens.
            leading: int, tokens in front of those of the map, which stay as they are.
            channels_first: bool, whether the tensor is of the second form, which has no such tokens.

        Returns:
            float32 array (tokens, channels).
        """

        def shape_of(sides):
            return (1, channels, *sides) if channels_first else (1, leading + math.prod(sides), channels)

        old = self._grid_of(name, shape_of, grid)
        values = self.take(name, shape_of(old))[0]
        values = values.reshape(channels, -1).T if channels_first else values
        if old == tuple(grid):
            return values
        maps = interpolate(values[leading:].reshape(*old, channels), grid, self.interpolation)
        return np.concatenate([values[:leading], maps.reshape(-1, channels).astype("float32")])

    def take_offsets(self, name, heads, grid):
        """Returns a table of the distances of two tokens, interpolated where their map has another size.

        Args:
            name: str, a tensor (heads, height * width).
            heads: int.
            grid: (height, width) of the model's map of tokens.

        Returns:
            float32 array (heads, height * width) of that map.
        """

        def shape_of(sides):
            return heads, math.prod(sides)

        old = self._grid_of(name, shape_of, grid)
        table = self.take(name, shape_of(old))
        if old == tuple(grid):
            return table
        return interpolate_offsets(table, old, grid, self.interpolation).astype("float32")

    def _grid_of(self, name, shape_of, grid):
        """`self.grid` if a tensor is for that, else the model's."""
        found = np.shape(self.state_dict.get(name))
        return self.grid if self.grid and found == shape_of(self.grid) else tuple(grid)

    def ignore(self, name):
        """Marks a tensor as known but not needed: it has no influence on the outputs.

        Args:
            name: str.
        """
        self.taken.add(name)

    def finish(self):
        """Checks that all tensors fitted and were used.

        Raises:
            ValueError: a tensor was missing, had another shape or is left over; the message names them.
        """
        for name, tensor in self.state_dict.items():
            if name not in self.taken and not name.endswith("num_batches_tracked"):
                self.problems.append(f"{name} with shape {tuple(np.shape(tensor))} has no place in the model")
        if self.problems:
            raise InputError(f"the weights do not fit the model: {listed(self.problems)}")


def convolution(layer, tensors, name):
    """`Conv2D` from `nn.Conv2d`: (out, in, height, width) to (height, width, in, out).

    Args:
        layer: `keras.layers.Conv2D`.
        tensors: `Tensors`.
        name: str, the authors' module.
    """
    height, width, inputs, outputs = layer.kernel.shape
    kernel = tensors.take(f"{name}.weight", (outputs, inputs, height, width)).transpose(2, 3, 1, 0)
    layer.set_weights([kernel, tensors.take(f"{name}.bias", (outputs,))] if layer.use_bias else [kernel])


def depthwise(layer, tensors, name):
    """`DepthwiseConv2D` from a grouped `nn.Conv2d`: (in * m, 1, height, width) to (height, width, in, m).

    Args:
        layer: `keras.layers.DepthwiseConv2D`.
        tensors: `Tensors`.
        name: str, the authors' module.
    """
    height, width, inputs, multiplier = layer.kernel.shape
    kernel = tensors.take(f"{name}.weight", (inputs * multiplier, 1, height, width))
    kernel = kernel.reshape(inputs, multiplier, height, width).transpose(2, 3, 0, 1)
    bias = [tensors.take(f"{name}.bias", (inputs * multiplier,))] if layer.use_bias else []
    layer.set_weights([kernel, *bias])


def dense(layer, tensors, name):
    """`Dense` from `nn.Linear` or a convolution of size 1: (out, in, [1, 1]) to (in, out).

    Args:
        layer: `keras.layers.Dense`.
        tensors: `Tensors`.
        name: str, the authors' module.
    """
    inputs, outputs = layer.kernel.shape
    kernel = _matrix(tensors, f"{name}.weight", outputs, inputs)
    layer.set_weights([kernel, tensors.take(f"{name}.bias", (outputs,))] if layer.use_bias else [kernel])


def _matrix(tensors, name, outputs, inputs):
    """(in, out) from a tensor (out, in) with further axes of size 1."""
    ones = (1,) * (np.ndim(tensors.state_dict.get(name, np.zeros((1, 1)))) - 2)
    return tensors.take(name, (outputs, inputs, *ones)).reshape(outputs, inputs).T


def fused_dense(layers, tensors, name, separator="."):
    """Several `Dense` layers of one input from one `nn.Linear` that gives their outputs in turn.

    Args:
        layers: list of `keras.layers.Dense`.
        tensors: `Tensors`.
        name: str, the authors' module.
        separator: str, between that and the names of its tensors.
    """
    sizes = [layer.kernel.shape[-1] for layer in layers]
    inputs, cuts = layers[0].kernel.shape[0], np.cumsum(sizes)[:-1]
    parts = [np.split(_matrix(tensors, f"{name}{separator}weight", sum(sizes), inputs), cuts, axis=1)]
    if layers[0].use_bias:
        parts.append(np.split(tensors.take(f"{name}{separator}bias", (sum(sizes),)), cuts))
    for layer, *weights in zip(layers, *parts, strict=True):
        layer.set_weights(weights)


def patches(layer, tensors, name, channels_first=False):
    """`Conv2D` of patches from `nn.Linear` on flattened patches.

    Args:
        layer: `keras.layers.Conv2D`.
        tensors: `Tensors`.
        name: str, the authors' module.
        channels_first: bool, whether a flattened patch is (channel, row, column), not (row, column, channel).
    """
    size, _, channels, outputs = layer.kernel.shape
    kernel = tensors.take(f"{name}.weight", (outputs, size * size * channels)).T
    if channels_first:
        kernel = kernel.reshape(channels, size, size, outputs).transpose(1, 2, 0, 3)
    layer.set_weights([kernel.reshape(layer.kernel.shape), tensors.take(f"{name}.bias", (outputs,))])


def embedding(layer, tensors, name):
    """A layer with one weight of the shape of the authors' tensor, less its axis for the batch.

    Args:
        layer: `keras.layers.Layer`.
        tensors: `Tensors`.
        name: str, the authors' tensor.
    """
    (weight,) = layer.weights
    layer.set_weights([tensors.take(name, (1, *weight.shape)).reshape(weight.shape)])


def positions(layer, tensors, name, grid, leading=0, channels_first=False):
    """`PositionEmbedding` from a tensor of the authors, for images of any size.

    Args:
        layer: `PositionEmbedding`.
        tensors: `Tensors`.
        name: str, the authors' tensor (1, tokens, dim), or (1, dim, height, width).
        grid: (height, width) of the map of tokens.
        leading: int, class tokens in front of it.
        channels_first: bool, whether the tensor is of the second form.
    """
    dim = layer.position.shape[-1]
    layer.set_weights([tensors.take_map(name, dim, grid, leading, channels_first)])


def offsets(layer, tensors, name):
    """The biases of `GridAttention` from a tensor of the authors, for images of any size.

    Args:
        layer: `GridAttention`.
        tensors: `Tensors`.
        name: str, the authors' tensor (heads, height * width).
    """
    layer.set_weights([tensors.take_offsets(name, layer.num_heads, layer.grid)])


def normalization(layer, tensors, name):
    """`LayerNormalization` or `BatchNormalization` from its namesake, statistics included.

    Args:
        layer: `keras.layers.LayerNormalization` or `keras.layers.BatchNormalization`.
        tensors: `Tensors`.
        name: str, the authors' module.
    """
    shape = layer.gamma.shape
    suffixes = ["weight", "bias"] + (["running_mean", "running_var"] if len(layer.weights) == 4 else [])
    layer.set_weights([tensors.take(f"{name}.{suffix}", shape) for suffix in suffixes])


def normalized_convolution(model, tensors, layer, convolution_name, normalization_name):
    """A convolution, depthwise or not, and the batch normalization behind it.

    Args:
        model: `keras.Model`.
        tensors: `Tensors`.
        layer: str, the name of our convolution; that of its normalization ends with `_norm`.
        convolution_name: str, the authors' module.
        normalization_name: str, the authors' module.
    """
    ours = model.get_layer(layer)
    reader = depthwise if isinstance(ours, keras.layers.DepthwiseConv2D) else convolution
    reader(ours, tensors, convolution_name)
    normalization(model.get_layer(f"{layer}_norm"), tensors, normalization_name)

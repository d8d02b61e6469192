"""`keras.ops.image.extract_patches` as a convolution."""

import math

import numpy as np
from keras import layers, ops

# The classes behind `keras.ops` have no public names.
from keras.src.ops.image import ExtractPatches
from keras.src.ops.numpy import Reshape

from hsvit_keras.compression.opening.openings import Opening

# Arguments of a Dense layer that a convolution has, too.
_CARRIED = (
    "activation", "activity_regularizer", "bias_constraint", "bias_initializer", "bias_regularizer",
    "dtype", "kernel_initializer", "kernel_regularizer", "name", "use_bias",
)  # fmt: skip


def openings_of_patches(graph):
    """How the patches that a graph extracts are opened.

    Args:
        graph: `Graph`.

    Returns:
        list of `Opening`, one for each operation that can be opened.
    """
    return [
        _projected(graph, operation) or _copied(graph, operation)
        for operation in graph.operations
        if isinstance(operation, ExtractPatches) and _is_plain(graph, operation)
    ]


def _is_plain(graph, extraction):
    """Whether patches are extracted from maps `(batch, height, width, channels)` of floats."""
    maps = graph.arguments(extraction)
    is_2d = not extraction.is_3d and extraction.data_format == "channels_last"
    return is_2d and all(len(x.shape) == 4 and "float" in x.dtype and None not in x.shape[1:] for x in maps)


def _copied(graph, extraction):
    """By a convolution that copies pixels."""
    maps = graph.arguments(extraction)[0]
    features = math.prod(extraction.size) * maps.shape[-1]
    convolution = _convolution(
        extraction, filters=features, use_bias=False, name=extraction.name, dtype=maps.dtype
    )
    convolution.build(maps.shape)
    convolution.set_weights([np.eye(features).reshape(convolution.kernel.shape)])
    return Opening({}, {graph.path(extraction): convolution}, {convolution: False})


def _projected(graph, extraction):
    """By a convolution with the weights of the Dense layer that reads the patches; None if there is none."""
    reader = _only_reader(graph, extraction)
    reshape = reader if isinstance(reader, layers.Reshape | Reshape) else None
    dense = _only_reader(graph, reshape) if reshape else reader
    if type(dense) is not layers.Dense or dense.kernel_constraint:
        return None
    maps, tokens = graph.arguments(extraction)[0], graph.arguments(dense)[0]
    if not _holds_whole_patches(graph.arguments(dense), extraction.output.shape[1:]):
        return None
    kernel, *bias = (
        ops.convert_to_numpy(weight) for weight in (dense.kernel, dense.bias) if weight is not None
    )
    weights = [kernel.reshape(*extraction.size, maps.shape[-1], dense.units), *bias]
    config = {argument: value for argument, value in dense.get_config().items() if argument in _CARRIED}
    convolution = _convolution(extraction, filters=dense.units, **config)
    replacements = {graph.path(dense): (convolution, weights)}
    calls = {graph.path(extraction): convolution, graph.path(dense): lambda tokens: tokens}
    if reshape:
        shape = (*tokens.shape[1:-1], dense.units)
        projected = layers.Reshape(shape, name=reshape.name, dtype=dense.dtype_policy)
        replacements[graph.path(reshape)] = (projected, [])
        calls[graph.path(reshape)] = projected
    return Opening(replacements, calls, {})


def _only_reader(graph, operation):
    """The one operation that reads another, in the same model, and reads nothing else; or None."""
    readers = set(graph.consumers(operation))
    if len(readers) != 1 or graph.is_output(operation):
        return None
    (reader,) = readers
    is_near = _model_path(graph, reader) == _model_path(graph, operation)
    return reader if is_near and set(graph.producers(reader)) == {operation} else None


def _model_path(graph, operation):
    return graph.path(operation).rpartition("/")[0]


def _holds_whole_patches(tensors, patches):
    """Whether all `tensors` have one shape, with the last axis of the patches and none of another image."""
    shapes = {tensor.shape[1:] for tensor in tensors}
    return (
        len(shapes) == 1
        and all(None not in shape for shape in shapes)
        and all(shape[-1] == patches[-1] and math.prod(shape) == math.prod(patches) for shape in shapes)
    )


def _convolution(extraction, **arguments):
    """A convolution over the windows of the patches."""
    return layers.Conv2D(
        kernel_size=extraction.size,
        strides=extraction.strides,
        padding=extraction.padding,
        dilation_rate=extraction.dilation_rate,
        **arguments,
    )

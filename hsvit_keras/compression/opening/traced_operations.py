"""The operations of a trace as layers that passes know, or as operations for a batch of any size."""

import math

import keras
import numpy as np
from keras import layers, tree

# The classes behind `keras.ops` have no public names.
from keras.src.ops.core import Cast
from keras.src.ops.nn import Relu, Relu6
from keras.src.ops.numpy import Add, BroadcastTo, Multiply, Reshape, Subtract, Take, Tile, Transpose

from hsvit_keras.compression.opening.openings import Opening
from hsvit_keras.compression.opening.tracing import BATCH, NotPlainError, has_batch, node_of
from hsvit_keras.layers import ForEachSample

_LARGEST = {Relu: None, Relu6: 6.0}  # of a ReLU
_MERGING = {Add: layers.Add, Multiply: layers.Multiply, Subtract: layers.Subtract}


def openings_of_traced_operations(graph):
    """How the operations of a trace are opened.

    Args:
        graph: `Graph` of a trace.

    Returns:
        list of `Opening`, one for each operation, so that a copy shares none with the trace.

    Raises:
        NotPlainError: an operation would compute something else for another batch, or could not be saved.
    """
    operations = [operation for operation in graph.operations if not isinstance(operation, keras.Layer)]
    return [
        Opening({}, {graph.path(operation): _opened(operation, graph.calls(operation)[0])}, {})
        for operation in operations
    ]


def _opened(operation, call):
    """What is called in place of an operation."""
    _check_values(call.args, call.kwargs)
    inputs, output = call.tensors, operation.output
    if not isinstance(output, keras.KerasTensor):  # several of them
        return _copy(operation)
    is_float = "float" in output.dtype
    if isinstance(operation, Take) and _takes_all(operation, call):
        reshape = Reshape(output.shape, name=operation.name)
        return lambda rows, indices: reshape(rows)
    if isinstance(operation, Cast) and inputs[0].dtype == output.dtype:
        return lambda tensor: tensor
    if isinstance(operation, Reshape):
        if is_float and _keeps_batch(inputs[0].shape, output.shape):
            return layers.Reshape(output.shape[1:], name=operation.name, dtype=output.dtype)
        return _copy(operation, newshape=_free(output.shape))
    if isinstance(operation, Tile | BroadcastTo) and BATCH in output.shape:
        return _repeated(operation, inputs[0].shape, output.shape)
    if isinstance(operation, Transpose) and is_float and operation.axes and operation.axes[0] == 0:
        return layers.Permute(operation.axes[1:], name=operation.name, dtype=output.dtype)
    if type(operation) in _LARGEST and is_float:
        return layers.ReLU(_LARGEST[type(operation)], name=operation.name, dtype=output.dtype)
    if type(operation) in _MERGING and is_float and _are_alike(call):
        merge = _MERGING[type(operation)](name=operation.name, dtype=output.dtype)
        return lambda *tensors: merge(tensors)
    return _copy(operation)


def _takes_all(operation, call):
    """Whether rows are looked up by all their numbers in order, as those of an embedding of positions are."""
    rows, *indices = tree.flatten(call.args)
    is_known = operation.axis == 0 and len(call.tensors) == len(indices) == 1
    return is_known and np.array_equal(np.ravel(indices[0]), np.arange(rows.shape[0]))


def _keeps_batch(before, after):
    """Whether a reshape is one of each sample."""
    sizes = (*before[1:], *after[1:])
    is_same = before[0] == after[0] == BATCH and None not in sizes
    return is_same and math.prod(before[1:]) == math.prod(after[1:])


def _free(shape):
    """A shape as the argument of a reshape, for a batch of any size."""
    if sum(map(has_batch, shape)) > 1 or None in shape:
        raise NotPlainError(f"it reshapes to {shape}, which is not one shape for each size of the batch")
    return tuple(-1 if has_batch(size) else size for size in shape)


def _repeated(operation, before, after):
    """A weight repeated for each sample, by a layer that is told the number of samples."""
    if tuple(after) != (BATCH, *before[1:]) or before[0] != 1:
        raise NotPlainError(f"it repeats a tensor of shape {before} for the batch to {after}")
    repeat = ForEachSample(name=operation.name, dtype=operation.output.dtype)
    return lambda tensor: repeat(tensor, _source(tensor))


def _source(tensor):
    """The first input of its graph that a tensor is computed from."""
    node = node_of(tensor)
    return tensor if node.is_input else _source(node.input_tensors[0])


def _are_alike(call):
    """Whether an operation reads two tensors of as many axes and one dtype, and nothing else."""
    kinds = {(len(tensor.shape), tensor.dtype) for tensor in call.tensors}
    return len(kinds) == 1 and len(call.tensors) == 2 and not call.kwargs


def _copy(operation, **changed):
    try:
        config = {**operation.get_config(), **changed}
    except NotImplementedError as error:
        raise NotPlainError(f"its operation {operation.name!r} could not be saved") from error
    _check_values(config)
    copy = type(operation).from_config(config)
    copy.name = operation.name
    return copy


def _check_values(*values):
    """Raises `NotPlainError` if a value is a variable, or was computed with the size of the batch."""
    for value in tree.flatten(values):
        if isinstance(value, keras.KerasTensor):
            continue
        if isinstance(value, keras.Variable):
            raise NotPlainError(f"its code reads {value.name!r}, a weight of another layer")
        if any(map(has_batch, (value, *np.shape(value)))):
            raise NotPlainError("its code computes with the size of the batch")

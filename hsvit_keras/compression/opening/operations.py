"""Plain operations, such as `x + y` or `ops.reshape(x, shape)`, as layers that compute the same."""

import math
import numbers

import keras
import numpy as np
from keras import layers

# The classes behind `keras.ops` have no public names.
from keras.src.ops import nn
from keras.src.ops import numpy as operations

from hsvit_keras.compression.opening.openings import Opening


def openings_of_operations(graph):
    """How the operations of a graph that are not layers are opened.

    Args:
        graph: `Graph`.

    Returns:
        list of `Opening`, one for each operation that a layer can stand for.
    """
    found = [
        _opening(graph, operation) for operation in graph.operations if not isinstance(operation, keras.Layer)
    ]
    return [opening for opening in found if opening]


def _opening(graph, operation):
    make, call = _LAYERS.get(type(operation)), graph.calls(operation)[0]
    dtypes = {tensor.dtype for tensor in call.tensors}
    if make is None or len(dtypes) != 1 or "float" not in min(dtypes):
        return None
    layer = make(operation, call, {"name": operation.name, "dtype": min(dtypes)})
    if layer is None:
        return None

    def read(*args, **kwargs):
        tensors = [x for x in keras.tree.flatten((args, kwargs)) if isinstance(x, keras.KerasTensor)]
        return layer(tensors if len(call.tensors) > 1 else tensors[0])

    return Opening({}, {graph.path(operation): read}, {})


# Each of these takes an operation, one of its calls, and the name and dtype of the layer. It returns a layer
# that reads the tensors of the call, or None if there is none.


def _merging(layer_class, scale_and_offset):
    """Of two operands: a layer that merges tensors, or scales and shifts the one by the other, a constant."""

    def make(operation, call, named):
        first, second = (*call.args, *call.kwargs.values())
        if isinstance(first, keras.KerasTensor) and isinstance(second, keras.KerasTensor):
            return layer_class(**named) if layer_class and len(first.shape) == len(second.shape) else None
        is_first = isinstance(first, keras.KerasTensor)
        tensor, constant = (first, second) if is_first else (second, first)
        if not _is_channelwise(constant, tensor):
            return None
        found = scale_and_offset(np.asarray(constant, "float64"), is_first)
        return layers.Rescaling(*(values.tolist() for values in found), **named) if found else None

    return make


def _is_channelwise(constant, tensor):
    """Whether a constant is a number, or has one for each entry of the last axis."""
    if isinstance(constant, numbers.Number):
        return True
    return isinstance(constant, np.ndarray) and constant.shape in ((), tensor.shape[-1:])


def _add(constant, is_first):
    return np.float64(1), constant


def _subtract(constant, is_first):
    return (np.float64(1), -constant) if is_first else (np.float64(-1), constant)


def _multiply(constant, is_first):
    return constant, np.float64(0)


def _divide(constant, is_first):
    return (1 / constant, np.float64(0)) if is_first and constant.all() else None


def _no_layer(constant, is_first):
    return None


def _negative(operation, call, named):
    return layers.Rescaling(-1.0, **named)


def _of_one(make):
    """Of one operand: `make` takes the operation and gives the class of the layer and its arguments."""

    def made(operation, call, named):
        layer_class, arguments = make(operation)
        return layer_class(**arguments, **named)

    return made


def _activation(name):
    return _of_one(lambda operation: (layers.Activation, {"activation": name}))


def _gelu(operation, call, named):
    return None if operation.approximate else layers.Activation("gelu", **named)


def _reshape(operation, call, named):
    """Also axes of size 1 that come and go. The batch stays what it is."""
    (given,), new = call.tensors, operation.compute_output_spec(*call.args, **call.kwargs)
    sizes = given.shape[1:], new.shape[1:]
    if None in (*sizes[0], *sizes[1]) or math.prod(sizes[0]) != math.prod(sizes[1]):
        return None
    return layers.Reshape(sizes[1], **named)


def _permute(operation, call, named):
    rank = len(call.tensors[0].shape)
    axes = _axes(operation, rank)
    return layers.Permute(axes[1:], **named) if axes[0] == 0 and rank > 2 else None


def _axes(operation, rank):
    """The axis of the input that each axis of the output is."""
    axes = list(range(rank))
    if isinstance(operation, operations.Transpose):
        return [axis % rank for axis in operation.axes or axes[::-1]]
    return np.swapaxes(np.empty(axes), operation.axis1, operation.axis2).shape


def _concatenate(operation, call, named):
    rank = len(call.tensors[0].shape)
    is_plain = len(call.tensors) > 1 and operation.axis % rank
    return layers.Concatenate(operation.axis, **named) if is_plain else None


def _reduction(of_maps, of_tokens):
    """A reduction over all positions of maps `(batch, height, width, channels)` or of tokens."""

    def make(operation, call, named):
        (tensor,) = call.tensors
        axes = [operation.axis] if isinstance(operation.axis, int) else operation.axis or []
        found = sorted(axis % len(tensor.shape) for axis in axes)
        if getattr(operation, "initial", None) is not None:
            return None
        pooling = {(4, (1, 2)): of_maps, (3, (1,)): of_tokens}.get((len(tensor.shape), tuple(found)))
        options = {"keepdims": bool(operation.keepdims), "data_format": "channels_last"}
        return pooling(**options, **named) if pooling else None

    return make


_LAYERS = {
    operations.Add: _merging(layers.Add, _add),
    operations.Concatenate: _concatenate,
    operations.Divide: _merging(None, _divide),
    operations.ExpandDims: _reshape,
    operations.Max: _reduction(layers.GlobalMaxPooling2D, layers.GlobalMaxPooling1D),
    operations.Maximum: _merging(layers.Maximum, _no_layer),
    operations.Mean: _reduction(layers.GlobalAveragePooling2D, layers.GlobalAveragePooling1D),
    operations.Minimum: _merging(layers.Minimum, _no_layer),
    operations.Multiply: _merging(layers.Multiply, _multiply),
    operations.Negative: _negative,
    operations.Reshape: _reshape,
    operations.Squeeze: _reshape,
    operations.Subtract: _merging(layers.Subtract, _subtract),
    operations.Swapaxes: _permute,
    operations.Tanh: _activation("tanh"),
    operations.Transpose: _permute,
    operations.TrueDivide: _merging(None, _divide),
    nn.Elu: _of_one(lambda operation: (layers.ELU, {"alpha": operation.alpha})),
    nn.Gelu: _gelu,
    nn.HardSigmoid: _activation("hard_sigmoid"),
    nn.HardSilu: _activation("hard_silu"),
    nn.LeakyRelu: _of_one(lambda operation: (layers.LeakyReLU, {"negative_slope": operation.negative_slope})),
    nn.Relu: _of_one(lambda operation: (layers.ReLU, {})),
    nn.Relu6: _of_one(lambda operation: (layers.ReLU, {"max_value": 6.0})),
    nn.Sigmoid: _activation("sigmoid"),
    nn.Silu: _activation("silu"),
    nn.Softmax: _of_one(lambda operation: (layers.Softmax, {"axis": operation.axis})),
}  # fmt: skip

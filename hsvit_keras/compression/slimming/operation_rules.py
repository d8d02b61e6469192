"""Rules, as in `layer_rules`, for operations such as `x + y`, which are no layers."""

import keras
import numpy as np

# The classes behind `keras.ops` have no public names.
from keras.src.ops import nn, numpy

from hsvit_keras.compression.slimming.cuts import AxisParts, InseparableError, cut
from hsvit_keras.compression.slimming.layer_rules import (
    concatenation,
    elementwise,
    merged,
    rearrangement,
    summed,
)


def _with_constants(rule):
    """A rule for operations of several values, some of them constants: one value for all features."""

    def with_constants(operation, incoming):
        call = operation._inbound_nodes[0].arguments
        ranks = {len(tensor.shape) for tensor in call.keras_tensors}
        values = keras.tree.flatten((call.args, call.kwargs))
        shapes = [np.shape(value) for value in values if not isinstance(value, keras.KerasTensor)]
        axis = next(filter(None, incoming)).axis - max(ranks)  # from the end
        if len(ranks) > 1 or any(len(shape) >= -axis and shape[axis] != 1 for shape in shapes):
            raise InseparableError(operation)
        return rule(operation, incoming)

    return with_constants


def _reduction(operation, incoming):
    """Other axes are reduced than that of the features."""
    (features,) = incoming
    rank = len(operation.input.shape)
    axes = range(rank) if operation.axis is None else (np.atleast_1d(operation.axis) % rank).tolist()
    if features.axis in axes or 0 in axes:
        raise InseparableError(operation)
    removed = 0 if operation.keepdims else sum(axis < features.axis for axis in axes)
    return cut(operation, output=AxisParts(features.axis - removed, features.parts))


def _transposition(operation, incoming):
    if operation.axes is None or operation.axes[0] != 0:
        raise InseparableError(operation)
    return rearrangement(operation, incoming)


OPERATION_RULES = {
    **dict.fromkeys(
        (
            nn.Celu, nn.Elu, nn.Gelu, nn.HardSigmoid, nn.HardSilu, nn.HardTanh, nn.LeakyRelu, nn.LogSigmoid,
            nn.Relu, nn.Relu6, nn.Selu, nn.Sigmoid, nn.Silu, nn.Softplus, nn.Softsign, numpy.Abs,
            numpy.Absolute, numpy.Exp, numpy.Log, numpy.Negative, numpy.Sqrt, numpy.Square, numpy.Tanh,
        ),
        elementwise,
    ),
    **dict.fromkeys((numpy.Divide, numpy.Multiply, numpy.TrueDivide), _with_constants(merged)),
    **dict.fromkeys((numpy.Add, numpy.Maximum, numpy.Minimum, numpy.Subtract), _with_constants(summed)),
    **dict.fromkeys((numpy.Amax, numpy.Amin, numpy.Max, numpy.Mean, numpy.Min, numpy.Sum), _reduction),
    **dict.fromkeys((numpy.ExpandDims, numpy.Reshape, numpy.Squeeze), rearrangement),
    numpy.Concatenate: concatenation,
    numpy.Transpose: _transposition,
}  # fmt: skip

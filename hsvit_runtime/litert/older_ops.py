"""Writes a file in the ops that the XNNPACK delegate of TensorFlow Lite 2.16 runs, see xnnpack_2_16.py.

That delegate has no RSQRT, GELU and SUM, means over height and width alone, and no product of floats and an
8-bit kernel: each such op ends a partition. What stands in their places computes the same:

- the mean of the last axes is a FULLY_CONNECTED with a constant row, that of others is one over the width;
- 1 / sqrt(x) are two ops, SQRT and DIV. In a graph of TensorFlow the converter would join them again;
- GELU is x sigmoid(x P(x^2)); P approximates the logit of the normal distribution to 7e-7 of GELU;
- 8-bit kernels are converted to floats when the file is loaded, see eight_bit_kernels.py.

Products of two computed tensors, BATCH_MATMUL, stay.
"""

import itertools
import math

from hsvit_runtime.litert import eight_bit_kernels
from hsvit_runtime.litert.graph_writer import GraphWriter

# P(s) with the rising powers of s = min(x^2, 5.5^2): minimax of x (sigmoid(x P(x^2)) - Phi(x)).
_NORMAL_LOGIT = (
    1.5957458637599995, 0.0727298307834553, -0.00011470896113158926, -9.479676476162911e-05,
    5.62501480091154e-06, -1.1422007410134315e-07,
)  # fmt: skip
_LARGEST_SQUARE = 5.5**2
# GELU by tanh is x sigmoid(2 sqrt(2 / pi) (x + 0.044715 x^3)).
_TANH_LOGIT = (2 * math.sqrt(2 / math.pi), 2 * math.sqrt(2 / math.pi) * 0.044715)
_KERNELS = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")


def replace(content):
    """Writes a file in older ops.

    Args:
        content: bytes of a `.tflite` file.

    Returns:
        bytes of a file with the same outputs, up to rounding; `content` itself if it has no such op.
    """
    from ai_edge_litert.tools import flatbuffer_utils

    content = eight_bit_kernels.unpack(content, _KERNELS)
    model = flatbuffer_utils.read_model_from_bytearray(content)
    added = [GraphWriter(model, graph).rewrite(_REPLACEMENTS) for graph in model.subgraphs]
    return bytes(flatbuffer_utils.convert_object_to_bytearray(model)) if any(added) else content


def _root_and_division(writer, op):
    x, output = op.inputs[0], op.outputs[0]
    if not writer.has_dtype(x, "float32"):
        return False
    root = writer.op("SQRT", [x], writer.tensor(writer.shape(output) or (), output))
    writer.op("DIV", [writer.constant(1.0), root], output, "DivOptions")
    return True


def _gelu(writer, op):
    x, output = op.inputs[0], op.outputs[0]
    shape = writer.shape(x)
    if shape is None or not writer.has_dtype(x, "float32"):
        return False

    def made(kind, *inputs, options=None):
        return writer.op(kind, inputs, writer.tensor(shape, output), options)

    def times(a, b):
        return made("MUL", a, b, options="MulOptions")

    is_exact = op.builtinOptions is None or not op.builtinOptions.approximate
    lowest, *rising = _NORMAL_LOGIT if is_exact else _TANH_LOGIT
    square = made("SQUARE", x)
    if is_exact:
        square = made("MINIMUM", square, writer.constant(_LARGEST_SQUARE))
    logit = times(square, writer.constant(rising.pop()))
    for factor in (*reversed(rising), lowest):
        logit = made("ADD", logit, writer.constant(factor), options="AddOptions")
        logit = times(logit, square if factor is not lowest else x)
    writer.op("MUL", [x, made("LOGISTIC", logit)], output, "MulOptions")
    return True


def _mean(writer, op):
    return _reduced(writer, op, is_mean=True)


def _sum(writer, op):
    return _reduced(writer, op, is_mean=False)


def _reduced(writer, op, is_mean):
    """A mean or a sum, one run of neighbouring axes after the other, the last first."""
    x, output = op.inputs[0], op.outputs[0]
    shape, axes = writer.shape(x), writer.values(op.inputs[1])
    if not shape or not axes or 0 in shape or not writer.shape(output):
        return False
    is_float, last = writer.has_dtype(x, "float32"), len(shape) - 1
    axes = sorted({axis % len(shape) for axis in axes})
    if (is_mean and len(shape) == 4 and axes in ([1, 2], [2])) or not (
        is_float or (is_mean and last not in axes and writer.has_dtype(x, "int8"))
    ):
        return False
    for first, behind in reversed(_runs(axes)):
        count, rest = math.prod(shape[first:behind]), shape[behind:]
        lines = math.prod(shape[:first])
        if rest:
            x = _reshaped(writer, x, (lines, 1, count, math.prod(rest)))
            x = _mean_over_width(writer, x, (lines, 1, 1, math.prod(rest)), output)
            if not is_mean:
                made = writer.tensor((lines, 1, 1, math.prod(rest)), output)
                x = writer.op("MUL", [x, writer.constant(float(count))], made, "MulOptions")
        else:
            x = _reshaped(writer, x, (lines, count))
            row = writer.constant([[1 / count if is_mean else 1.0] * count])
            made = writer.tensor((lines, 1), output)
            x = writer.op("FULLY_CONNECTED", [x, row, -1], made, "FullyConnectedOptions", version=6)
        shape = (*shape[:first], *(1 for _ in range(first, behind)), *rest)
    sizes = writer.constant(writer.shape(output), "int32")
    writer.op("RESHAPE", [x, sizes], output, "ReshapeOptions")
    return True


def _mean_over_width(writer, x, shape, like):
    axis, version = writer.constant([2], "int32"), 1 if writer.has_dtype(x, "float32") else 2
    made = writer.tensor(shape, like)
    return writer.op("MEAN", [x, axis], made, "ReducerOptions", version=version, keepDims=True)


def _reshaped(writer, x, shape):
    if writer.shape(x) == shape:
        return x
    return writer.op(
        "RESHAPE", [x, writer.constant(shape, "int32")], writer.tensor(shape, x), "ReshapeOptions"
    )


def _runs(axes):
    """Neighbouring axes as pairs (first, behind the last): [0, 2, 3] to [(0, 1), (2, 4)]."""
    runs = [list(run) for _, run in itertools.groupby(enumerate(axes), lambda pair: pair[1] - pair[0])]
    return [(run[0][1], run[-1][1] + 1) for run in runs]


_REPLACEMENTS = {"GELU": _gelu, "MEAN": _mean, "RSQRT": _root_and_division, "SUM": _sum}

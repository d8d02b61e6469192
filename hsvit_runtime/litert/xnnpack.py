"""Reasons why the XNNPACK delegate does not run an op.

LiteRT does not report reasons, so they come from rules: the conditions that XNNPACK documents and checks. The
tests compare each rule with LiteRT. Use the rules only for ops that were observed not to be delegated, since
a newer LiteRT may delegate more ops.
"""

import numpy as np

_FLOAT_OR_INT8 = """
    ADD BATCH_MATMUL CONCATENATION CONV_2D DEPTHWISE_CONV_2D DEPTH_TO_SPACE DEQUANTIZE ELU FULLY_CONNECTED
    LEAKY_RELU LOGISTIC MAX_POOL_2D MEAN MUL PAD QUANTIZE REDUCE_MAX REDUCE_MIN RESHAPE RESIZE_BILINEAR SLICE
    SPACE_TO_DEPTH SPLIT STRIDED_SLICE SUB SUM TANH TRANSPOSE TRANSPOSE_CONV"""
_FLOAT_ONLY = """
    ABS AVERAGE_POOL_2D CEIL COS DIV EXP FLOOR GELU HARD_SWISH LOG MAXIMUM MINIMUM NEG PRELU RELU RELU6
    RELU_N1_TO_1 ROUND RSQRT SIN SOFTMAX SQRT SQUARE SQUARED_DIFFERENCE"""
_QUANTIZED = frozenset(["int8", "uint8"])
_DTYPES = dict.fromkeys(_FLOAT_OR_INT8.split(), _QUANTIZED | {"float32"})
_DTYPES |= dict.fromkeys(_FLOAT_ONLY.split(), frozenset(["float32"]))
NO_ELEMENTS = "a tensor without elements"
SLICE_TO_THE_END = "its size is -1 (to the end) instead of a number"
# Kernels and parameters: the indices of inputs that have to be constants.
_CONSTANTS = {
    "CONV_2D": {1: "kernel", 2: "bias"},
    "DEPTHWISE_CONV_2D": {1: "kernel", 2: "bias"},
    "FULLY_CONNECTED": {1: "kernel", 2: "bias"},
    "MEAN": {1: "list of axes"},
    "PAD": {1: "padding"},
    "REDUCE_MAX": {1: "list of axes"},
    "REDUCE_MIN": {1: "list of axes"},
    "RESHAPE": {1: "new shape"},
    "RESIZE_BILINEAR": {1: "new size"},
    "SLICE": {1: "begin", 2: "size"},
    "SPLIT": {0: "axis"},
    "STRIDED_SLICE": {1: "begin", 2: "end", 3: "strides"},
    "SUM": {1: "list of axes"},
    "TRANSPOSE": {1: "permutation"},
    "TRANSPOSE_CONV": {0: "output size", 1: "kernel", 3: "bias"},
}


def reason(op):
    """Why the delegate does not run an op, in a few words; None if no rule applies.

    Args:
        op: `tflite_file.Op` of a file that LiteRT could load.
    """
    if op.custom:
        return "a custom op"
    if op.kind not in _DTYPES:
        return "XNNPACK has no such op"
    rules = (_types, _constants, _activation, _shapes, _RULES.get(op.kind, lambda op: None))
    return next((why for why in (rule(op) for rule in rules) if why), None)


# ---- rules for all ops -----------------------------------------------------------------------------
def _values(op):
    """The inputs and outputs of an op without kernels and parameters."""
    constants = _CONSTANTS.get(op.kind, ())
    inputs = [tensor for i, tensor in enumerate(op.inputs) if i not in constants and tensor is not None]
    return inputs + op.outputs


def _types(op):
    if op.kind == "DEQUANTIZE" and op.inputs[0].data is not None:
        return "it converts a constant for an op that is not delegated"
    for tensor in _values(op):
        if tensor.dtype not in _DTYPES[op.kind]:
            supported = "float32 and int8" if "int8" in _DTYPES[op.kind] else "float32 only"
            return f"XNNPACK supports {supported}, its type is {tensor.dtype}"
        if tensor.dtype in _QUANTIZED and not tensor.scales:
            return f"{tensor.dtype} values without a scale"
    return None


def _constants(op):
    for i, what in _CONSTANTS.get(op.kind, {}).items():
        tensor = op.inputs[i] if i < len(op.inputs) else None
        if tensor is not None and not _is_constant(tensor):
            return f"its {what} is computed at run time, XNNPACK needs a constant"
    return None


def _is_constant(tensor):
    """Whether a tensor is a constant, or converted from one, which XNNPACK does when it loads the file."""
    is_converted = tensor.source is not None and tensor.source.kind in ("DEQUANTIZE", "DENSIFY")
    return tensor.data is not None or (is_converted and _is_constant(tensor.source.inputs[0]))


def _activation(op):
    fused = {4: "TANH", 5: "SIGN_BIT"}.get(op.option("fusedActivationFunction"))
    return fused and f"a fused {fused}"


def _shapes(op):
    shapes = [tensor.shape for tensor in _values(op)]
    if any(0 in shape for shape in shapes):
        return NO_ELEMENTS
    if any(len(shape) > 6 for shape in shapes):
        return "a tensor with more than 6 dimensions"
    return None


# ---- rules for one kind of op ----------------------------------------------------------------------
def _pool(op):
    for stride, window in (("strideH", "filterHeight"), ("strideW", "filterWidth")):
        if op.option(stride) > op.option(window):
            return f"its stride {op.option(stride)} is larger than its window {op.option(window)}"
    return None


def _strided_slice(op):
    if op.option("shrinkAxisMask"):
        return "it drops an axis (shrink_axis)"
    if op.option("newAxisMask"):
        return "it adds an axis (new_axis)"
    return None if set(integers(op.inputs[3])) == {1} else "its strides are not all 1"


def _slice(op):
    return SLICE_TO_THE_END if -1 in integers(op.inputs[2]) else None


def _concatenation(op):
    return f"it has {len(op.inputs)} inputs, XNNPACK supports up to 5" if len(op.inputs) > 5 else None


def _split(op):
    return None if 2 <= len(op.outputs) <= 4 else f"it splits into {len(op.outputs)}, XNNPACK into 2 to 4"


def _softmax(op):
    return None if op.option("beta") == 1 else f"its beta is {op.option('beta'):g}, XNNPACK supports 1"


def _batch_matmul(op):
    left, right = op.inputs
    if right.dtype == "int8" and any(right.zero_points):
        return "the zero point of its int8 right operand is not 0"
    if left.dtype == right.dtype == "int8" and right.axis is not None:
        return "its int8 right operand has a scale for each channel"
    return None


def _convolution(op):
    if not op.inputs[0].shape:
        return "its input's shape is known only at run time"
    kernel, axis = op.inputs[1], 3 if op.kind == "DEPTHWISE_CONV_2D" else 0
    if kernel.axis not in (None, axis):
        return f"its kernel has scales along axis {kernel.axis} instead of {axis}"
    if op.kind == "DEPTHWISE_CONV_2D" and kernel.dtype != op.inputs[0].dtype:
        return f"its input is {op.inputs[0].dtype} and its kernel is {kernel.dtype}"
    return None


def _fully_connected(op):
    return "it is version 8, for sparse kernels" if op.version == 8 else None


def _reshape(op):
    before, after = op.inputs[0], op.outputs[0]
    same = before.scales == after.scales and before.zero_points == after.zero_points
    return None if same else "its input and output are quantized differently"


def _quantize(op):
    before, after = op.inputs[0], op.outputs[0]
    if before.dtype == "float32":
        return None
    if before.dtype != after.dtype:
        return f"from {before.dtype} to {after.dtype}"
    ratio = before.scales[0] / after.scales[0]
    return None if 1 / 256 <= ratio <= 128 else f"its scales differ by a factor of {ratio:g}"


def integers(tensor):
    """The numbers of a constant."""
    return np.frombuffer(tensor.data, tensor.dtype).tolist()


_RULES = {
    "AVERAGE_POOL_2D": _pool,
    "BATCH_MATMUL": _batch_matmul,
    "CONCATENATION": _concatenation,
    "CONV_2D": _convolution,
    "DEPTHWISE_CONV_2D": _convolution,
    "FULLY_CONNECTED": _fully_connected,
    "MAX_POOL_2D": _pool,
    "QUANTIZE": _quantize,
    "RESHAPE": _reshape,
    "SLICE": _slice,
    "SOFTMAX": _softmax,
    "SPLIT": _split,
    "STRIDED_SLICE": _strided_slice,
}

"""Why the XNNPACK delegate leaves an op to slower kernels.

The delegate does not tell, so rules say it: what it documents and checks, each held against LiteRT by the
tests. Ask only about an op that it was seen to leave; a newer LiteRT may take more than the rules know.
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
# Kernels and parameters: the inputs, by their place, that have to be constants.
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
    """Why the delegate leaves an op, in a few words; None if no rule tells.

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
    """What an op computes with and what it makes: all tensors but kernels and parameters."""
    aside = _CONSTANTS.get(op.kind, ())
    given = [tensor for place, tensor in enumerate(op.inputs) if place not in aside and tensor is not None]
    return given + op.outputs


def _types(op):
    if op.kind == "DEQUANTIZE" and op.inputs[0].data is not None:
        return "it unpacks a constant for an op that is left out"
    for tensor in _values(op):
        if tensor.dtype not in _DTYPES[op.kind]:
            known = "float32 and int8" if "int8" in _DTYPES[op.kind] else "float32 only"
            return f"XNNPACK has it for {known}, here is {tensor.dtype}"
        if tensor.dtype in _QUANTIZED and not tensor.scales:
            return f"{tensor.dtype} values without a scale"
    return None


def _constants(op):
    for place, what in _CONSTANTS.get(op.kind, {}).items():
        tensor = op.inputs[place] if place < len(op.inputs) else None
        if tensor is not None and not _is_constant(tensor):
            return f"its {what} is computed while running, XNNPACK needs a constant"
    return None


def _is_constant(tensor):
    """Also if it is unpacked from a constant: XNNPACK does that when it loads."""
    unpacked = tensor.source is not None and tensor.source.kind in ("DEQUANTIZE", "DENSIFY")
    return tensor.data is not None or (unpacked and _is_constant(tensor.source.inputs[0]))


def _activation(op):
    fused = {4: "TANH", 5: "SIGN_BIT"}.get(op.option("fusedActivationFunction"))
    return fused and f"a fused {fused}"


def _shapes(op):
    shapes = [tensor.shape for tensor in _values(op)]
    if any(0 in shape for shape in shapes):
        return "a tensor without elements"
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
    return None if set(_integers(op.inputs[3])) == {1} else "its strides are not all 1"


def _slice(op):
    return "its size says -1 (to the end) instead of a number" if -1 in _integers(op.inputs[2]) else None


def _concatenation(op):
    return f"it has {len(op.inputs)} inputs, XNNPACK takes up to 5" if len(op.inputs) > 5 else None


def _split(op):
    return None if 2 <= len(op.outputs) <= 4 else f"it splits into {len(op.outputs)}, XNNPACK into 2 to 4"


def _softmax(op):
    return None if op.option("beta") == 1 else f"its beta is {op.option('beta'):g}, XNNPACK takes 1"


def _batch_matmul(op):
    left, right = op.inputs
    if right.dtype == "int8" and any(right.zero_points):
        return "the zero point of its int8 right side is not 0"
    if left.dtype == right.dtype == "int8" and right.axis is not None:
        return "its int8 right side has a scale a channel"
    return None


def _convolution(op):
    if not op.inputs[0].shape:
        return "its input's shape is known only while running"
    kernel, axis = op.inputs[1], 3 if op.kind == "DEPTHWISE_CONV_2D" else 0
    if kernel.axis not in (None, axis):
        return f"its kernel has scales along axis {kernel.axis} instead of {axis}"
    if op.kind == "DEPTHWISE_CONV_2D" and kernel.dtype != op.inputs[0].dtype:
        return f"its values are {op.inputs[0].dtype} and its kernel {kernel.dtype}"
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


def _integers(tensor):
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

"""How an ONNX graph stores its weights: in half precision, or as 8-bit integers.

Each weight keeps its name: a node in front of the graph computes the float32 values from what is stored.
"""

import collections

import numpy as np

from hsvit_runtime.errors import InputError

# Smaller constants save few bytes, and one of them may be an epsilon that half precision rounds to zero.
_SMALLEST = 32
# Which inputs of an operation may be its kernel; the other one is what it computes with.
_KERNEL_POSITIONS = {"Conv": (1,), "Gemm": (1,), "MatMul": (0, 1), "Einsum": (0, 1)}
# Operations that move values without computing new ones: what is on a grid of 8 bits stays on it.
_MOVING = (
    *("Flatten", "GlobalMaxPool", "Identity", "MaxPool", "Pad", "ReduceMax"),
    *("Reshape", "Slice", "Squeeze", "Transpose", "Unsqueeze"),
)
# How a bias and a ReLU are written.
_WITH_A_CONSTANT = ("Add", "Clip", "Max", "Min", "Relu")


def store_as_float16(graph):
    """Stores weights in half precision; a runtime casts them to float32 once, when it loads the file.

    Args:
        graph: `onnx.GraphProto`, which is changed.

    Raises:
        InputError: a weight is too large for half precision.
    """
    from onnx import TensorProto, helper, numpy_helper

    casts = []
    for tensor in graph.initializer:
        values = numpy_helper.to_array(tensor)
        if values.dtype != np.float32 or values.size < _SMALLEST:
            continue
        largest = np.abs(values).max()
        if largest > np.finfo("float16").max:
            raise InputError(f"float16 cannot hold the weight {tensor.name!r}: {largest:.3g} is above 65504")
        stored = f"{tensor.name}_float16"
        casts.append(helper.make_node("Cast", [stored], [tensor.name], stored, to=TensorProto.FLOAT))
        tensor.CopyFrom(numpy_helper.from_array(values.astype("float16"), stored))
    _put_in_front(graph, casts)


def store_as_integers(graph):
    """Stores the kernels and the added constants of a quantized graph as 8-bit integers.

    Kernels between ranges become integers of -127 to 127 with a scale for each output channel, as
    `hsvit_keras.compression.quantized_layers.RoundedKernel` rounds them. Biases stay float: ONNX Runtime
    rounds them to 32 bits itself where it computes with integers.

    Args:
        graph: `onnx.GraphProto`, which is changed.

    Raises:
        InputError: a kernel has several axes of output channels.
    """
    from onnx import numpy_helper

    _repeat_grids(graph)
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    stored = {}
    for node, position, name in _kernels(graph, constants):
        axis = _channel_axis(node, position, constants[name].ndim)
        node.input[position] = f"{name}_channels{axis}"
        stored[node.input[position]] = (*_rounded(constants[name], axis), axis)
    for node, position, name in _added_constants(graph, constants):
        if levels := _levels(constants[name]):
            node.input[position] = f"{name}_rounded"
            stored[node.input[position]] = (*levels, None)
    _put_in_front(graph, [_dequantized(graph, name, *parts) for name, parts in stored.items()])
    _drop_unread(graph)


def _repeat_grids(graph):
    """Repeats the pair of QuantizeLinear and DequantizeLinear behind each operation that moves what it gives.

    Runtimes take an operation as one of integers where such pairs stand on all sides of it.
    """
    from onnx import helper

    grids, nodes = {}, []
    for node in graph.node:
        nodes.append(node)
        if node.op_type == "DequantizeLinear":
            grids[node.output[0]] = node.input[1:]
        elif node.op_type in _MOVING and node.input[0] in grids:
            name, grid = node.output[0], grids[node.input[0]]
            node.output[0], integers = f"{name}_moved", f"{name}_integers"
            nodes.append(helper.make_node("QuantizeLinear", [node.output[0], *grid], [integers], integers))
            nodes.append(helper.make_node("DequantizeLinear", [integers, *grid], [name], f"{name}_numbers"))
            grids[name] = grid
    del graph.node[:]
    graph.node.extend(nodes)


def _kernels(graph, constants):
    """(node, position, name) of each constant kernel with ranges on both sides of its operation."""
    consumers = collections.defaultdict(list)
    for node in graph.node:
        for name in node.input:
            consumers[name].append(node)
    for node, position, name in _beside_integers(graph, constants, _KERNEL_POSITIONS):
        if _ends_quantized(node, consumers, constants):
            yield node, position, name


def _added_constants(graph, constants):
    """(node, position, name) of each constant that is added to what has a range, but for small ones."""
    for node, position, name in _beside_integers(graph, constants, {"Add": (0, 1)}):
        if constants[name].size >= _SMALLEST:
            yield node, position, name


def _beside_integers(graph, constants, positions):
    """(node, position, name) of each constant at `positions[operation]`, the other input having a range."""
    dequantized = {node.output[0] for node in graph.node if node.op_type == "DequantizeLinear"}
    for node in graph.node:
        for position in positions.get(node.op_type, ()):
            if node.input[position] in constants and node.input[1 - position] in dequantized:
                yield node, position, node.input[position]


def _ends_quantized(node, consumers, constants):
    """Whether a bias and a ReLU at most stand between a node and the range of what it gives."""
    readers = consumers[node.output[0]]
    if any(reader.op_type == "QuantizeLinear" for reader in readers):
        return True
    if len(readers) != 1:
        return False
    (reader,) = readers
    others = [name for name in reader.input if name and name != node.output[0]]
    passes = reader.op_type in _MOVING or (
        reader.op_type in _WITH_A_CONSTANT and all(name in constants for name in others)
    )
    return passes and _ends_quantized(reader, consumers, constants)


def _channel_axis(node, position, rank):
    """The one axis of a kernel that is not summed over.

    Raises:
        InputError: the kernel has several of them.
    """
    attributes = {attribute.name: attribute for attribute in node.attribute}
    if node.op_type == "Conv":
        return 0
    if node.op_type == "Gemm":
        return 0 if "transB" in attributes and attributes["transB"].i else 1
    if node.op_type == "MatMul":
        summed = {rank - 2 if position else rank - 1}
    else:
        inputs, outputs = attributes["equation"].s.decode().replace(" ", "").split("->")
        letters = inputs.split(",")[position]
        summed = {axis for axis, letter in enumerate(letters) if letter not in outputs}
    axes = set(range(rank)) - summed
    if len(axes) != 1:
        raise InputError(
            "ONNX holds kernels of 8 bits that have one axis of output channels; "
            f"that of {node.name!r} has {len(axes)}"
        )
    return axes.pop()


def _rounded(kernel, axis):
    """(integers, scales, zero points) of a kernel, a scale for each channel."""
    others = tuple(i for i in range(kernel.ndim) if i != axis)
    scale = np.maximum(np.abs(kernel).max(others, keepdims=True), np.float32(1e-20)) / np.float32(127)
    integers = np.rint(kernel / scale).astype("int8")
    return integers, scale.reshape(-1), np.zeros(scale.size, "int8")


def _levels(constant):
    """(integers, scale, zero point) of a constant that was rounded to 8 bits; None if it was not."""
    low, high = min(constant.min(), np.float32(0.0)), max(constant.max(), np.float32(1e-4))
    scale = (high - low) / np.float32(255)
    zero_point = np.rint(-low / scale)
    levels = np.rint(constant / scale)
    if np.abs(levels - constant / scale).max() > 1e-3:
        return None
    return (levels + zero_point).astype("uint8"), scale, zero_point.astype("uint8")


def _dequantized(graph, name, integers, scale, zero_point, axis):
    """The node that computes a tensor from its integers, which the graph gets as constants."""
    from onnx import helper, numpy_helper

    parts = {f"{name}_integers": integers, f"{name}_scale": scale, f"{name}_zero_point": zero_point}
    graph.initializer.extend(numpy_helper.from_array(np.asarray(part), key) for key, part in parts.items())
    attributes = {} if axis is None else {"axis": axis}
    return helper.make_node("DequantizeLinear", list(parts), [name], f"{name}_dequantize", **attributes)


def _put_in_front(graph, nodes):
    nodes = [*nodes, *graph.node]
    del graph.node[:]
    graph.node.extend(nodes)


def _drop_unread(graph):
    read = {name for node in graph.node for name in node.input}
    kept = [tensor for tensor in graph.initializer if tensor.name in read]
    del graph.initializer[:]
    graph.initializer.extend(kept)

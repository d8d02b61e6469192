"""How an ONNX graph stores its weights: in half precision, or as 8-bit integers.

Each weight keeps its name: a node in front of the graph computes the float32 values from what is stored.
"""

import collections

import numpy as np

from hsvit_runtime.errors import InputError

# Smaller constants save few bytes, and one of them may be an epsilon that half precision rounds to zero.
_SMALLEST = 32
_WITH_KERNELS = ("Conv", "Gemm", "MatMul", "Einsum")
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
    """Stores kernels with quantized activations on both sides as integers of -127 to 127.

    The scales are those of `hsvit_keras.compression.quantized_layers.RoundedKernel`, one for each output
    channel. Biases stay float: ONNX Runtime rounds them to 32 bits itself where it computes with integers.

    Args:
        graph: `onnx.GraphProto`, which is changed.
    """
    from onnx import helper, numpy_helper

    _repeat_grids(graph)
    producers = {name: node.op_type for node in graph.node for name in node.output}
    consumers = collections.defaultdict(list)
    for node in graph.node:
        for name in node.input:
            consumers[name].append(node)
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    nodes, stored = [], set()
    for node in graph.node:
        position = _kernel_position(node, constants)
        if position is None or producers.get(node.input[1 - position]) != "DequantizeLinear":
            continue
        if not _ends_quantized(node, consumers, constants):
            continue
        kernel = constants[node.input[position]]
        axis = _channel_axis(node, position, kernel.ndim)
        name = f"{node.input[position]}_channels{axis}"
        node.input[position] = name
        if name in stored:
            continue
        stored.add(name)
        integers, scale = _rounded(kernel, axis)
        parts = {"integers": integers, "scale": scale, "zero_point": np.zeros(len(scale), "int8")}
        graph.initializer.extend(
            numpy_helper.from_array(values, f"{name}_{part}") for part, values in parts.items()
        )
        inputs = [f"{name}_{part}" for part in parts]
        nodes.append(helper.make_node("DequantizeLinear", inputs, [name], f"{name}_dequantize", axis=axis))
    _put_in_front(graph, nodes)
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


def _kernel_position(node, constants):
    """Which input of a node is a constant kernel; None where none is."""
    if node.op_type not in _WITH_KERNELS or len(node.input) < 2:
        return None
    positions = (1,) if node.op_type in ("Conv", "Gemm") else (1, 0)
    return next((i for i in positions if node.input[i] in constants), None)


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
    """The integers of a kernel and the scale of each channel."""
    others = tuple(i for i in range(kernel.ndim) if i != axis)
    scale = np.maximum(np.abs(kernel).max(others, keepdims=True), np.float32(1e-20)) / np.float32(127)
    return np.rint(kernel / scale).astype("int8"), scale.reshape(-1)


def _put_in_front(graph, nodes):
    nodes = [*nodes, *graph.node]
    del graph.node[:]
    graph.node.extend(nodes)


def _drop_unread(graph):
    read = {name for node in graph.node for name in node.input}
    kept = [tensor for tensor in graph.initializer if tensor.name in read]
    del graph.initializer[:]
    graph.initializer.extend(kept)

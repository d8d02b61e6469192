"""What TensorFlow computes for a function."""

import math

import tensorflow as tf

from hsvit_keras.compression.counting.programs import Program, Step
from hsvit_runtime.errors import InputError

# What they compute is not part of the trace.
_OPAQUE = ("CudnnRNN", "EagerPyFunc", "PyFunc", "RemoteCall", "SparseTensorDenseMatMul", "XlaCallModule")


def traced(function, inputs):
    """The `Program` of a function.

    Args:
        function: takes and returns tensors.
        inputs: list of (shape, dtype) of its arguments.

    Returns:
        `Program`.

    Raises:
        InputError: it computes something that the trace does not show, or products of unknown size.
    """
    specs = [tf.TensorSpec(*tensor) for tensor in inputs]
    graph = tf.function(function, autograph=False).get_concrete_function(*specs).graph
    return _program(graph, graph.inputs[: len(inputs)])  # behind these are the variables


def _program(graph, inputs):
    steps = [_step(operation) for operation in graph.get_operations()]
    return Program(_values(inputs), _values(graph.outputs), steps)


def _values(tensors):
    return [tensor.ref() for tensor in tensors]


def _step(operation):
    name = operation.type
    if name.startswith(_OPAQUE):
        raise InputError(f"multiply-adds of TensorFlow's {name!r} in {operation.name!r} are unknown")
    calls, branches = [], []
    if name.endswith("PartitionedCall"):
        calls = [(_inside(operation, "f"), 1)]
    elif name.endswith("While"):  # its second input is the largest number of steps
        calls = [(_inside(operation, "body"), _constant(operation.inputs[1]))]
    elif name.endswith("If"):
        branches = [_inside(operation, branch) for branch in ("then_branch", "else_branch")]
    elif name.endswith("Case"):
        branches = [_function(operation, branch) for branch in operation.get_attr("branches")]
    multiply_adds = _RULES[name](operation) if name in _RULES else 0
    return Step(
        operation.name, _values(operation.inputs), _values(operation.outputs), multiply_adds, calls, branches
    )


def _inside(operation, attribute):
    return _function(operation, operation.get_attr(attribute))


def _function(operation, function):
    graph = operation.graph._get_function(function.name).graph
    return _program(graph, graph.inputs)


def _constant(tensor):
    """The value of a tensor that does not depend on the inputs; None if it does."""
    while tensor.op.type in ("Identity", "Max"):  # of one number, in recurrent layers
        tensor = tensor.op.inputs[0]
    value = tf.get_static_value(tensor)
    return None if value is None or value.ndim or value < 0 else int(value)


def _shape(tensor):
    if not tensor.shape.is_fully_defined():
        raise InputError(f"multiply-adds of {tensor.name!r} are unknown: its shape is {tensor.shape}")
    return tuple(tensor.shape)


def _size(tensor):
    """How many entries a tensor has."""
    return math.prod(_shape(tensor))


def _matrix_product(operation):
    transposed = operation.get_attr("transpose_a" if operation.type == "MatMul" else "adj_x")
    left, (output,) = operation.inputs[0], operation.outputs
    return _size(output) * _shape(left)[-2 if transposed else -1]


def _einsum(operation):
    """A loop over the letters of the equation, but those of one operand alone, which is summed first."""
    terms, output = operation.get_attr("equation").decode().split("->")
    if len(operation.inputs) == 1:
        return 0
    sizes, counts = {}, {}
    for letters, operand in zip(terms.split(","), operation.inputs, strict=True):
        front, dots, back = letters.partition("...")
        count = len(operand.shape) - len(front) - len(back) if dots else 0
        middle = [f"...{i}" for i in range(count, 0, -1)]
        for letter, size in zip([*front, *middle, *back], _shape(operand), strict=True):
            sizes[letter] = max(size, sizes.get(letter, 1))
            counts[letter] = counts.get(letter, 0) + 1
    return math.prod(size for letter, size in sizes.items() if counts[letter] > 1 or letter[0] in output)


def _convolution(operation):
    """Kernels have the shape (*window, channels of a group, features)."""
    return _outputs(operation.outputs[0]) * math.prod(_shape(operation.inputs[1])[:-1])


def _depthwise_convolution(operation):
    return _outputs(operation.outputs[0]) * math.prod(_shape(operation.inputs[1])[:-2])


def _transposed_convolution(operation):
    """Each entry of the maps meets all features; kernels have the shape (*window, features, channels)."""
    _, kernel, maps = operation.inputs
    return _size(maps) * math.prod(_shape(kernel)[:-1])


def _outputs(tensor):
    """How many outputs of a convolution are used: a dilated one is computed in padded tiles."""
    for reader in tensor.consumers():
        if reader.type in ("BatchToSpaceND", "Squeeze"):
            return _outputs(reader.outputs[0])
    return _size(tensor)


_RULES = {
    **dict.fromkeys(("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "MatMul"), _matrix_product),
    **dict.fromkeys(("Conv2D", "Conv3D"), _convolution),
    **dict.fromkeys(("Conv2DBackpropInput", "Conv3DBackpropInputV2"), _transposed_convolution),
    "DepthwiseConv2dNative": _depthwise_convolution,
    "Einsum": _einsum,
}

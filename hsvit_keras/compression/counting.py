"""How large a model is: the multiply-adds of its convolutions and matrix products, and its parameters.

Nothing has to be known of a layer: each computes with symbolic tensors, whose history holds its operations.
"""

import math

import keras

# The classes behind `keras.ops` have no public names.
from keras.src.ops.nn import Conv, DepthwiseConv, DotProductAttention
from keras.src.ops.numpy import Einsum, Matmul

from hsvit_keras.compression.narrowing import compute_first_tokens_alone


def count_multiply_adds(model):
    """Counts the multiply-adds of one image in convolutions and matrix products, as a phone computes them.

    Of the last block, only what the class token needs is counted.

    Args:
        model: `keras.Model` as a Functional graph, or `keras.Sequential`. It stays as it is.

    Returns:
        int.

    Raises:
        ValueError: `model` has no graph that could be followed.
    """
    copy, nodes, counts = compute_first_tokens_alone(model), {}, []
    for layer in copy._flatten_layers():  # also those within layers
        layer.symbolic_call = _computing(layer, nodes, counts)
    copy(keras.KerasTensor((1, *copy.inputs[0].shape[1:]), copy.inputs[0].dtype))
    return sum(counts) + sum(map(_of_node, nodes.values()))


def count_parameters(model):
    """The number of trainable parameters, as papers count: without the statistics of batch normalization."""
    return sum(math.prod(variable.shape) for variable in model.trainable_variables)


def _computing(layer, nodes, counts):
    """A replacement of a layer's symbolic call that really calls it, and collects its operations."""

    def call(*args, **kwargs):
        if isinstance(layer, keras.layers.Rescaling):  # it multiplies no matrices, and takes no symbols
            return keras.KerasTensor(args[0].shape, layer.compute_dtype)
        if getattr(layer, "groups", 1) > 1:  # Keras' symbolic convolution knows no groups
            output = keras.KerasTensor(layer.compute_output_shape(args[0].shape))
            counts.append(math.prod((*output.shape, *layer.kernel.shape[:-1])))
            return output
        output = layer.call(*args, **kwargs)
        waiting = keras.tree.flatten(output)
        while waiting:
            operation, node_index, _ = getattr(waiting.pop(), "_keras_history", (None, 0, 0))
            if operation is not None and not isinstance(operation, keras.Layer):
                node = operation._inbound_nodes[node_index]
                nodes[id(node)] = node
                waiting += node.arguments.keras_tensors
        return output

    return call


def _of_node(node):
    """The multiply-adds of one operation."""
    operation, arguments = node.operation, node.arguments
    if isinstance(operation, Einsum):
        return _of_einsum(operation.subscripts, arguments.args)
    if isinstance(operation, DotProductAttention):  # all queries by all keys, twice
        query, key, *_ = arguments.args
        return 2 * math.prod(query.shape) * key.shape[1]
    if not isinstance(operation, Matmul | Conv | DepthwiseConv):
        return 0
    left, right = arguments.args
    if isinstance(operation, Matmul):
        products = left.shape[-1]
    elif isinstance(operation, Conv):  # kernel: its sides, inputs of a group, outputs
        products = math.prod(right.shape[:-1])
    else:  # kernel: its sides, inputs, outputs for each
        products = math.prod(right.shape[:-2])
    return math.prod(node.outputs[0].shape) * products


def _of_einsum(subscripts, operands):
    """Each letter is a loop."""
    letters = subscripts.replace(" ", "").split("->")[0].split(",")
    sizes = {}
    for names, operand in zip(letters, operands, strict=True):
        if "..." in names:
            front, back = names.split("...")
            middle = [f"...{i}" for i in range(len(operand.shape) - len(front) - len(back))]
            names = [*front, *middle, *back]
        sizes.update(zip(names, operand.shape, strict=True))
    return math.prod(sizes.values())

"""Counts of a model: multiply-adds of its convolutions and matrix products, and trainable parameters.

Counting needs no table of layer classes: each layer is called on symbolic tensors, whose history records the
operations that the layer used.
"""

import math

import keras

# The classes behind `keras.ops` have no public names.
from keras.src.ops.nn import Conv, DepthwiseConv, DotProductAttention
from keras.src.ops.numpy import Einsum, Matmul

from hsvit_keras.compression.narrowing import compute_first_tokens_alone


def count_multiply_adds(model):
    """Counts the multiply-adds of convolutions and matrix products for one image, as in a mobile artifact.

    Artifacts compute only the tokens that are read, so in the last block only the class token may count.

    Args:
        model: `keras.Model` as a Functional graph, or `keras.Sequential`. It is not modified.

    Returns:
        int.

    Raises:
        InputError: `model` is neither Functional nor Sequential, or has no input shape.
    """
    copy, nodes, grouped_counts = compute_first_tokens_alone(model), {}, []
    for layer in copy._flatten_layers():  # including layers inside of layers
        layer.symbolic_call = _recording_call(layer, nodes, grouped_counts)
    copy(keras.KerasTensor((1, *copy.inputs[0].shape[1:]), copy.inputs[0].dtype))
    return sum(grouped_counts) + sum(map(_node_multiply_adds, nodes.values()))


def count_parameters(model):
    """The number of trainable parameters, without the statistics of batch normalization, as in papers."""
    return sum(math.prod(variable.shape) for variable in model.trainable_variables)


def _recording_call(layer, nodes, grouped_counts):
    """A replacement for `layer.symbolic_call` that runs `layer.call` and records its operations.

    Args:
        layer: `keras.Layer`.
        nodes: dict from an id to a node of an operation; the operations of the layer are added.
        grouped_counts: list of int; the multiply-adds of grouped convolutions are appended.
    """

    def call(*args, **kwargs):
        if isinstance(layer, keras.layers.Rescaling):  # no matrix product; its call rejects symbolic tensors
            return keras.KerasTensor(args[0].shape, layer.compute_dtype)
        if getattr(layer, "groups", 1) > 1:  # Keras' symbolic convolution does not support groups
            output = keras.KerasTensor(layer.compute_output_shape(args[0].shape))
            grouped_counts.append(math.prod((*output.shape, *layer.kernel.shape[:-1])))
            return output
        output = layer.call(*args, **kwargs)
        tensors = keras.tree.flatten(output)
        while tensors:
            operation, node_index, _ = getattr(tensors.pop(), "_keras_history", (None, 0, 0))
            if operation is not None and not isinstance(operation, keras.Layer):
                node = operation._inbound_nodes[node_index]
                nodes[id(node)] = node
                tensors += node.arguments.keras_tensors
        return output

    return call


def _node_multiply_adds(node):
    """The multiply-adds of one operation."""
    operation, arguments = node.operation, node.arguments
    if isinstance(operation, Einsum):
        return _einsum_multiply_adds(operation.subscripts, arguments.args)
    if isinstance(operation, DotProductAttention):  # queries times keys, then weights times values
        query, key, *_ = arguments.args
        return 2 * math.prod(query.shape) * key.shape[1]
    if not isinstance(operation, Matmul | Conv | DepthwiseConv):
        return 0
    left, right = arguments.args
    if isinstance(operation, Matmul):
        products = left.shape[-1]
    elif isinstance(operation, Conv):  # kernel shape: (*window, input channels of a group, output channels)
        products = math.prod(right.shape[:-1])
    else:  # kernel shape: (*window, input channels, depth multiplier)
        products = math.prod(right.shape[:-2])
    return math.prod(node.outputs[0].shape) * products


def _einsum_multiply_adds(subscripts, operands):
    """The product of the sizes of all axes: an einsum is one nested loop over the letters of its equation."""
    terms = subscripts.replace(" ", "").split("->")[0].split(",")
    sizes = {}
    for letters, operand in zip(terms, operands, strict=True):
        if "..." in letters:
            front, back = letters.split("...")
            middle = [f"...{i}" for i in range(len(operand.shape) - len(front) - len(back))]
            letters = [*front, *middle, *back]
        sizes.update(zip(letters, operand.shape, strict=True))
    return math.prod(sizes.values())

"""Makes depthwise convolutions with 8-bit kernels run in XNNPACK.

The converter's dynamic quantization stores kernels with 8 bits and keeps activations float. XNNPACK runs such
Dense layers and convolutions, but not such depthwise convolutions, each of which would end a partition. With
a DEQUANTIZE op between the kernel and the convolution, XNNPACK converts the kernel to float when it loads the
file and runs the convolution, while the file still stores 8 bits.
"""


def unpack(content):
    """Inserts DEQUANTIZE ops between float depthwise convolutions and their 8-bit kernels.

    Args:
        content: bytes of a `.tflite` file.

    Returns:
        bytes of the changed file; `content` itself if it has no such convolution.
    """
    from ai_edge_litert import schema_py_generated as schema
    from ai_edge_litert.tools import flatbuffer_utils

    model = flatbuffer_utils.read_model_from_bytearray(content)
    dequantize = len(model.operatorCodes)
    count = sum(_unpack_in(graph, model.operatorCodes, dequantize, schema) for graph in model.subgraphs)
    if not count:
        return content
    model.operatorCodes.append(_dequantize_code(schema))
    return bytes(flatbuffer_utils.convert_object_to_bytearray(model))


def _unpack_in(graph, codes, dequantize, schema):
    """Inserts the ops into one graph and returns their number; `dequantize` is the index of the op code."""
    ops = []
    for op in graph.operators:
        if _is_mixed(op, graph, codes, schema):
            graph.tensors.append(_float_tensor(graph.tensors[op.inputs[1]], schema))
            dequantization = schema.OperatorT()
            dequantization.opcodeIndex = dequantize
            dequantization.inputs, dequantization.outputs = [op.inputs[1]], [len(graph.tensors) - 1]
            op.inputs[1] = len(graph.tensors) - 1
            ops.append(dequantization)
        ops.append(op)
    added = len(ops) - len(graph.operators)
    graph.operators = ops
    return added


def _is_mixed(op, graph, codes, schema):
    """Whether the op is a depthwise convolution of float values with an 8-bit kernel."""
    if codes[op.opcodeIndex].builtinCode != schema.BuiltinOperator.DEPTHWISE_CONV_2D:
        return False
    values, kernel = (graph.tensors[index].type for index in op.inputs[:2])
    return (values, kernel) == (schema.TensorType.FLOAT32, schema.TensorType.INT8)


def _float_tensor(tensor, schema):
    """A float tensor of the same shape, computed by an op."""
    result = schema.TensorT()
    result.shape, result.hasRank = tensor.shape, True
    result.type, result.buffer = schema.TensorType.FLOAT32, 0  # buffer 0 means that an op computes it
    result.name = tensor.name + b"/float"
    return result


def _dequantize_code(schema):
    code = schema.OperatorCodeT()
    code.builtinCode = code.deprecatedBuiltinCode = schema.BuiltinOperator.DEQUANTIZE
    code.version = 5  # the first version with a scale for each channel
    return code

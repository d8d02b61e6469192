"""8-bit kernels of depthwise convolutions of floats, for XNNPACK.

The converter's dynamic quantization pairs float values with 8-bit kernels everywhere. XNNPACK computes so
in Dense layers and convolutions, but not in depthwise convolutions: each would end a partition. With
a DEQUANTIZE in front of its kernel, which XNNPACK unpacks when it loads the file, it takes them as well,
and the file keeps its 8 bits.
"""


def unpack(content):
    """Puts a DEQUANTIZE between depthwise convolutions of floats and their 8-bit kernels.

    Args:
        content: bytes of a `.tflite` file.

    Returns:
        bytes, the file with those ops; `content` itself if it has no such convolution.
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
    """Does it in one graph, where `dequantize` is the number of the op; how many it were."""
    ops = []
    for op in graph.operators:
        if _is_mixed(op, graph, codes, schema):
            unpacked = _computed_float(graph.tensors[op.inputs[1]], schema)
            graph.tensors.append(unpacked)
            unpacking = schema.OperatorT()
            unpacking.opcodeIndex = dequantize
            unpacking.inputs, unpacking.outputs = [op.inputs[1]], [len(graph.tensors) - 1]
            op.inputs[1] = len(graph.tensors) - 1
            ops.append(unpacking)
        ops.append(op)
    added = len(ops) - len(graph.operators)
    graph.operators = ops
    return added


def _is_mixed(op, graph, codes, schema):
    if codes[op.opcodeIndex].builtinCode != schema.BuiltinOperator.DEPTHWISE_CONV_2D:
        return False
    values, kernel = (graph.tensors[number].type for number in op.inputs[:2])
    return (values, kernel) == (schema.TensorType.FLOAT32, schema.TensorType.INT8)


def _computed_float(tensor, schema):
    result = schema.TensorT()
    result.shape, result.hasRank = tensor.shape, True
    result.type, result.buffer = schema.TensorType.FLOAT32, 0  # buffer 0 marks what is computed
    result.name = tensor.name + b"/float"
    return result


def _dequantize_code(schema):
    code = schema.OperatorCodeT()
    code.builtinCode = code.deprecatedBuiltinCode = schema.BuiltinOperator.DEQUANTIZE
    code.version = 5  # the first that takes a scale for each channel
    return code

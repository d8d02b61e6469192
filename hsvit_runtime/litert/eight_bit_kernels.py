"""Makes products of floats and 8-bit kernels run in XNNPACK where it has none of their kind.

The converter's dynamic quantization stores kernels with 8 bits and keeps activations float. XNNPACK runs such
Dense layers and convolutions, but not such depthwise convolutions, and that of TensorFlow Lite 2.16 none of
them: each would end a partition. With a DEQUANTIZE op between the kernel and its op, XNNPACK converts the
kernel to float when it loads the file and runs the op, while the file still stores 8 bits.
"""

from hsvit_runtime.litert.graph_writer import GraphWriter

_FIRST_WITH_SCALES_OF_CHANNELS = 5  # version of DEQUANTIZE


def unpack(content, kinds=("DEPTHWISE_CONV_2D",)):
    """Inserts DEQUANTIZE ops between ops on floats and their 8-bit kernels.

    Args:
        content: bytes of a `.tflite` file.
        kinds: sequence of str, the kinds of these ops.

    Returns:
        bytes of the changed file; `content` itself if it has no such op.
    """
    from ai_edge_litert.tools import flatbuffer_utils

    model = flatbuffer_utils.read_model_from_bytearray(content)
    replacements = dict.fromkeys(kinds, _unpack_kernel)
    added = [GraphWriter(model, graph).rewrite(replacements) for graph in model.subgraphs]
    return bytes(flatbuffer_utils.convert_object_to_bytearray(model)) if any(added) else content


def _unpack_kernel(writer, op):
    values, kernel = op.inputs[:2]
    if writer.has_dtype(values, "float32") and writer.has_dtype(kernel, "int8"):
        version = _FIRST_WITH_SCALES_OF_CHANNELS
        op.inputs[1] = writer.op("DEQUANTIZE", [kernel], writer.unpacked(kernel), version=version)
    return False  # the op itself stays

"""Integer inputs and outputs of an ONNX graph of 8 bits: what converts them from and to floats goes."""

import numpy as np

from hsvit_runtime.errors import InputError


def make_inputs_integer(graph):
    """Makes each input the 8-bit integers that the graph has converted it to.

    Args:
        graph: `onnx.GraphProto`, which is changed.

    Returns:
        dict from an input's name to its grid, `{"scale": float, "zero_point": int}`.

    Raises:
        InputError: an input is not converted, or to different integers.
    """
    grids = {}
    for value in graph.input:
        readers = [node for node in graph.node if value.name in node.input]
        found = {tuple(node.input[1:]) for node in readers if node.op_type == "QuantizeLinear"}
        if len(found) != 1 or any(node.op_type != "QuantizeLinear" for node in readers):
            raise InputError(f"input_type cannot be uint8: the graph computes with floats of {value.name!r}")
        for node in readers:
            _rename(graph, node.output[0], value.name)
            graph.node.remove(node)
        grids[value.name] = _as_integers(graph, value, *found.pop())
    return grids


def make_outputs_integer(graph):
    """Makes each output the 8-bit integers that the graph converts to floats at its end.

    Args:
        graph: `onnx.GraphProto`, which is changed.

    Returns:
        dict from an output's name to its grid, see `make_inputs_integer`.

    Raises:
        InputError: an output is not computed as integers.
    """
    grids = {}
    for value in graph.output:
        (last,) = [node for node in graph.node if value.name in node.output]
        if last.op_type != "DequantizeLinear":
            raise InputError(f"output_type cannot be uint8: the graph computes {value.name!r} as floats")
        integers, *grid = last.input
        graph.node.remove(last)
        for node in graph.node:
            node.output[:] = [value.name if name == integers else name for name in node.output]
        _rename(graph, integers, value.name)
        grids[value.name] = _as_integers(graph, value, *grid)
    return grids


def _rename(graph, name, new_name):
    """Makes all that reads a tensor read another."""
    for node in graph.node:
        node.input[:] = [new_name if read == name else read for read in node.input]


def _as_integers(graph, value, scale, zero_point):
    """Gives an input or output the type of its integers, and returns their grid."""
    from onnx import TensorProto, numpy_helper

    value.type.tensor_type.elem_type = TensorProto.UINT8
    constants = {tensor.name: tensor for tensor in graph.initializer}
    scale, zero_point = (numpy_helper.to_array(constants[name]) for name in (scale, zero_point))
    return {"scale": float(np.float32(scale)), "zero_point": int(zero_point)}

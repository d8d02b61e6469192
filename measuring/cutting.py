"""Cuts an artifact into artifacts of one kind of operation each, which are timed one by one.

The operations of one kind get a file of their own, whose inputs are the tensors of other operations. The
sum of the parts need not be the whole: each part has the overhead of a run, and operations that are fused in
the whole are separate here.
"""

import re

_OF_OP = {
    "FULLY_CONNECTED": "MLP",
    "DEPTHWISE_CONV_2D": "Convolution",
    "BATCH_MATMUL": "MSA-MatMul",
    "SOFTMAX": "MSA-Softmax",
    "RESHAPE": "MSA-Reshape&Transpose",
    "TRANSPOSE": "MSA-Reshape&Transpose",
    "GATHER": "MSA-Gather",
    "SLICE": "MSA-Gather",
    "STRIDED_SLICE": "MSA-Gather",
}
_MOST_OUTPUTS = 12  # of one artifact; the runner of arm_cost holds 16 inputs and 16 outputs


def cut(content):
    """Cuts an artifact into artifacts of one kind of operation each.

    Args:
        content: bytes of a `.tflite` file with one graph.

    Returns:
        dict from kind to list of bytes: several where there would be too many outputs.
    """
    from ai_edge_litert import schema_py_generated as schema
    from ai_edge_litert.tools import flatbuffer_utils

    names = {value: name for name, value in vars(schema.BuiltinOperator).items() if not name.startswith("_")}
    graph = (model := flatbuffer_utils.read_model_from_bytearray(bytearray(content))).subgraphs[0]
    unpacking = _unpacking(model, graph)
    found = {}
    for place, op in enumerate(graph.operators):
        if place not in unpacking.values():
            kind = _kind(op, graph, names[model.operatorCodes[op.opcodeIndex].builtinCode])
            found.setdefault(kind, []).append(place)
    return {
        kind: [_only(content, _with_constants(part, graph, unpacking)) for part in _pieces(places, graph)]
        for kind, places in found.items()
    }


def _unpacking(model, graph):
    """dict from the output of each operation on constants alone to its place: it belongs to what reads it."""
    return {
        op.outputs[0]: place
        for place, op in enumerate(graph.operators)
        if all(number < 0 or _is_constant(model, graph, number) for number in op.inputs)
    }


def _with_constants(places, graph, unpacking):
    """The places of operations, and of those that unpack constants for them."""
    read = {number for place in places for number in graph.operators[place].inputs}
    return sorted({*places, *(unpacking[number] for number in read if number in unpacking)})


def _kind(op, graph, name):
    layer = graph.tensors[op.outputs[0]].name.decode()
    if re.search(r"norm\w*/", layer.split(";")[0]) and name not in ("CONV_2D", "FULLY_CONNECTED"):
        return "LayerNorm"
    if name == "CONV_2D":  # a projection of groups is a convolution of single pixels
        _, height, width, _ = graph.tensors[op.inputs[1]].shape
        return "MLP" if height == width == 1 else "Convolution"
    return _OF_OP.get(name, "Others")


def _pieces(places, graph):
    """The places of operations, cut where the outputs become too many, but not between one and its user."""
    piece, outputs = [], set()
    for place in places:
        op = graph.operators[place]
        if len(outputs) >= _MOST_OUTPUTS and not outputs & set(op.inputs):
            yield piece
            piece, outputs = [], set()
        piece.append(place)
        outputs = (outputs - set(op.inputs)) | set(op.outputs)
    yield piece


def _only(content, places):
    """The artifact with the operations at `places` alone."""
    from ai_edge_litert.tools import flatbuffer_utils

    model = flatbuffer_utils.read_model_from_bytearray(bytearray(content))
    graph = model.subgraphs[0]
    graph.operators = [graph.operators[place] for place in places]
    _share_inputs(model, graph)
    used = {number for op in graph.operators for number in (*op.inputs, *op.outputs) if number >= 0}
    renumbered = {old: new for new, old in enumerate(sorted(used))}
    graph.tensors = [graph.tensors[old] for old in sorted(used)]
    for op in graph.operators:
        op.inputs = [renumbered.get(number, -1) for number in op.inputs]
        op.outputs = [renumbered[number] for number in op.outputs]
    made = [number for op in graph.operators for number in op.outputs]
    taken = [number for op in graph.operators for number in op.inputs]
    graph.inputs = sorted(
        {one for one in taken if one >= 0 and one not in made and not _is_constant(model, graph, one)}
    )
    graph.outputs = [number for number in made if number not in taken]
    kept = {tensor.buffer for tensor in graph.tensors}
    for number, buffer in enumerate(model.buffers):
        if number not in kept:
            buffer.data = None
    model.signatureDefs, model.metadata = [], []
    return bytes(flatbuffer_utils.convert_object_to_bytearray(model))


def _share_inputs(model, graph):
    """Lets operations that take values of the same form from outside take the same ones."""
    made, first = {number for op in graph.operators for number in op.outputs}, {}
    for op in graph.operators:
        for place, number in enumerate(op.inputs):
            if number >= 0 and number not in made and not _is_constant(model, graph, number):
                tensor = graph.tensors[number]
                op.inputs[place] = first.setdefault((tuple(tensor.shape), tensor.type, place), number)


def _is_constant(model, graph, number):
    return model.buffers[graph.tensors[number].buffer].data is not None

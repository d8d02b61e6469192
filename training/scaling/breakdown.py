"""What each kind of operation costs, as the paper's Table 11, for any model and any cost of artifacts.

The operations of one kind are cut out of the artifact into one of their own, whose inputs are the tensors of
other operations, and measured like the whole. The sum of the parts need not be the whole: each part has the
overhead of a run, and operations that are fused in the whole are separate here.
"""

import re
import tempfile

from command_line import tables
from hsvit_runtime.errors import InputError
from hsvit_runtime.files import replacing
from training.scaling.texts import cost_text

# The paper's names; its MLP are all linear layers. Its vision transformers have no convolution.
KINDS = (
    "MLP", "Convolution", "LayerNorm", "MSA-MatMul", "MSA-Softmax", "MSA-Reshape&Transpose", "MSA-Gather",
    "Others",
)  # fmt: skip
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


def break_down(cost, model):
    """What each kind of operation of a model costs.

    Args:
        cost: `costs.Cost` of artifacts.
        model: `keras.Model` or configuration.

    Returns:
        dict of `whole`, in the cost's unit, and `kinds`: dict from kind to its cost, largest first.

    Raises:
        ValueError: it is no cost of `.tflite` files, or a part cannot be measured.
    """
    if cost.suffix != ".tflite":
        raise InputError(
            f"the cost {cost.name} is of whole files: only those of .tflite files are broken down"
        )
    with cost.artifact(model) as path:
        content, whole = path.read_bytes(), cost.of_artifact(path)
    costs = {kind: sum(map(cost_of_bytes(cost), parts)) for kind, parts in cut(content).items()}
    return {"whole": whole, "kinds": dict(sorted(costs.items(), key=lambda pair: -pair[1]))}


def cost_of_bytes(cost):
    """A function from an artifact's content to its cost."""

    def measure(content):
        with tempfile.TemporaryDirectory() as folder, replacing(f"{folder}/part.tflite") as path:
            path.write_bytes(content)
            return cost.of_artifact(path)

    return measure


def table(breakdown, unit):
    """A breakdown as text, with each kind's share of the sum."""
    total = sum(breakdown["kinds"].values())
    rows = [(kind, cost_text(value), f"{value / total:.2%}") for kind, value in breakdown["kinds"].items()]
    rows.append(("sum, of the whole", cost_text(total), f"{total / breakdown['whole']:.2%}"))
    return tables.table(("kind", unit, "share"), rows)


def distance(one, other):
    """The cosine distance of two breakdowns: 0 where all kinds have the same shares."""
    from scipy.spatial.distance import cosine

    return float(cosine(*([found["kinds"].get(kind, 0) for kind in KINDS] for found in (one, other))))


def distances(breakdowns):
    """The cosine distance of each pair of breakdowns, by which the paper compares devices (section 4.2.2).

    Args:
        breakdowns: dict from name to what `break_down` gives.

    Returns:
        dict from name to dict from name to float.
    """
    return {
        name: {other: distance(found, breakdowns[other]) for other in breakdowns}
        for name, found in breakdowns.items()
    }


def distances_table(found):
    """Distances as text."""
    rows = [(name, *(f"{value:.3f}" for value in row.values())) for name, row in found.items()]
    return tables.table(("", *found), rows)


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
    found = {}
    for place, op in enumerate(graph.operators):
        found.setdefault(_kind(op, graph, names[model.operatorCodes[op.opcodeIndex].builtinCode]), []).append(
            place
        )
    return {kind: [_only(content, part) for part in _pieces(places, graph)] for kind, places in found.items()}


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

"""Several .tflite files in one, each as a signature, with what they have in common stored once."""

from hsvit_runtime.errors import InputError
from hsvit_runtime.litert import packing


def join(contents, inputs, outputs):
    """Makes one file of several.

    Args:
        contents: dict from a signature's name to the bytes of a `.tflite` file with one graph. Metadata, such
            as the runtime that it needs, is that of the last: let its ops include those of the others.
        inputs: list of str, what the signatures call the graphs' inputs.
        outputs: list of str, the same for their outputs.

    Returns:
        bytes of a `.tflite` file with a signature for each.

    Raises:
        ValueError: a file has several graphs.
    """
    from ai_edge_litert.tools import flatbuffer_utils

    joined, data, codes = None, _Collection(), _Collection()
    graphs, signatures = [], []
    for name, content in contents.items():
        joined = flatbuffer_utils.read_model_from_bytearray(content)
        if len(joined.subgraphs) != 1:
            raise InputError(f"{name!r} has {len(joined.subgraphs)} graphs; one is needed")
        (graph,) = joined.subgraphs
        buffers = [data.number(_bytes(buffer), buffer) for buffer in joined.buffers]
        opcodes = [codes.number(_key(code), code) for code in joined.operatorCodes]
        for tensor in graph.tensors:
            tensor.buffer = buffers[tensor.buffer]
        for op in graph.operators:
            op.opcodeIndex = opcodes[op.opcodeIndex]
        for entry in joined.metadata or []:
            entry.buffer = buffers[entry.buffer]
        graph.name = name
        signatures.append(signature(name, len(graphs), graph, inputs, outputs))
        graphs.append(graph)
    joined.subgraphs, joined.signatureDefs = graphs, signatures
    joined.operatorCodes = codes.things
    joined.buffers = data.things
    return packing.pack(joined)


def signature(name, number, graph, inputs, outputs):
    """A signature of LiteRT's schema.

    Args:
        name: str, what it is called.
        number: int, the number of its graph in the file.
        graph: `SubGraphT`.
        inputs, outputs: lists of str, what it calls the graph's inputs and outputs.

    Returns:
        `SignatureDefT`.
    """
    from ai_edge_litert import schema_py_generated as schema

    made = schema.SignatureDefT()
    made.signatureKey, made.subgraphIndex = name, number
    made.inputs = _named(graph.inputs, inputs, schema)
    made.outputs = _named(graph.outputs, outputs, schema)
    return made


class _Collection:
    """Things without doubles, in the order they came; the first is number 0."""

    def __init__(self):
        self.things, self._numbers = [], {}

    def number(self, key, thing):
        """The number of the thing, or of an earlier one with this key."""
        if key not in self._numbers:
            self._numbers[key] = len(self.things)
            self.things.append(thing)
        return self._numbers[key]


def _bytes(buffer):
    """A buffer's content; the first of a file, which marks what is computed, is empty."""
    return b"" if buffer.data is None else bytes(buffer.data)


def _key(code):
    return code.builtinCode, code.deprecatedBuiltinCode, code.customCode, code.version


def _named(tensors, names, schema):
    entries = []
    for number, name in zip(tensors, names, strict=True):
        entry = schema.TensorMapT()
        entry.name, entry.tensorIndex = name, number
        entries.append(entry)
    return entries

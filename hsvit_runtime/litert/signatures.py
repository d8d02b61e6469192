"""Joins several .tflite files into one with a signature for each; equal constants are stored once."""

from hsvit_runtime.errors import InputError
from hsvit_runtime.litert import packing


def join(contents, inputs, outputs):
    """Joins several files into one.

    Args:
        contents: dict from a signature's name to the bytes of a `.tflite` file with one graph. The metadata,
            such as the oldest runtime, is that of the last file, so its ops should include those of the
            others.
        inputs: list of str, the names of the graphs' inputs in the signatures.
        outputs: list of str, the names of the graphs' outputs in the signatures.

    Returns:
        bytes of a `.tflite` file with a signature for each of `contents`.

    Raises:
        InputError: a file has several graphs.
    """
    from ai_edge_litert.tools import flatbuffer_utils

    joined, data, codes = None, _UniqueItems(), _UniqueItems()
    graphs, signatures = [], []
    for name, content in contents.items():
        joined = flatbuffer_utils.read_model_from_bytearray(content)
        if len(joined.subgraphs) != 1:
            raise InputError(f"{name!r} has {len(joined.subgraphs)} graphs; one is needed")
        (graph,) = joined.subgraphs
        buffers = [data.index(_bytes(buffer), buffer) for buffer in joined.buffers]
        opcodes = [codes.index(_key(code), code) for code in joined.operatorCodes]
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
    joined.operatorCodes = codes.items
    joined.buffers = data.items
    return packing.pack(joined)


def signature(name, number, graph, inputs, outputs):
    """Makes a signature of LiteRT's schema.

    Args:
        name: str, the name of the signature.
        number: int, the index of its graph in the file.
        graph: `SubGraphT`.
        inputs, outputs: lists of str, the names of the graph's inputs and outputs in the signature.

    Returns:
        `SignatureDefT`.
    """
    from ai_edge_litert import schema_py_generated as schema

    definition = schema.SignatureDefT()
    definition.signatureKey, definition.subgraphIndex = name, number
    definition.inputs = _tensor_map(graph.inputs, inputs, schema)
    definition.outputs = _tensor_map(graph.outputs, outputs, schema)
    return definition


class _UniqueItems:
    """A list that holds only the first of all items with the same key."""

    def __init__(self):
        self.items, self._indices = [], {}

    def index(self, key, item):
        """The index of the item with this key in the list; `item` is appended if there is none."""
        if key not in self._indices:
            self._indices[key] = len(self.items)
            self.items.append(item)
        return self._indices[key]


def _bytes(buffer):
    """A buffer's content; empty for buffer 0, which stands for tensors computed by ops."""
    return b"" if buffer.data is None else bytes(buffer.data)


def _key(code):
    return code.builtinCode, code.deprecatedBuiltinCode, code.customCode, code.version


def _tensor_map(tensors, names, schema):
    entries = []
    for index, name in zip(tensors, names, strict=True):
        entry = schema.TensorMapT()
        entry.name, entry.tensorIndex = name, index
        entries.append(entry)
    return entries

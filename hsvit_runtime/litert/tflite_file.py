"""Reads a .tflite file into plain objects, without running it.

    model = read(content, "model.tflite")
    for op in model.subgraphs[0].ops:
        print(op.kind, [tensor.shape for tensor in op.outputs])

LiteRT ships the classes of its flatbuffers. They trust the offsets in the file, so have these checked
first: loading it in the interpreter does (`delegation.observe`).
"""

import dataclasses
import math
import struct

from hsvit_runtime.errors import InputError

_IDENTIFIER = b"TFL3"
_BITS = {"int4": 4, "uint4": 4, "int2": 2, "int8": 8, "uint8": 8, "bool": 8, "float16": 16, "bfloat16": 16}
_BITS |= {"int16": 16, "uint16": 16, "float32": 32, "int32": 32, "uint32": 32, "float64": 64, "int64": 64}


@dataclasses.dataclass(eq=False)
class Tensor:
    """A tensor of a graph.

    Attributes:
        index: int, its number in the graph.
        name: str.
        dtype: str, such as "float32".
        shape: tuple of int; dimensions that are known only while running are stored as 1.
        signature: tuple of int or None, the same with None for those dimensions.
        data: the bytes of a constant, None for what is computed.
        buffer: int, where in the file they are; tensors may share it.
        scales: tuple of float, one for a tensor or one a channel; empty where it is not quantized.
        zero_points: tuple of int, as many.
        axis: int, the dimension that the scales belong to, None if there is one scale.
        sparse: bool, whether the data holds only some of its numbers.
        source: `Op` that computes it, or None.
    """

    index: int
    name: str
    dtype: str
    shape: tuple
    signature: tuple
    data: bytes | None
    buffer: int
    scales: tuple
    zero_points: tuple
    axis: int | None
    sparse: bool
    source: "Op | None" = None


@dataclasses.dataclass(eq=False)
class Op:
    """A node of a graph.

    Attributes:
        kind: str, the builtin's name such as "CONV_2D", or a custom op's own name.
        version: int.
        custom: bool.
        inputs: list of `Tensor`, None where an optional one is left out.
        outputs: list of `Tensor`.
        options: the schema's object with the attributes, or None.
    """

    kind: str
    version: int
    custom: bool
    inputs: list
    outputs: list
    options: object

    def option(self, name):
        """An attribute; 0 where the file leaves it at its default by leaving all of them out."""
        return getattr(self.options, name, 0)


@dataclasses.dataclass(eq=False)
class Subgraph:
    """The main graph, or the body of a condition, a loop or another signature."""

    name: str
    tensors: list
    ops: list
    inputs: list
    outputs: list


@dataclasses.dataclass(eq=False)
class Model:
    """A file. `op_versions` are the builtins that it names, as pairs (kind, version), used or not."""

    subgraphs: list
    op_versions: list
    metadata: dict
    data_beside_flatbuffer: bool


def check_header(content, name):
    """Raises `ValueError` unless `content` starts as a `.tflite` file does."""
    if not content:
        raise InputError(f"{name} is empty")
    if content[4:8] != _IDENTIFIER:
        raise InputError(f"{name} is no .tflite file: bytes 4 to 8 must be TFL3, they are {content[4:8]!r}")


def read(content, name):
    """Reads a file whose offsets were checked.

    Args:
        content: bytes.
        name: str, the file in messages.

    Returns:
        `Model`.

    Raises:
        ValueError: it points to tensors, ops or buffers that it does not have, or a constant is too short.
    """
    from ai_edge_litert import schema_py_generated as schema
    from ai_edge_litert.tools import flatbuffer_utils

    check_header(content, name)
    try:
        root = schema.Model.GetRootAs(content)
        beside = any(root.Buffers(number).Offset() > 1 for number in range(root.BuffersLength()))
        return _Reader(schema, flatbuffer_utils.read_model_from_bytearray(content)).model(beside)
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError, struct.error) as error:
        raise InputError(f"{name} is damaged: {error}") from error


class _Reader:
    """Turns the schema's objects into ours."""

    def __init__(self, schema, raw):
        self.raw = raw
        self.op_names = _names(schema.BuiltinOperator)
        self.dtypes = {code: name.lower() for code, name in _names(schema.TensorType).items()}
        self.custom = schema.BuiltinOperator.CUSTOM

    def model(self, beside):
        if not self.raw.subgraphs:
            raise InputError("it has no graph")
        codes = [self._op_code(code) for code in self.raw.operatorCodes or []]
        builtins = [(kind, version) for kind, version, custom in codes if not custom]
        metadata = {
            _text(entry.name): bytes(self._data(entry.buffer) or b"") for entry in self.raw.metadata or []
        }
        return Model([self._graph(graph, codes) for graph in self.raw.subgraphs], builtins, metadata, beside)

    def _op_code(self, code):
        number = max(code.builtinCode, code.deprecatedBuiltinCode)  # the old field has 7 bits
        custom = number == self.custom
        known = self.op_names.get(number, f"OP_{number}")
        return _text(code.customCode) or "CUSTOM" if custom else known, code.version, custom

    def _graph(self, graph, codes):
        tensors = [self._tensor(index, tensor) for index, tensor in enumerate(graph.tensors or [])]

        def pick(numbers):
            return [None if number == -1 else _at(tensors, number, "tensor") for number in _list(numbers)]

        ops = []
        for op in graph.operators or []:
            kind, version, custom = _at(codes, op.opcodeIndex, "op")
            options = op.builtinOptions or op.builtinOptions2
            ops.append(Op(kind, version, custom, pick(op.inputs), pick(op.outputs), options))
        inputs, outputs = pick(graph.inputs), pick(graph.outputs)
        if None in inputs or None in outputs or any(None in op.outputs for op in ops):
            raise InputError("an output, or an input of a graph, is left out")
        for op in ops:
            for tensor in op.outputs:
                tensor.source = op
        return Subgraph(_text(graph.name), tensors, ops, inputs, outputs)

    def _tensor(self, index, tensor):
        shape = tuple(map(int, _list(tensor.shape)))
        signature = tuple(map(int, _list(tensor.shapeSignature))) or shape
        dtype = self.dtypes.get(tensor.type, f"type_{tensor.type}")
        data = self._data(tensor.buffer)
        sparse = tensor.sparsity is not None
        if min(shape, default=1) < 0:
            raise InputError(f"tensor {index} has the shape {shape}")
        needed = math.prod(shape) * _BITS.get(dtype, 0) // 8
        if data is not None and not sparse and len(data) < needed:
            raise InputError(f"tensor {index} needs {needed} bytes of data and has {len(data)}")
        quantization = tensor.quantization
        scales = tuple(map(float, _list(quantization and quantization.scale)))
        return Tensor(
            index,
            _text(tensor.name),
            dtype,
            shape,
            tuple(None if size == -1 else size for size in signature),
            data,
            int(tensor.buffer),
            scales,
            tuple(map(int, _list(quantization and quantization.zeroPoint))),
            int(quantization.quantizedDimension) if len(scales) > 1 else None,
            sparse,
        )

    def _data(self, number):
        """The bytes of a buffer; None for an empty one, such as buffer 0, which marks computed tensors."""
        if number == 0:
            return None
        data = _at(self.raw.buffers or [], number, "buffer").data
        return None if data is None or len(data) == 0 else memoryview(data).cast("B")


def _at(things, number, what):
    if not 0 <= number < len(things):
        raise InputError(f"it points to {what} {number} of {len(things)}")
    return things[number]


def _names(enumeration):
    return {code: name for name, code in vars(enumeration).items() if not name.startswith("_")}


def _list(values):
    return [] if values is None else values


def _text(value):
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value or ""

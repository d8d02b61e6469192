"""Reads a .tflite file into plain objects, without running it.

    model = read(content, "model.tflite")
    for op in model.subgraphs[0].ops:
        print(op.kind, [tensor.shape for tensor in op.outputs])

LiteRT's classes for flatbuffers do not check the offsets in the file. Load a file of unknown origin in the
interpreter first (`delegation.observe`), which checks them.
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
        index: int, its index in the graph.
        name: str.
        dtype: str, such as "float32".
        shape: tuple of int; dimensions that are known only at run time are stored as 1.
        signature: tuple of int or None, the same with None for dimensions known only at run time.
        data: the bytes of a constant; None for other tensors.
        buffer: int, the index of the buffer with the data; tensors may share it.
        scales: tuple of float, one for the tensor or one for each channel; empty if it is not quantized.
        zero_points: tuple of int, one for each scale.
        axis: int, the dimension of the channels with scales; None if there is one scale.
        sparse: bool, whether the data is stored in a sparse format.
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
        kind: str, the name of a builtin op, such as "CONV_2D", or of a custom op.
        version: int.
        custom: bool, whether it is a custom op.
        inputs: list of `Tensor`, None for optional inputs that are left out.
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
        """The value of an attribute; 0 if the file stores no attributes, so that all have their defaults."""
        return getattr(self.options, name, 0)


@dataclasses.dataclass(eq=False)
class Subgraph:
    """A graph: the main one, or that of another signature, a branch of a condition or the body of a loop."""

    name: str
    tensors: list
    ops: list
    inputs: list
    outputs: list


@dataclasses.dataclass(eq=False)
class Model:
    """The content of a file.

    Attributes:
        subgraphs: list of `Subgraph`, the main one first.
        op_versions: list of (kind, version), all builtin ops that the file lists, used or not.
        metadata: dict from a name to bytes.
        data_outside_flatbuffer: bool, whether constants are stored after the flatbuffer, as in large files.
    """

    subgraphs: list
    op_versions: list
    metadata: dict
    data_outside_flatbuffer: bool


def check_header(content, name):
    """Raises `InputError` unless `content` starts like a `.tflite` file."""
    if not content:
        raise InputError(f"{name} is empty")
    if content[4:8] != _IDENTIFIER:
        raise InputError(
            f"{name} is not a .tflite file: its bytes 4 to 8 are {content[4:8]!r} instead of {_IDENTIFIER!r}"
        )


def read(content, name):
    """Reads a file whose offsets have been checked.

    Args:
        content: bytes.
        name: str, the name of the file in messages.

    Returns:
        `Model`.

    Raises:
        InputError: the file refers to tensors, ops or buffers that do not exist, or a constant is too short.
    """
    from ai_edge_litert import schema_py_generated as schema
    from ai_edge_litert.tools import flatbuffer_utils

    check_header(content, name)
    try:
        root = schema.Model.GetRootAs(content)
        data_outside = any(root.Buffers(i).Offset() > 1 for i in range(root.BuffersLength()))
        return _Reader(schema, flatbuffer_utils.read_model_from_bytearray(content)).model(data_outside)
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError, struct.error) as error:
        raise InputError(f"{name} is damaged: {error}") from error


class _Reader:
    """Converts objects of LiteRT's schema to those of this module."""

    def __init__(self, schema, raw):
        self.raw = raw
        self.op_names = _names(schema.BuiltinOperator)
        self.dtypes = {code: name.lower() for code, name in _names(schema.TensorType).items()}
        self.custom = schema.BuiltinOperator.CUSTOM

    def model(self, data_outside):
        if not self.raw.subgraphs:
            raise InputError("it has no graph")
        codes = [self._op_code(code) for code in self.raw.operatorCodes or []]
        builtins = [(kind, version) for kind, version, custom in codes if not custom]
        metadata = {
            _text(entry.name): bytes(self._data(entry.buffer) or b"") for entry in self.raw.metadata or []
        }
        graphs = [self._graph(graph, codes) for graph in self.raw.subgraphs]
        return Model(graphs, builtins, metadata, data_outside)

    def _op_code(self, code):
        number = max(code.builtinCode, code.deprecatedBuiltinCode)  # the deprecated field has only 7 bits
        custom = number == self.custom
        known = self.op_names.get(number, f"OP_{number}")
        return _text(code.customCode) or "CUSTOM" if custom else known, code.version, custom

    def _graph(self, graph, codes):
        tensors = [self._tensor(index, tensor) for index, tensor in enumerate(graph.tensors or [])]

        def tensors_at(indices):
            return [None if index == -1 else _at(tensors, index, "tensor") for index in _list(indices)]

        ops = []
        for op in graph.operators or []:
            kind, version, custom = _at(codes, op.opcodeIndex, "op")
            options = op.builtinOptions or op.builtinOptions2
            ops.append(Op(kind, version, custom, tensors_at(op.inputs), tensors_at(op.outputs), options))
        inputs, outputs = tensors_at(graph.inputs), tensors_at(graph.outputs)
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

    def _data(self, index):
        """The bytes of a buffer; None for an empty one and for buffer 0, that of tensors computed by ops."""
        if index == 0:
            return None
        data = _at(self.raw.buffers or [], index, "buffer").data
        return None if data is None or len(data) == 0 else memoryview(data).cast("B")


def _at(items, index, what):
    if not 0 <= index < len(items):
        raise InputError(f"it refers to {what} {index}, but has {len(items)}")
    return items[index]


def _names(enumeration):
    return {code: name for name, code in vars(enumeration).items() if not name.startswith("_")}


def _list(values):
    return [] if values is None else values


def _text(value):
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value or ""

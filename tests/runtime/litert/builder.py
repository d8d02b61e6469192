"""Writes small .tflite files op by op, also such that no converter makes.

builder = Builder()
x, y = builder.tensor((1, 4)), builder.tensor((1, 4))
builder.op("RELU", [x], [y])
content = builder.content([x], [y])
"""

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema


class Builder:
    """One graph; `raw` is the schema's object behind it, to break on purpose."""

    def __init__(self):
        self.raw = schema.ModelT()
        self.raw.version = 3
        self.raw.operatorCodes, self.raw.buffers = [], [schema.BufferT()]
        self.raw.subgraphs, self.raw.metadata = [], []
        self.graph()

    def graph(self, name="main"):
        """Starts another subgraph."""
        graph = schema.SubGraphT()
        graph.name, graph.tensors, graph.operators = name, [], []
        graph.inputs, graph.outputs = [], []
        self.raw.subgraphs.append(graph)

    def tensor(self, shape, dtype="float32", *, name=None, signature=None, scale=None, zero_point=0, axis=0):
        """Number of a new tensor that is computed."""
        tensor, tensors = schema.TensorT(), self.raw.subgraphs[-1].tensors
        tensor.shape, tensor.buffer = list(shape), 0
        tensor.type = getattr(schema.TensorType, dtype.upper())
        tensor.name = f"tensor{len(tensors)}" if name is None else name
        if signature is not None:
            tensor.shapeSignature = list(signature)
        if scale is not None:
            quantization = schema.QuantizationParametersT()
            quantization.scale = np.atleast_1d(scale).tolist()
            quantization.zeroPoint = [zero_point] * len(quantization.scale)
            quantization.quantizedDimension = axis
            tensor.quantization = quantization
        tensors.append(tensor)
        return len(tensors) - 1

    def constant(self, values, dtype="float32", **options):
        """Number of a new tensor with data."""
        values = np.asarray(values, dtype)
        number = self.tensor(values.shape, dtype, **options)
        self.raw.subgraphs[-1].tensors[number].buffer = self.buffer(values.tobytes())
        return number

    def buffer(self, content):
        buffer = schema.BufferT()
        buffer.data = np.frombuffer(content, np.uint8)
        self.raw.buffers.append(buffer)
        return len(self.raw.buffers) - 1

    def metadata(self, name, content):
        entry = schema.MetadataT()
        entry.name, entry.buffer = name, self.buffer(content)
        self.raw.metadata.append(entry)

    def op_code(self, kind, version=1, custom=None):
        """Names a version of an op and gives its number; no op needs to use it."""
        code, number = schema.OperatorCodeT(), getattr(schema.BuiltinOperator, kind)
        code.builtinCode, code.deprecatedBuiltinCode = number, min(number, 127)
        code.version, code.customCode = version, custom
        self.raw.operatorCodes.append(code)
        return len(self.raw.operatorCodes) - 1

    def op(self, kind, inputs, outputs, options=None, *, version=1, custom=None, **attributes):
        """Adds an op. `options` is the name of the schema's class that holds the attributes."""
        op = schema.OperatorT()
        op.opcodeIndex = self.op_code(kind, version, custom)
        op.inputs, op.outputs = inputs, outputs
        if options:
            op.builtinOptionsType = getattr(schema.BuiltinOptions, options)
            op.builtinOptions = getattr(schema, options + "T")()
            for name, value in attributes.items():
                assert hasattr(op.builtinOptions, name), name
                setattr(op.builtinOptions, name, value)
        self.raw.subgraphs[-1].operators.append(op)

    def content(self, inputs, outputs):
        """The file, with these tensors of the main graph going in and out."""
        self.raw.subgraphs[0].inputs, self.raw.subgraphs[0].outputs = inputs, outputs
        return self.packed()

    def packed(self):
        builder = flatbuffers.Builder(1024)
        builder.Finish(self.raw.Pack(builder), file_identifier=b"TFL3")
        return bytes(builder.Output())

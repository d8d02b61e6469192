"""Writes a graph of a `.tflite` file anew, some of its ops being replaced by others.

model = flatbuffer_utils.read_model_from_bytearray(content)
for graph in model.subgraphs:
    GraphWriter(model, graph).rewrite({"RSQRT": one_over_root})
content = bytes(flatbuffer_utils.convert_object_to_bytearray(model))
"""

import numpy as np


class GraphWriter:
    """The graph of a file, to which ops and tensors are added in front of the ops that are there.

    Args:
        model: `ModelT` of LiteRT's schema, which is changed.
        graph: `SubGraphT` of it.
    """

    def __init__(self, model, graph):
        from ai_edge_litert import schema_py_generated as schema

        self._schema, self._model, self._graph = schema, model, graph
        self._kinds = {
            code: name for name, code in vars(schema.BuiltinOperator).items() if not name.startswith("_")
        }
        self._ops = []

    def rewrite(self, replacements):
        """Hands ops to functions that may add others in front of them, or in their place.

        Args:
            replacements: dict from the kind of op to a function (writer, `OperatorT`), which gives whether
                the ops that it has added stand in the op's place; where not, the op stays behind them.

        Returns:
            int, how many ops were added.
        """
        added = 0
        for op in self._graph.operators:
            before = len(self._ops)
            replace = replacements.get(self.kind(op))
            stays = replace is None or not replace(self, op)
            added += len(self._ops) - before
            if stays:
                self._ops.append(op)
        self._graph.operators, self._ops = self._ops, []
        return added

    def kind(self, op):
        """The name of an op's kind, such as "MEAN"."""
        code = self._model.operatorCodes[op.opcodeIndex]
        return self._kinds.get(max(code.builtinCode, code.deprecatedBuiltinCode))

    def shape(self, tensor):
        """The sizes of a tensor as a tuple; None where some are known only at run time."""
        found = self._graph.tensors[tensor]
        sizes = found.shapeSignature if found.shapeSignature is not None else found.shape
        sizes = tuple(map(int, () if sizes is None else sizes))
        return None if -1 in sizes else sizes

    def has_dtype(self, tensor, dtype):
        """Whether a tensor's values are of a type, such as "float32"."""
        return self._graph.tensors[tensor].type == getattr(self._schema.TensorType, dtype.upper())

    def values(self, tensor):
        """The numbers of a constant of int32; None for a tensor that an op computes."""
        data = self._model.buffers[self._graph.tensors[tensor].buffer].data
        return None if data is None else np.frombuffer(bytes(data), "int32").tolist()

    def tensor(self, shape, like):
        """Adds a tensor that an op computes, of the type and quantization of another; its number."""
        found = self._graph.tensors[like]
        return self._add_tensor(shape, found.type, 0, found.quantization, found.name + b"/in_parts")

    def constant(self, values, dtype="float32", name=b"constant"):
        """Adds a constant; its number."""
        values = np.asarray(values, dtype)
        buffer = self._schema.BufferT()
        buffer.data = np.frombuffer(values.tobytes(), "uint8")
        self._model.buffers.append(buffer)
        code = getattr(self._schema.TensorType, dtype.upper())
        return self._add_tensor(values.shape, code, len(self._model.buffers) - 1, None, name)

    def unpacked(self, constant):
        """Adds a tensor of float32 of the shape of a quantized constant; its number."""
        found = self._graph.tensors[constant]
        return self._add_tensor(found.shape, self._schema.TensorType.FLOAT32, 0, None, found.name + b"/float")

    def _add_tensor(self, shape, code, buffer, quantization, name):
        tensor = self._schema.TensorT()
        tensor.shape, tensor.hasRank, tensor.type = list(shape), True, code
        tensor.buffer, tensor.quantization, tensor.name = buffer, quantization, name
        self._graph.tensors.append(tensor)
        return len(self._graph.tensors) - 1

    def op(self, kind, inputs, output, options=None, *, version=1, **attributes):
        """Adds an op in front of the one at hand, and gives its output.

        Args:
            kind: str, such as "MUL".
            inputs: list of int, tensors; -1 for one that is left out.
            output: int, the tensor that it computes.
            options: str, the schema's class of its attributes, such as "MulOptions".
            version: int, that of the op.
            **attributes: the attributes.
        """
        op = self._schema.OperatorT()
        op.opcodeIndex = self._code(kind, version)
        op.inputs, op.outputs = list(inputs), [output]
        if options:
            op.builtinOptionsType = getattr(self._schema.BuiltinOptions, options)
            op.builtinOptions = getattr(self._schema, options + "T")()
            for name, value in attributes.items():
                setattr(op.builtinOptions, name, value)
        self._ops.append(op)
        return output

    def _code(self, kind, version):
        number = getattr(self._schema.BuiltinOperator, kind)
        for index, code in enumerate(self._model.operatorCodes):
            if (code.builtinCode, code.version) == (number, version):
                return index
        code = self._schema.OperatorCodeT()
        code.builtinCode, code.deprecatedBuiltinCode, code.version = number, min(number, 127), version
        self._model.operatorCodes.append(code)
        return len(self._model.operatorCodes) - 1

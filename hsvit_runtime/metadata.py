"""Standard TFLite metadata: what a `.tflite` file says of itself."""

import json
import pathlib

from hsvit_runtime.description import Description

_NAME = b"hsvit_description"


def write(
    content, *, name, description, summary, author=None, licence=None, input_names=None, output_names=None
):
    """The file with metadata."""
    from ai_edge_litert import schema_py_generated as schema
    from ai_edge_litert.tools import flatbuffer_utils

    model = flatbuffer_utils.read_model_from_bytearray(content)
    graph = model.subgraphs[0]
    for indices, names in ((graph.inputs, input_names), (graph.outputs, output_names)):
        for index, tensor_name in zip(indices, names, strict=True):
            graph.tensors[index].name = tensor_name.encode()
    buffer = schema.BufferT()
    buffer.data = list(json.dumps(description.to_json()).encode())
    model.buffers.append(buffer)
    entry = schema.MetadataT()
    entry.name, entry.buffer = _NAME, len(model.buffers) - 1
    model.metadata.append(entry)
    return bytes(flatbuffer_utils.convert_object_to_bytearray(model))


def read_description(path_or_content):
    """The `Description` in a `.tflite` file, an empty one where it has none."""
    from ai_edge_litert import schema_py_generated as schema

    content = (
        path_or_content if isinstance(path_or_content, bytes) else pathlib.Path(path_or_content).read_bytes()
    )
    model = schema.Model.GetRootAs(content)
    for i in range(model.MetadataLength()):
        if model.Metadata(i).Name() == _NAME:
            data = model.Buffers(model.Metadata(i).Buffer()).DataAsNumpy().tobytes()
            return Description.from_json(json.loads(data))
    return Description()

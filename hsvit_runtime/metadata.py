"""Standard TFLite metadata: what a `.tflite` file says of itself to MediaPipe, Android Studio and ML Kit.

A metadata buffer holds a flatbuffer that names and describes inputs and outputs; the class names stand in a
zip archive behind the model. What the standard has no field for stands as JSON in a buffer of its own.
"""

import io
import json
import math
import mmap
import struct
import zipfile
import zlib

from hsvit_runtime import json_files, text_lists
from hsvit_runtime.description import Description
from hsvit_runtime.errors import InputError
from hsvit_runtime.litert import metadata_schema, packing, signatures, tflite_file

STANDARD, OWN = "TFLITE_METADATA", "hsvit_description"  # metadata entries of the file
LABELS = "labels.txt"
_LABELS_FILE = {"name": LABELS, "description": "Names of the classes, one a line."}
SIGNATURE = "serving_default"
_OLDEST_PARSER = "1.0.0"  # the release of the schema that has all fields written here
_WHITE = 255.0
_DAMAGE = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, struct.error)
_DAMAGED_ARCHIVE = (ValueError, LookupError, OSError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error)


# ---- writing ---------------------------------------------------------------------------------------
def write(
    content,
    description,
    *,
    name,
    summary=None,
    version=None,
    author=None,
    licence=None,
    input_names=None,
    output_names=None,
):
    """Adds metadata to a file, or replaces it. Other metadata entries and the model's outputs stay the same.

    Args:
        content: bytes of a `.tflite` file.
        description: `hsvit_runtime.description.Description`.
        name: str, the model in a few words.
        summary: str, what it does and where it comes from.
        version, author, licence: str.
        input_names, output_names: lists of str, new names for the main graph's inputs and outputs; None keeps
            them. New names also go into the graph's signature; a graph without one gets "serving_default".

    Returns:
        bytes of a `.tflite` file.

    Raises:
        InputError: `content` is no `.tflite` file, or has another number of inputs or outputs than names.
    """
    from ai_edge_litert.tools import flatbuffer_utils

    main_graph = tflite_file.read(content, "the model").subgraphs[0]
    model = flatbuffer_utils.read_model_from_bytearray(content)
    inputs, outputs = _rename(model, input_names, output_names)
    standard = {
        "name": name,
        "description": summary,
        "version": version,
        "author": author,
        "license": licence,
        "subgraph_metadata": [
            {
                "input_tensor_metadata": [
                    _input(*each, description) for each in zip(inputs, main_graph.inputs, strict=True)
                ],
                "output_tensor_metadata": [
                    _output(*each, description) for each in zip(outputs, main_graph.outputs, strict=True)
                ],
            }
        ],
        "min_parser_version": _OLDEST_PARSER,
    }
    told = {field: value for field, value in standard.items() if value is not None}
    _set_entry(model, STANDARD, metadata_schema.pack(told))
    _set_entry(model, OWN, json.dumps(description.to_json()).encode())
    return _with_labels(packing.pack(model), description.class_names)


def _rename(model, input_names, output_names):
    """Renames the main graph's inputs and outputs, also in its signature; returns the names of both."""
    graph = model.subgraphs[0]
    inputs = _rename_tensors(graph, graph.inputs, input_names, "input")
    outputs = _rename_tensors(graph, graph.outputs, output_names, "output")
    if input_names is None and output_names is None:
        return inputs, outputs
    known = model.signatureDefs or []
    keys = [_text(entry.signatureKey) for entry in known if entry.subgraphIndex == 0] or [SIGNATURE]
    others = [entry for entry in known if entry.subgraphIndex != 0]
    named = [signatures.signature(key, 0, graph, inputs, outputs) for key in keys]
    model.signatureDefs = named + others
    return inputs, outputs


def _rename_tensors(graph, numbers, names, side):
    """Gives tensors new names, or keeps the old ones; returns the names."""
    if names is None:
        return [_text(graph.tensors[number].name) for number in numbers]
    if len(names) != len(numbers):
        raise InputError(f"{side}_names must be {len(numbers)} names, one an {side}; received {names}")
    for number, name in zip(numbers, names, strict=True):
        graph.tensors[number].name = name
    return list(names)


def _input(name, tensor, description):
    """The metadata of an input. It takes images if it has rank 4, one or three channels and a known range."""
    channels = tensor.shape[-1] if len(tensor.shape) == 4 else None
    if description.input_range is None or channels not in (1, 3):
        return {"name": name, "content": {"content_properties": {"FeatureProperties": {}}}}
    low, high = map(float, description.input_range)
    std = _WHITE / (high - low)
    color = metadata_schema.RGB if channels == 3 else metadata_schema.GRAYSCALE
    return {
        "name": name,
        "description": f"Image: a black pixel is {low:g}, a white one {high:g}.",
        "content": {"content_properties": {"ImageProperties": {"color_space": color}}},
        "process_units": [{"options": {"NormalizationOptions": {"mean": [0.0 - low * std], "std": [std]}}}],
        "stats": _stats(tensor, low, high),
    }


def _output(name, tensor, description):
    """The metadata of an output, with the labels if its last axis has an index for each."""
    made = {"name": name, "content": {"content_properties": {"FeatureProperties": {}}}}
    if name in _OF_DETECTIONS:
        return made | _OF_DETECTIONS[name](description)
    if description.probabilities:
        made |= {"description": "Probabilities of the classes.", "stats": _stats(tensor, 0.0, 1.0)}
    if description.class_names and tensor.shape[-1:] == (len(description.class_names),):
        made["associated_files"] = [_LABELS_FILE | {"type": metadata_schema.TENSOR_AXIS_LABELS}]
    return made


def _boxes(description):
    """What tells of boxes in the order top, left, bottom, right, of which left comes first by default."""
    order = {"index": [1, 0, 3, 2], "type": metadata_schema.BOUNDARIES}
    box = order | {"coordinate_type": metadata_schema.RATIO}
    return {"content": {"content_properties": {"BoundingBoxProperties": box}}}


def _class_indices(description):
    if not description.class_names:
        return {}
    return {"associated_files": [_LABELS_FILE | {"type": metadata_schema.TENSOR_VALUE_LABELS}]}


# What MediaPipe reads of a detector's outputs, which it knows by these names.
_OF_DETECTIONS = {"location": _boxes, "category": _class_indices}


def _stats(tensor, low, high):
    """The least and the largest value of a tensor; for integers, those that they are stored as."""
    low, high = {"uint8": (0.0, 255.0), "int8": (-128.0, 127.0)}.get(tensor.dtype, (low, high))
    return {"max": [high], "min": [low]}


def _set_entry(model, name, content):
    """Stores bytes as the metadata entry of a name, in place of what it held."""
    import numpy as np
    from ai_edge_litert import schema_py_generated as schema

    model.metadata = model.metadata or []
    entry = next((known for known in model.metadata if _text(known.name) == name), None)
    if entry is None:
        entry = schema.MetadataT()
        entry.name = name
        model.metadata.append(entry)
    if entry.buffer == 0:  # which is kept empty: the entry is new, or held nothing
        entry.buffer = len(model.buffers)
        model.buffers.append(schema.BufferT())
    model.buffers[entry.buffer].data = np.frombuffer(content, np.uint8)


def _with_labels(content, class_names):
    """The file with its labels in an uncompressed archive behind it."""
    if not class_names:
        return content
    stream = io.BytesIO(content)
    stream.seek(0, io.SEEK_END)
    with zipfile.ZipFile(stream, "w") as archive:
        lines = (name.replace("\n", " ") + "\n" for name in class_names)
        archive.writestr(zipfile.ZipInfo(LABELS), "".join(lines))  # without a time, so that bytes repeat
    return stream.getvalue()


# ---- reading ---------------------------------------------------------------------------------------
def read_description(path_or_content):
    """What a `.tflite` file says of itself: what `write` has put there, or else standard metadata.

    Args:
        path_or_content: path of a file, or its bytes.

    Returns:
        `hsvit_runtime.description.Description`, with None for what the file does not say or what is damaged.
    """
    if isinstance(path_or_content, bytes):
        return _read(path_or_content, io.BytesIO(path_or_content))
    with open(path_or_content, "rb") as file:
        try:
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError:  # an empty file
            return Description()
        with content:
            return _read(content, file)


def _read(content, file):
    try:
        own = _entry(content, OWN)
        if own is not None:
            return Description.from_json(json_files.parse(own, "its description"))
        standard = _entry(content, STANDARD)
        return Description() if standard is None else _from_standard(metadata_schema.unpack(standard), file)
    except _DAMAGE:
        return Description()


def _from_standard(metadata, file):
    main_graph = metadata["subgraph_metadata"][0]
    (first_input, *_), (first_output, *_) = (
        main_graph.get(f"{side}_tensor_metadata") or [{}] for side in ("input", "output")
    )
    return Description(class_names=_class_names(first_output, file), input_range=_input_range(first_input))


def _class_names(output, file):
    for entry in output.get("associated_files", []):
        if entry.get("type") == metadata_schema.TENSOR_AXIS_LABELS:
            try:
                with zipfile.ZipFile(file) as archive:
                    return tuple(text_lists.lines_of(archive.read(entry["name"]), entry["name"]))
            except _DAMAGED_ARCHIVE:
                return None
    return None


def _input_range(first_input):
    """(low, high) of black and white pixels, None if channels differ."""
    for unit in first_input.get("process_units", []):
        normalization = unit.get("options", {}).get("NormalizationOptions")
        if normalization:
            means, stds = set(normalization["mean"]), set(normalization["std"])
            if len(means) != 1 or len(stds) != 1:
                return None
            (mean,), (std,) = means, stds
            limits = (0.0 - mean) / std, (_WHITE - mean) / std
            return limits if all(map(math.isfinite, limits)) else None
    return None


def _entry(content, name):
    """The bytes of a metadata entry; None where the file has none of the name."""
    from ai_edge_litert import schema_py_generated as schema

    if content[4:8] != b"TFL3":
        return None
    model = schema.Model.GetRootAs(content)
    for number in range(model.MetadataLength()):
        entry = model.Metadata(number)
        if _text(entry.Name()) == name:
            buffer = model.Buffers(entry.Buffer())
            start, size = buffer.Offset(), buffer.Size()
            return bytes(content[start : start + size]) if start > 1 else buffer.DataAsNumpy().tobytes()
    return None


def _text(value):
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value or ""

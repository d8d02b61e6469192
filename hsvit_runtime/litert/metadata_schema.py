"""The flatbuffer of standard TFLite metadata, written from plain values and read into them.

    content = pack({"name": "digits", "subgraph_metadata": [{"name": "main"}]})
    assert unpack(content)["name"] == "digits"

A table is a dict, a union a dict with one key, the name of the table in it. Fields that are left out have
their defaults.
"""

import flatbuffers
from flatbuffers import number_types
from flatbuffers.table import Table

_IDENTIFIER = b"M001"

# The part of metadata_schema.fbs 1.5.0 (tflite-support) that is used here. The order of a table's fields
# numbers them, so that only fields behind the last used one can be left out.
_TABLES = {
    "ModelMetadata": """
        name:string description:string version:string subgraph_metadata:[SubGraphMetadata] author:string
        license:string associated_files:[AssociatedFile] min_parser_version:string""",
    "SubGraphMetadata": """
        name:string description:string input_tensor_metadata:[TensorMetadata]
        output_tensor_metadata:[TensorMetadata]""",
    "TensorMetadata": """
        name:string description:string dimension_names:[string] content:Content process_units:[ProcessUnit]
        stats:Stats associated_files:[AssociatedFile]""",
    "AssociatedFile": "name:string description:string type:byte",
    "Content": "content_properties:ContentProperties",
    "FeatureProperties": "",
    "ImageProperties": "color_space:byte",
    "BoundingBoxProperties": "index:[uint] type:byte coordinate_type:byte",
    "ProcessUnit": "options:ProcessUnitOptions",
    "NormalizationOptions": "mean:[float] std:[float]",
    "Stats": "max:[float] min:[float]",
}
_UNIONS = {
    "ContentProperties": ("FeatureProperties", "ImageProperties", "BoundingBoxProperties"),
    "ProcessUnitOptions": ("NormalizationOptions",),
}
# Kinds of numbers in vectors: how they are read and written.
_NUMBERS = {
    "float": (number_types.Float32Flags, flatbuffers.Builder.PrependFloat32),
    "uint": (number_types.Uint32Flags, flatbuffers.Builder.PrependUint32),
}
TENSOR_AXIS_LABELS, TENSOR_VALUE_LABELS = 2, 3  # AssociatedFile.type
BOUNDARIES, RATIO = 1, 0  # BoundingBoxProperties.type and .coordinate_type
RGB, GRAYSCALE = 1, 2  # ImageProperties.color_space


def pack(metadata):
    """The flatbuffer of a `ModelMetadata`.

    Args:
        metadata: dict of its fields.

    Returns:
        bytes.
    """
    builder = flatbuffers.Builder()
    builder.Finish(_write_table(builder, "ModelMetadata", metadata), file_identifier=_IDENTIFIER)
    return bytes(builder.Output())


def unpack(content):
    """The fields of a `ModelMetadata`, those of which this module knows.

    Args:
        content: bytes of the flatbuffer.

    Returns:
        dict that `pack` takes.

    Raises:
        ValueError, TypeError, struct.error: it is something else, or damaged.
    """
    if content[4:8] != _IDENTIFIER:
        raise ValueError(f"bytes 4 to 8 must be {_IDENTIFIER.decode()}, they are {content[4:8]!r}")
    start = flatbuffers.encode.Get(number_types.UOffsetTFlags.packer_type, content, 0)
    return _read_table(Table(content, start), "ModelMetadata")


def _fields(kind):
    """dict from a field's name to its number and kind. A union takes two numbers, for its type and table."""
    fields, number = {}, 0
    for field in _TABLES[kind].split():
        name, field_kind = field.split(":")
        fields[name] = number, field_kind
        number += 2 if field_kind in _UNIONS else 1
    return fields


# ---- writing ---------------------------------------------------------------------------------------
def _write_table(builder, kind, values):
    fields, bytes_, offsets = _fields(kind), {}, {}
    for name, value in values.items():
        number, field_kind = fields[name]
        if field_kind == "byte":
            bytes_[number] = value
        elif field_kind in _UNIONS:
            ((option, content),) = value.items()
            bytes_[number] = 1 + _UNIONS[field_kind].index(option)
            offsets[number + 1] = _write_table(builder, option, content)
        else:
            offsets[number] = _write(builder, field_kind, value)
    builder.StartObject(2 * len(fields))  # unused numbers at the end take no space
    for number, offset in offsets.items():
        builder.PrependUOffsetTRelativeSlot(number, offset, 0)
    for number, value in bytes_.items():
        builder.PrependUint8Slot(number, value, 0)
    return builder.EndObject()


def _write(builder, kind, value):
    if kind == "string":
        return builder.CreateString(value)
    if not kind.startswith("["):
        return _write_table(builder, kind, value)
    item_kind = kind.strip("[]")
    is_number = item_kind in _NUMBERS
    items = value if is_number else [_write(builder, item_kind, item) for item in value]
    prepend = _NUMBERS[item_kind][1] if is_number else flatbuffers.Builder.PrependUOffsetTRelative
    builder.StartVector(4, len(items), 4)
    for item in reversed(items):
        prepend(builder, item)
    return builder.EndVector()


# ---- reading ---------------------------------------------------------------------------------------
def _read_table(table, kind):
    values = {}
    for name, (number, field_kind) in _fields(kind).items():
        place = _place(table, number)
        if place is None:
            continue
        if field_kind == "byte":
            values[name] = table.Get(number_types.Uint8Flags, place)
        elif field_kind in _UNIONS:
            values[name] = _read_union(table, number, _UNIONS[field_kind])
        else:
            values[name] = _read(table, place, field_kind)
    return values


def _read_union(table, number, options):
    """dict with the table in it; empty where this is one of which this module does not know."""
    option = table.Get(number_types.Uint8Flags, _place(table, number)) - 1
    place = _place(table, number + 1)
    if place is None or not 0 <= option < len(options):
        return {}
    return {options[option]: _read(table, place, options[option])}


def _read(table, place, kind):
    if kind == "string":
        return table.String(place).decode("utf-8", "replace")
    if not kind.startswith("["):
        return _read_table(Table(table.Bytes, table.Indirect(place)), kind)
    item_kind, start = kind.strip("[]"), table.Indirect(place)
    count = table.Get(number_types.UOffsetTFlags, start)
    places = range(start + 4, start + 4 + 4 * count, 4)
    if item_kind in _NUMBERS:
        return [table.Get(_NUMBERS[item_kind][0], item) for item in places]
    return [_read(table, item, item_kind) for item in places]


def _place(table, number):
    """Where in the content a field is, None where it is left out."""
    offset = table.Offset(4 + 2 * number)
    return table.Pos + offset if offset else None

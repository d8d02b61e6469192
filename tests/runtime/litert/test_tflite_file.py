"""Reading: every field of a hand-made file, and files whose parts point nowhere."""

import pytest

pytest.importorskip("ai_edge_litert")

from hsvit_runtime.litert import tflite_file
from tests.runtime.litert.builder import Builder


def small():
    """builder, x, y of a dense layer with three int8 output channels."""
    builder = Builder()
    x = builder.tensor((1, 2), name="image", signature=(-1, 2))
    kernel = builder.constant([[1, 2], [3, 4], [5, 6]], "int8", name="kernel", scale=[0.5, 0.25, 0.125])
    y = builder.tensor((1, 3))
    builder.op("FULLY_CONNECTED", [x, kernel, -1], [y], "FullyConnectedOptions", version=12, keepNumDims=True)
    builder.metadata("min_runtime_version", b"2.17.0\0\0")
    return builder, x, y


def read_small(break_it=lambda raw: None):
    builder, x, y = small()
    builder.content([x], [y])
    break_it(builder.raw)
    return tflite_file.read(builder.packed(), "small.tflite")


def test_all_fields():
    model = read_small()
    assert model.op_versions == [("FULLY_CONNECTED", 12)]
    assert model.metadata == {"min_runtime_version": b"2.17.0\0\0"}
    assert not model.data_outside_flatbuffer
    (graph,) = model.subgraphs
    x, kernel, y = graph.tensors
    assert (graph.name, graph.inputs, graph.outputs) == ("main", [x], [y])
    assert (x.index, x.name, x.dtype) == (0, "image", "float32")
    assert (x.shape, x.signature) == ((1, 2), (None, 2))
    assert (x.data, x.scales, x.zero_points, x.axis, x.sparse, x.source) == (None, (), (), None, False, None)
    assert (kernel.dtype, kernel.shape, bytes(kernel.data)) == ("int8", (3, 2), bytes([1, 2, 3, 4, 5, 6]))
    assert (kernel.scales, kernel.zero_points, kernel.axis) == ((0.5, 0.25, 0.125), (0, 0, 0), 0)
    (op,) = graph.ops
    assert (op.kind, op.version, op.custom) == ("FULLY_CONNECTED", 12, False)
    assert (op.inputs, op.outputs, y.source) == ([x, kernel, None], [y], op)
    assert op.option("keepNumDims") is True
    assert op.option("no such option") == 0


def test_one_scale_has_no_axis():
    builder = Builder()
    x = builder.tensor((1, 2), "int8", scale=0.5, zero_point=-3)
    tensor = tflite_file.read(builder.content([x], [x]), "file").subgraphs[0].tensors[0]
    assert (tensor.scales, tensor.zero_points, tensor.axis) == ((0.5,), (-3,), None)


def test_custom_ops_have_their_own_name_and_no_version_of_a_builtin():
    builder = Builder()
    x = builder.tensor((1,))
    for name in ("FlexErf", "Mine", None):
        builder.op("CUSTOM", [x], [builder.tensor((1,))], custom=name)
    model = tflite_file.read(builder.content([x], [1]), "file")
    assert [(op.kind, op.custom) for op in model.subgraphs[0].ops] == [
        ("FlexErf", True),
        ("Mine", True),
        ("CUSTOM", True),
    ]
    assert model.op_versions == []


def test_names_newer_than_the_schema():
    def newer(raw):
        raw.operatorCodes[0].builtinCode = 5000
        raw.subgraphs[0].tensors[0].type = 99

    model = read_small(newer)
    assert model.op_versions == [("OP_5000", 12)]
    assert model.subgraphs[0].tensors[0].dtype == "type_99"


def test_names_that_are_no_utf8():
    builder = Builder()
    x = builder.tensor((1,), name=b"\xff\xfe")
    assert tflite_file.read(builder.content([x], [x]), "file").subgraphs[0].tensors[0].name == "\ufffd\ufffd"


def set_op(field, value):
    return lambda raw: setattr(raw.subgraphs[0].operators[0], field, value)


def set_tensor(number, field, value):
    return lambda raw: setattr(raw.subgraphs[0].tensors[number], field, value)


@pytest.mark.parametrize(
    ("break_it", "message"),
    [
        (set_op("inputs", [0, 7, -1]), "it refers to tensor 7, but has 3"),
        (set_op("outputs", [-2]), "it refers to tensor -2, but has 3"),
        (set_op("opcodeIndex", 1), "it refers to op 1, but has 1"),
        (lambda raw: setattr(raw.subgraphs[0], "inputs", [3]), "it refers to tensor 3, but has 3"),
        (
            lambda raw: setattr(raw.subgraphs[0], "outputs", [-1]),
            "an output, or an input of a graph, is left out",
        ),
        (set_op("outputs", [-1]), "an output, or an input of a graph, is left out"),
        (set_tensor(0, "buffer", 77), ""),
        (set_tensor(0, "shape", [1, -2]), r"tensor 0 has the shape \(1, -2\)"),
        (set_tensor(1, "shape", [30, 20]), "tensor 1 needs 600 bytes of data and has 6"),
        (set_tensor(1, "type", 0), "tensor 1 needs 24 bytes of data and has 6"),
        (lambda raw: setattr(raw, "subgraphs", []), "it has no graph"),
        (lambda raw: setattr(raw.metadata[0], "buffer", 50), ""),
    ],
)
def test_parts_that_point_nowhere(break_it, message):
    with pytest.raises(ValueError, match=rf"^small.tflite is damaged: .*{message}"):
        read_small(break_it)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "^a.tflite is empty$"),
        (b"abc", r"^a.tflite is not a .tflite file: its bytes 4 to 8 are b'' instead of b'TFL3'"),
        (b"PK\3\4 not a model", r"are b' not'"),
    ],
)
def test_other_files(content, message):
    with pytest.raises(ValueError, match=message):
        tflite_file.read(content, "a.tflite")

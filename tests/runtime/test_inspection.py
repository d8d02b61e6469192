"""The whole report: counted by hand, converted by TensorFlow, damaged, and read by people."""

import itertools
import json
import pathlib
import random
import subprocess
import sys
import warnings

import numpy as np
import pytest

pytest.importorskip("ai_edge_litert")

from ai_edge_litert.compiled_model import CompiledModel

from hsvit_runtime import inspection
from hsvit_runtime.errors import FileError
from hsvit_runtime.inspection import inspect
from hsvit_runtime.litert import delegation, tflite_file
from tests.runtime.litert.builder import Builder

ROOT = pathlib.Path(__file__).parents[2]


def small():
    """ADD and SIGN on (1, 4): one op is delegated, one is not."""
    builder = Builder()
    x = builder.tensor((1, 4), name="image", signature=(-1, 4))
    between, y = builder.tensor((1, 4)), builder.tensor((1, 4), name="sign")
    builder.op("ADD", [x, builder.constant([1.0] * 4)], [between], "AddOptions")
    builder.op("SIGN", [between], [y])
    return builder.content([x], [y])


# ---- arithmetic ------------------------------------------------------------------------------------
def macs_of(kind, shapes, made, options=None, **attributes):
    """What inspection counts for an op, from the shapes of its inputs and of its output."""
    builder = Builder()
    inputs = [builder.tensor(shape) for shape in shapes]
    builder.op(kind, inputs, [builder.tensor(made)], options, **attributes)
    content = builder.content(inputs, [len(inputs)])
    return inspection.multiply_adds(tflite_file.read(content, kind).subgraphs[0].ops[0])


@pytest.mark.parametrize(
    ("kind", "shapes", "made", "expected"),
    [
        # 5 x 7 positions, 6 outputs each, 3 x 3 windows of 4 channels
        ("CONV_2D", [(1, 5, 7, 4), (6, 3, 3, 4), (6,)], (1, 5, 7, 6), 5 * 7 * 6 * 3 * 3 * 4),
        # stride 2: a quarter of the positions
        ("CONV_2D", [(2, 8, 8, 4), (6, 3, 3, 4), (6,)], (2, 4, 4, 6), 2 * 4 * 4 * 6 * 3 * 3 * 4),
        # two groups: every output sees half of the channels
        ("CONV_2D", [(1, 5, 7, 4), (6, 1, 1, 2), (6,)], (1, 5, 7, 6), 5 * 7 * 6 * 2),
        # two outputs a channel, each from a 3 x 5 window of that channel
        ("DEPTHWISE_CONV_2D", [(1, 5, 7, 4), (1, 3, 5, 8), (8,)], (1, 5, 7, 8), 5 * 7 * 8 * 3 * 5),
        # each of 3 x 3 x 4 inputs is spread over a 2 x 2 window of 5 channels
        ("TRANSPOSE_CONV", [(4,), (5, 2, 2, 4), (1, 3, 3, 4)], (1, 6, 6, 5), 3 * 3 * 4 * 2 * 2 * 5),
        # 3 x 5 x 7 positions, 6 outputs each, 2 x 3 x 3 windows of 4 channels
        ("CONV_3D", [(1, 3, 5, 7, 4), (2, 3, 3, 4, 6)], (1, 3, 5, 7, 6), 3 * 5 * 7 * 6 * 2 * 3 * 3 * 4),
        # each of 3 x 3 x 3 x 4 inputs is spread over a 2 x 2 x 2 window of 5 channels
        (
            "CONV_3D_TRANSPOSE",
            [(5,), (2, 2, 2, 5, 4), (1, 3, 3, 3, 4)],
            (1, 6, 6, 6, 5),
            3 * 3 * 3 * 4 * 2 * 2 * 2 * 5,
        ),
        ("FULLY_CONNECTED", [(3, 10), (7, 10)], (3, 7), 3 * 10 * 7),
        ("FULLY_CONNECTED", [(2, 3, 10), (7, 10), (7,)], (2, 3, 7), 2 * 3 * 10 * 7),
        ("BATCH_MATMUL", [(2, 3, 5, 4), (2, 3, 4, 6)], (2, 3, 5, 6), 2 * 3 * 5 * 4 * 6),
        ("BATCH_MATMUL", [(5, 4), (3, 4, 6)], (3, 5, 6), 3 * 5 * 4 * 6),
        ("ADD", [(3, 10), (3, 10)], (3, 10), 0),
        ("MEAN", [(3, 10), (1,)], (3,), 0),
    ],
)
def test_multiply_adds(kind, shapes, made, expected):
    assert macs_of(kind, shapes, made) == expected


def test_multiply_adds_of_transposed_sides():
    shapes, made = [(4, 5), (6, 4)], (5, 6)
    assert macs_of("BATCH_MATMUL", shapes, made, "BatchMatMulOptions", adjX=True, adjY=True) == 5 * 4 * 6


def test_multiply_adds_are_summed_by_kind():
    builder = Builder()
    x, wide, narrow, y = (builder.tensor((1, size)) for size in (8, 16, 4, 4))
    for before, kernel, after in ((x, (16, 8), wide), (wide, (4, 16), narrow)):
        builder.op(
            "FULLY_CONNECTED",
            [before, builder.constant(np.ones(kernel)), -1],
            [after],
            "FullyConnectedOptions",
        )
    builder.op("RELU", [narrow], [y])
    report = inspect(builder.content([x], [y]))
    assert report["ops"] == {"FULLY_CONNECTED": 2, "RELU": 1}
    assert report["macs"] == {"FULLY_CONNECTED": 8 * 16 + 16 * 4, "RELU": 0}
    assert report["total_macs"] == 192
    assert report["weights_bytes"] == {"float32": 4 * 192}


# ---- the report ------------------------------------------------------------------------------------
def test_all_of_a_small_report():
    content = small()
    import ai_edge_litert

    report = inspect(content)
    assert len(report.pop("sha256")) == 64
    assert report == {
        "bytes": len(content),
        "inputs": [
            {"name": "image", "shape": [None, 4], "dtype": "float32", "scale": None, "zero_point": None}
        ],
        "outputs": [{"name": "sign", "shape": [1, 4], "dtype": "float32", "scale": None, "zero_point": None}],
        "ops": {"ADD": 1, "SIGN": 1},
        "macs": {"ADD": 0, "SIGN": 0},
        "total_macs": 0,
        "partitions": 1,
        "fully_delegated": False,
        "undelegated_ops": [{"op": "SIGN", "count": 1, "reason": "XNNPACK has no such op"}],
        "delegation_problem": None,
        "delegation": {
            "2.16": {
                "partitions": 1,
                "fully_delegated": False,
                "undelegated_ops": [{"op": "SIGN", "count": 1, "reason": "XNNPACK has no such op"}],
                "nodes_total": 2,
                "nodes_delegated": 1,
            }
        },
        "litert_version": ai_edge_litert.__version__,
        "custom_ops": [],
        "flex_ops": [],
        "quantized_tensors": [],
        "weights_bytes": {"float32": 16},
        "minimum_runtime": "2.12",
        "runtime_needs": [],
        "declared_runtime": None,
        "runtime": None,
        "loads_on_runtime": None,
    }


def test_a_path_and_its_content_give_one_report(tmp_path):
    path = tmp_path / "a model.tflite"
    path.write_bytes(small())
    report = inspect(path)
    assert report == inspect(str(path)) == inspect(bytearray(small()))
    assert report["sha256"] == subprocess.check_output(["sha256sum", path], text=True).split()[0]


def test_weights_that_tensors_share_count_once():
    builder = Builder()
    x, y, z = (builder.tensor((1, 4)) for _ in range(3))
    first, second = builder.constant([[1.0] * 4]), builder.constant([[2.0] * 4])
    tensors = builder.raw.subgraphs[0].tensors
    tensors[second].buffer = tensors[first].buffer
    builder.op("ADD", [x, first], [y], "AddOptions")
    builder.op("MUL", [y, second], [z], "MulOptions")
    assert inspect(builder.content([x], [z]))["weights_bytes"] == {"float32": 16}


def test_one_reason_is_told_once_with_its_count():
    builder = Builder()
    tensors = [builder.tensor((1, 4)) for _ in range(5)]
    for before, after in itertools.pairwise(tensors[:-1]):
        builder.op("SIGN", [before], [after])
    builder.op("SOFTMAX", [tensors[-2]], [tensors[-1]], "SoftmaxOptions", beta=3.0)
    assert inspect(builder.content(tensors[:1], tensors[-1:]))["undelegated_ops"] == [
        {"op": "SIGN", "count": 3, "reason": "XNNPACK has no such op"},
        {"op": "SOFTMAX", "count": 1, "reason": "its beta is 3, XNNPACK supports 1"},
    ]


@pytest.mark.parametrize("is_assigned", [True, False])
def test_variables_inside_a_partition(is_assigned):
    builder = Builder()
    x, value, y = (builder.tensor((1, 4)) for _ in range(3))
    handle = builder.tensor((), "resource")
    builder.op("VAR_HANDLE", [], [handle], "VarHandleOptions", sharedName="v", container="")
    if is_assigned:
        builder.op("ASSIGN_VARIABLE", [handle, x], [], "AssignVariableOptions")
    builder.op("READ_VARIABLE", [handle], [value], "ReadVariableOptions")
    builder.op("ADD", [x, value], [y], "AddOptions")
    report = inspection.inspect(builder.content([x], [y]))
    # LiteRT gives one partition from x to y, and does not give the variable to anything outside of it.
    assert (report["partitions"], report["fully_delegated"]) == (1, True)
    assert report["undelegated_ops"] == []


def test_says_so_when_no_rule_is_known(monkeypatch):
    monkeypatch.setattr(inspection.xnnpack, "reason", lambda op: None)
    assert inspect(small())["undelegated_ops"] == [{"op": "SIGN", "count": 1, "reason": "unknown reason"}]


def test_custom_and_flex_ops_are_listed_and_the_rest_still_told():
    builder = Builder()
    tensors = [builder.tensor((1, 4)) for _ in range(5)]
    for name, before, after in zip(
        ("Mine", "FlexErf", "FlexErf", "Mine2"), tensors[:-1], tensors[1:], strict=True
    ):
        builder.op("CUSTOM", [before], [after], custom=name)
    report = inspect(builder.content(tensors[:1], tensors[-1:]), runtime="2.16")
    assert (report["custom_ops"], report["flex_ops"]) == (["Mine", "Mine2"], ["FlexErf"])
    assert report["ops"] == {"Mine": 1, "FlexErf": 2, "Mine2": 1}
    assert [report[key] for key in ("partitions", "fully_delegated", "undelegated_ops")] == [None] * 3
    assert "Flex delegate" in report["delegation_problem"] or "Mine" in report["delegation_problem"]
    assert report["loads_on_runtime"] is True


def test_a_crash_of_the_runtime_leaves_a_report():
    builder = Builder()
    x, y = builder.tensor((1, 4), "int8"), builder.tensor((1, 4), "int8")
    builder.op("ADD", [x, x], [y], "AddOptions", version=2)
    report = inspect(builder.content([x], [y]))
    assert report["ops"] == {"ADD": 1}
    assert report["fully_delegated"] is None
    assert report["delegation_problem"] == "the runtime crashed on it (SIGABRT)"


def test_the_runtime_asked_about():
    builder = Builder()
    x = builder.tensor((1, 4))
    builder.op_code("FULLY_CONNECTED", 12)
    builder.op_code("CAST", 7)
    builder.metadata("min_runtime_version", b"2.17.0".ljust(16, b"\0"))
    content = builder.content([x], [x])
    report = inspect(content, runtime="2.17")
    assert (report["minimum_runtime"], report["declared_runtime"]) == ("2.19", "2.17.0")
    assert report["runtime_needs"] == [
        {"feature": "CAST version 7", "runtime": "2.19"},
        {"feature": "FULLY_CONNECTED version 12", "runtime": "2.17"},
    ]
    assert (report["runtime"], report["loads_on_runtime"]) == ("2.17", False)
    assert inspect(content, runtime="2.19")["loads_on_runtime"] is True
    with pytest.raises(ValueError, match=r"a release from 2.12 on, such as 2.16; received 'new'"):
        inspect(content, runtime="new")


# ---- what TensorFlow converts ----------------------------------------------------------------------
def convert(function, *shapes, **settings):
    """The bytes that the converter makes of a function of float32 tensors."""
    import tensorflow as tf

    signature = [tf.TensorSpec(shape, "float32", name=f"x{number}") for number, shape in enumerate(shapes)]
    concrete = tf.function(function, input_signature=signature).get_concrete_function()
    converter = tf.lite.TFLiteConverter.from_concrete_functions([concrete], tf.Module())
    for name, value in settings.items():
        owner = converter.target_spec if name.startswith("supported") else converter
        setattr(owner, name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return converter.convert()


KERNEL = np.random.default_rng(0).standard_normal((3, 3, 4, 32)).astype("float32")
DENSE = np.random.default_rng(1).standard_normal((8 * 8 * 32, 16)).astype("float32")


def classifier(x):
    import tensorflow as tf

    x = tf.nn.relu(tf.nn.conv2d(x, KERNEL, 1, "SAME"))
    return tf.nn.softmax(tf.reshape(x, (1, -1)) @ DENSE)


@pytest.fixture(scope="module")
def artifacts():
    import tensorflow as tf

    shape, default = (1, 8, 8, 4), [tf.lite.Optimize.DEFAULT]
    images = np.random.default_rng(2).random((8, *shape), dtype="float32")
    return {
        "float32": convert(classifier, shape),
        "float16": convert(classifier, shape, optimizations=default, supported_types=[tf.float16]),
        "dynamic": convert(classifier, shape, optimizations=default),
        "int8": convert(
            classifier,
            shape,
            optimizations=default,
            representative_dataset=lambda: ([image] for image in images),
            inference_input_type=tf.int8,
            inference_output_type=tf.int8,
        ),
    }


@pytest.mark.tensorflow
@pytest.mark.parametrize("preset", ["float32", "float16", "dynamic", "int8"])
def test_presets(artifacts, preset):
    content = artifacts[preset]
    report = inspect(content, runtime="2.16")
    assert report["macs"]["CONV_2D"] == 8 * 8 * 3 * 3 * 4 * 32
    assert report["macs"]["FULLY_CONNECTED"] == 8 * 8 * 32 * 16
    assert report["total_macs"] == 73728 + 32768
    numbers = KERNEL.size + DENSE.size  # besides up to 32 + 16 for biases
    size = {"float32": 4, "float16": 2, "dynamic": 1, "int8": 1}[preset]
    dtype = {"dynamic": "int8"}.get(preset, preset)
    assert numbers * size <= report["weights_bytes"][dtype] <= (numbers + 48) * size
    assert CompiledModel.from_buffer(content).is_fully_accelerated() == report["fully_delegated"]
    assert report["fully_delegated"] == (preset != "int8")
    assert json.loads(json.dumps(report)) == report
    assert report["minimum_runtime"] == ("2.17" if preset == "dynamic" else "2.12")
    assert report["loads_on_runtime"] is (preset != "dynamic")
    assert report["declared_runtime"].count(".") == 2


@pytest.mark.tensorflow
def test_int8_softmax_is_left_out(artifacts):
    report = inspect(artifacts["int8"])
    reason = "XNNPACK supports float32 only, its type is int8"
    assert report["undelegated_ops"] == [{"op": "SOFTMAX", "count": 1, "reason": reason}]
    (given,), (made,) = report["inputs"], report["outputs"]
    assert (given["dtype"], made["dtype"]) == ("int8", "int8")
    assert given["zero_point"] == -128 and given["scale"] == pytest.approx(1 / 255, rel=0.02)
    assert (made["scale"], made["zero_point"]) == (1 / 256, -128)


@pytest.mark.tensorflow
@pytest.mark.parametrize("preset", ["dynamic", "int8"])
def test_scales_of_weights(artifacts, preset):
    """One a channel: the largest weight of a channel is 127 steps from zero."""
    constants = [tensor for tensor in inspect(artifacts[preset])["quantized_tensors"] if tensor["constant"]]
    kernels = {len(tensor["scale"]): tensor for tensor in constants if tensor["dtype"] == "int8"}
    for kernel in (KERNEL, DENSE):
        tensor = kernels[kernel.shape[-1]]
        expected = np.abs(kernel).reshape(-1, kernel.shape[-1]).max(0) / 127
        np.testing.assert_allclose(tensor["scale"], expected, rtol=1e-5)
        assert (tensor["axis"], set(tensor["zero_point"])) == (0, {0})


@pytest.mark.tensorflow
def test_grouped_convolution_and_attention():
    import tensorflow as tf

    grouped = np.ones((1, 1, 4, 32), "float32")  # 4 groups of 4 channels in, 8 out

    def attend(x):
        y = tf.reshape(tf.nn.conv2d(tf.reshape(x, (1, 10, 1, 16)), grouped, 1, "VALID"), (10, 4, 8))
        y = tf.transpose(y, (1, 0, 2))
        return tf.matmul(tf.nn.softmax(tf.matmul(y, y, transpose_b=True)), y)

    report = inspect(convert(attend, (1, 10, 16)))
    assert report["macs"]["CONV_2D"] == 10 * 4 * 4 * 8
    assert report["macs"]["BATCH_MATMUL"] == 2 * 4 * 10 * 10 * 8
    assert report["fully_delegated"]


@pytest.mark.tensorflow
def test_what_dynamic_shapes_cost():
    def flat(x):
        import tensorflow as tf

        return tf.reshape(x, (tf.shape(x)[0], 12)) @ np.ones((12, 3), "float32")

    report = inspect(convert(flat, (None, 3, 4)))
    assert report["inputs"][0]["shape"] == [None, 3, 4]
    assert not report["fully_delegated"]
    reasons = {entry["op"]: entry["reason"] for entry in report["undelegated_ops"]}
    assert reasons["RESHAPE"] == "its new shape is computed at run time, XNNPACK needs a constant"
    assert reasons["PACK"] == reasons["SHAPE"] == "XNNPACK has no such op"


@pytest.mark.tensorflow
def test_bodies_of_loops_are_counted_once_and_not_called_delegated():
    import tensorflow as tf

    kernel = np.full((4, 4), 0.1, "float32")

    def loop(x):
        return tf.while_loop(lambda y: tf.reduce_sum(y) > 1.0, lambda y: y @ kernel, [x])[0]

    report = inspect(convert(loop, (1, 4)))
    assert report["ops"]["WHILE"] == 1
    assert report["macs"]["FULLY_CONNECTED"] == 16
    assert report["fully_delegated"] is False
    reasons = {entry["op"]: entry["reason"] for entry in report["undelegated_ops"]}
    assert reasons["WHILE"] == "XNNPACK has no such op"
    assert reasons["FULLY_CONNECTED"].startswith("in graph '")


@pytest.mark.tensorflow
def test_flex_ops_of_the_converter():
    import tensorflow as tf

    sets = [tf.lite.OpsSet.TFLITE_BUILTINS, tf.lite.OpsSet.SELECT_TF_OPS]
    report = inspect(convert(lambda x: tf.linalg.det(tf.nn.relu(x)), (2, 2), supported_ops=sets))
    assert report["ops"] == {"RELU": 1, "FlexMatrixDeterminant": 1}
    assert (report["custom_ops"], report["flex_ops"]) == ([], ["FlexMatrixDeterminant"])
    assert report["fully_delegated"] is None
    assert "Flex delegate" in report["delegation_problem"]


# ---- damage ----------------------------------------------------------------------------------------
def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"^there is no .tflite file .*/gone.tflite$"):
        inspect(tmp_path / "gone.tflite")
    with pytest.raises(FileError, match=r"is a folder, a .tflite file is needed$"):
        inspect(tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"GIF89a, a picture", "is not a .tflite file: its bytes 4 to 8 are b'9a, ' instead of b'TFL3'"),
    ],
)
def test_other_files(tmp_path, content, message):
    path = tmp_path / "other.tflite"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=f"^{path} {message}"):
        inspect(path)


def test_every_cut_is_noticed():
    """LiteRT checks a file's offsets when it opens it; `inspect` relies on the words it says then."""
    from ai_edge_litert.interpreter import Interpreter

    content = small()
    for length in range(8, len(content)):
        with pytest.raises(ValueError, match=inspection._INVALID_FLATBUFFER):
            Interpreter(model_content=content[:length])


@pytest.mark.parametrize("part", [0.02, 0.5, 0.99])
def test_a_cut_file_is_called_damaged(tmp_path, part):
    path = tmp_path / "cut.tflite"
    path.write_bytes(small()[: int(len(small()) * part)])
    with pytest.raises(ValueError, match=f"^{path} is damaged or cut short"):
        inspect(path)


def test_an_op_without_what_it_needs():
    builder = Builder()
    x, y = builder.tensor((1, 4, 4, 1)), builder.tensor((1, 4, 4, 1))
    builder.op("CONV_2D", [x], [y], "Conv2DOptions")
    with pytest.raises(ValueError, match=r"^the model is damaged: an op lacks an input"):
        inspect(builder.content([x], [y]))


def flipped(content, seed):
    chance, content = random.Random(seed), bytearray(content)
    for _ in range(chance.choice([1, 2, 8])):
        content[chance.randrange(8, len(content))] ^= 1 << chance.randrange(8)
    return bytes(content)


@pytest.mark.parametrize("seeds", [range(6), pytest.param(range(6, 300), marks=pytest.mark.exhaustive)])
def test_flipped_bits_give_a_report_or_one_clear_error(monkeypatch, seeds):
    monkeypatch.setattr(delegation, "TIMEOUT_SECONDS", 20)
    outcomes = set()
    for seed in seeds:
        try:
            report = inspect(flipped(small(), seed))
        except ValueError as error:
            assert str(error).startswith("the model is ")
            outcomes.add("error")
        else:
            json.dumps(report)
            assert inspection.summary("flipped", report)
            outcomes.add("report")
    assert outcomes == {"error", "report"}


# ---- for people ------------------------------------------------------------------------------------
SUMMARY = """\
small.tflite

input   image  float32 ? x 4
output  sign  float32 1 x 4

op      count             MACs  in XNNPACK
ADD         1                0  yes
SIGN        1                0  no: XNNPACK has no such op
total       2                0

XNNPACK     1 partition, 1 ops not delegated (LiteRT {version})
custom ops  none
Flex ops    none
runtime     TensorFlow Lite 2.12 or older
quantized   none
weights     float32 16
bytes       {size}
SHA-256     {digest}"""


def test_summary():
    report = inspect(small())
    expected = SUMMARY.format(version=report["litert_version"], size=report["bytes"], digest=report["sha256"])
    assert "\n".join(inspection.summary("small.tflite", report)) == expected


def test_summary_of_the_rest(monkeypatch):
    report = inspect(small()) | {
        "ops": {"SIGN": 5, "FULLY_CONNECTED": 1},
        "macs": {"SIGN": 0, "FULLY_CONNECTED": 1234567},
        "total_macs": 1234567,
        "partitions": 2,
        "undelegated_ops": [
            {"op": "SIGN", "count": 1, "reason": "too short"},
            {"op": "SIGN", "count": 2, "reason": "too long"},
        ],
        "flex_ops": ["FlexErf"],
        "quantized_tensors": [{"dtype": "int8"}, {"dtype": "int8"}, {"dtype": "int32"}],
        "minimum_runtime": "2.17",
        "declared_runtime": "2.9.0",
        "runtime_needs": [
            {"feature": "FULLY_CONNECTED version 12", "runtime": "2.17"},
            {"feature": "LOG version 2", "runtime": "2.15"},
        ],
    }
    text = "\n".join(inspection.summary("m", report))
    assert "FULLY_CONNECTED       1        1,234,567  yes" in text
    assert "2 of 5: 1: too short; 2: too long" in text
    assert "2 partitions, 3 ops not delegated" in text
    assert "quantized   2 int8, 1 int32" in text
    assert (
        "runtime     TensorFlow Lite 2.17 or newer, for FULLY_CONNECTED version 12, with the custom ops\n"
        "            added; the file itself declares 2.9.0"
    ) in text
    report |= {"minimum_runtime": None, "runtime_needs": [{"feature": "PAD version 9", "runtime": None}]}
    assert "newer than TensorFlow Lite 2.21, for PAD version 9" in "\n".join(inspection.summary("m", report))


def test_summary_fits_100_columns_and_steers_no_terminal():
    builder = Builder()
    x = builder.tensor((1, 4), name="\x1b[2J" * 60)
    y = builder.tensor((1, 4), "int8", name="y" * 300, scale=0.123456789, zero_point=-128)
    builder.op("CUSTOM", [x], [y], custom="\x1b[31mHorrible" * 12)
    builder.op("CUSTOM", [x], [y], custom="Flex" + "Long" * 40)
    lines = inspection.summary("m.tflite", inspect(builder.content([x], [y])))
    assert max(map(len, lines)) <= 100
    assert all(line.isprintable() for line in lines)


def test_summary_warns_of_what_the_older_delegate_leaves():
    builder = Builder()
    x, y, z = (builder.tensor((1, 4)) for _ in range(3))
    builder.op("RELU", [x], [y])
    builder.op("RSQRT", [y], [z])
    report = inspect(builder.content([x], [z]), runtime="2.16.1")
    assert report["fully_delegated"]
    assert report["delegation"]["2.16"] == {
        "partitions": 1,
        "fully_delegated": False,
        "undelegated_ops": [{"op": "RSQRT", "count": 1, "reason": "XNNPACK of 2.16 has no such op"}],
        "nodes_total": 2,
        "nodes_delegated": 1,
    }
    text = "\n".join(inspection.summary("m", report))
    assert "on 2.16     WARNING: 1 partition, 1 of 2 ops delegated, not 1 RSQRT; ratios of latencies" in text
    assert "on 2.16     1 partition, all 2 ops" in "\n".join(
        inspection.summary("m", inspect(small_relus(), runtime="2.16"))
    )


def small_relus():
    builder = Builder()
    x, y, z = (builder.tensor((1, 4)) for _ in range(3))
    builder.op("RELU", [x], [y])
    builder.op("NEG", [y], [z])
    return builder.content([x], [z])


# ---- the command -----------------------------------------------------------------------------------
def run(*arguments):
    command = [sys.executable, "-m", "export.inspection", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT)


def test_command(tmp_path):
    path, output = tmp_path / "a model.tflite", tmp_path / "report.json"
    path.write_bytes(small())
    done = run(path, f"--output={output}", "--runtime=2.16")
    assert (done.returncode, done.stderr) == (0, "")
    report = inspect(path, runtime="2.16")
    assert json.loads(output.read_text()) == report
    assert done.stdout == "\n".join(inspection.summary(path, report)) + "\n"
    assert {file.name for file in tmp_path.iterdir()} == {path.name, output.name}


def test_command_writes_nothing_unless_asked(tmp_path):
    path = tmp_path / "m.tflite"
    path.write_bytes(small())
    assert run(path).returncode == 0
    assert list(tmp_path.iterdir()) == [path]


def test_command_fails_when_the_runtime_is_too_old(tmp_path):
    builder = Builder()
    x = builder.tensor((1,))
    builder.op_code("FULLY_CONNECTED", 12)
    path = tmp_path / "m.tflite"
    path.write_bytes(builder.content([x], [x]))
    done = run(path, "--runtime=2.16")
    assert (done.returncode, done.stderr) == (1, f"error: runtime 2.16 does not load {path}, see above\n")
    assert "TensorFlow Lite 2.17 or newer, for FULLY_CONNECTED version 12" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "error: needs one .tflite file; options are written --name=value; received []"),
        (["a.tflite", "b.tflite"], "error: needs one .tflite file; options are written"),
        (["gone.tflite"], "error: there is no .tflite file gone.tflite"),
        (["setup.cfg"], "error: setup.cfg is not a .tflite file"),
    ],
)
def test_command_on_bad_input(arguments, message):
    done = run(*arguments)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith(message) and done.stderr.count("\n") == 1


def test_importing_the_command_is_cheap():
    check = (
        "import sys, export.inspection as i;"
        "print({'tensorflow', 'keras', 'ai_edge_litert'} & set(sys.modules), 'output' in i.FLAGS)"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout == "set() False\n"

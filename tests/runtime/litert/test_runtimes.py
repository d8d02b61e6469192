"""The table of releases against the two newest of them, and how it is read."""

import warnings

import pytest

pytest.importorskip("ai_edge_litert")

from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter

from hsvit_runtime.litert import runtimes, tflite_file
from tests.runtime.litert.builder import Builder

BUILTINS = [name for name in vars(schema.BuiltinOperator) if not name.startswith("_") and name != "CUSTOM"]


def naming(*ops, dtype="float32"):
    """A file that names versions of ops, without using them."""
    builder = Builder()
    x = builder.tensor((4,), dtype)
    for kind, version in ops:
        builder.op_code(kind, version)
    return builder.content([x], [x])


def needs_of(content):
    return runtimes.needs(tflite_file.read(content, "file"))


def newest_version(op):
    return max((ops.get(op, 0) for ops in runtimes._NEW_OPS.values()), default=0)


def loads(interpreter, content):
    try:
        interpreter(model_content=content)
    except ValueError:
        return False
    return True


@pytest.mark.tensorflow
def test_last_release_knows_the_table_and_nothing_beyond():
    import tensorflow as tf

    assert tf.__version__.startswith(runtimes.RELEASES[-1])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"\s*Warning: tf.lite.Interpreter is deprecated")
        known = [
            op for op in BUILTINS if loads(tf.lite.Interpreter, naming((op, max(1, newest_version(op)))))
        ]
        newer = [op for op in known if loads(tf.lite.Interpreter, naming((op, newest_version(op) + 1)))]
    assert sorted(known) == sorted(op for op in BUILTINS if newest_version(op))
    assert newer == []


def test_litert_goes_on_from_the_table():
    ops = [(op, newest_version(op)) for op in BUILTINS if newest_version(op)]
    assert len(ops) > 170
    assert loads(Interpreter, naming(*ops))


@pytest.mark.parametrize(
    ("op", "version", "release"),
    [
        ("FULLY_CONNECTED", 5, "2.12"),
        ("FULLY_CONNECTED", 9, "2.12"),
        ("FULLY_CONNECTED", 10, "2.13"),
        ("FULLY_CONNECTED", 12, "2.17"),
        ("FULLY_CONNECTED", 14, "2.21"),
        ("FULLY_CONNECTED", 15, None),
        ("CONV_2D", 6, "2.12"),
        ("CONV_2D", 8, "2.15"),
        ("STRIDED_SLICE", 7, "2.14"),
        ("CAST", 7, "2.19"),
        ("RESHAPE", 1, "2.12"),
        ("DILATE", 1, "2.15"),
        ("STABLEHLO_COMPOSITE", 1, "2.18"),
        ("SKIP_GRAM", 2, None),
        ("CONCAT_EMBEDDINGS", 1, None),
    ],
)
def test_release_of_an_op(op, version, release):
    needs = needs_of(naming(("ADD", 1), (op, version)))
    assert runtimes.oldest(needs) == release
    expected = [] if release == "2.12" else [{"feature": f"{op} version {version}", "runtime": release}]
    assert needs == expected


def test_newest_need_comes_first_and_decides():
    needs = needs_of(naming(("LOG", 2), ("PAD", 99), ("FULLY_CONNECTED", 12), ("RESHAPE", 1)))
    assert [need["runtime"] for need in needs] == [None, "2.17", "2.15"]
    assert runtimes.oldest(needs) is None
    assert runtimes.oldest(needs[1:]) == "2.17"


@pytest.mark.parametrize(
    ("dtype", "release"), [("int4", "2.12"), ("bfloat16", "2.17"), ("int2", "2.21"), ("float8_e5m2", None)]
)
def test_release_of_a_type(dtype, release):
    assert runtimes.oldest(needs_of(naming(dtype=dtype))) == release


def test_data_outside_the_flatbuffer_needs_2_14():
    builder = Builder()
    x = builder.constant([0.0] * 4)
    buffer = builder.raw.buffers[1]
    buffer.data, buffer.offset, buffer.size = None, 2, 16
    buffer.offset = -(-len(builder.content([], [x])) // 16) * 16
    content = builder.content([], [x]).ljust(buffer.offset, b"\0") + bytes(range(16))
    model = tflite_file.read(content, "file")
    assert bytes(model.subgraphs[0].tensors[0].data) == bytes(range(16))
    assert needs_of(content) == [{"feature": "data outside the flatbuffer", "runtime": "2.14"}]


@pytest.mark.parametrize(
    ("release", "runtime", "expected"),
    [
        ("2.12", "2.12", True),
        ("2.12", "2.16", True),
        ("2.17", "2.16", False),
        ("2.17", "2.16.1", False),
        ("2.17", "2.17.1", True),
        ("2.9", "2.16", True),
        (None, "2.21", False),
        ("2.21", "3.0", True),
    ],
)
def test_loads(release, runtime, expected):
    assert runtimes.loads(release, runtime) is expected


@pytest.mark.parametrize("runtime", ["2", "two", "", "2.11", "1.15", "2.x"])
def test_loads_rejects_what_is_no_known_release(runtime):
    with pytest.raises(ValueError, match=rf"a release from 2.12 on, such as 2.16; received '{runtime}'"):
        runtimes.loads("2.12", runtime)

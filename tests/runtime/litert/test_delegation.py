"""Partitions as LiteRT makes them, against LiteRT's own word, and runtimes that do not come back."""

import pytest

pytest.importorskip("ai_edge_litert")

from ai_edge_litert.compiled_model import CompiledModel

from hsvit_runtime.litert import delegation, native_load, tflite_file
from tests.runtime.litert.builder import Builder


def chain(*kinds, result=-1):
    """Ops one after the other; SIGN is never delegated. `result` picks the tensor that goes out."""
    builder = Builder()
    tensors = [builder.tensor((1, 4)) for _ in range(len(kinds) + 1)]
    for kind, before, after in zip(kinds, tensors[:-1], tensors[1:], strict=True):
        builder.op(kind, [before], [after])
    return builder.content(tensors[:1], [tensors[result]])


def fork(left, right, join=True):
    """Two ops on one input; joined by an ADD, or with nobody who wants the right one."""
    builder = Builder()
    x, y, z, out = (builder.tensor((1, 4)) for _ in range(4))
    builder.op(left, [x], [y])
    builder.op(right, [x], [z])
    if join:
        builder.op("ADD", [y, z], [out], "AddOptions")
    return builder.content([x], [out if join else y])


def from_constant():
    builder = Builder()
    x, y, out = (builder.tensor((1, 4)) for _ in range(3))
    builder.op("NEG", [builder.constant([[1.0, 2, 3, 4]])], [y])
    builder.op("ADD", [x, y], [out], "AddOptions")
    return builder.content([x], [out])


@pytest.mark.parametrize(
    ("content", "partitions", "left"),
    [
        (chain("RELU"), 1, []),
        (chain("RELU", "NEG", "ABS"), 1, []),
        (chain("RELU", "SIGN", "ABS"), 2, [1]),
        (chain("SIGN", "RELU"), 1, [0]),
        (chain("SIGN"), 0, [0]),
        (chain("SIGN", "SIGN", "RELU", "SIGN", "NEG"), 2, [0, 1, 3]),
        (fork("RELU", "NEG"), 1, []),
        (fork("RELU", "SIGN"), 2, [1]),
        (fork("RELU", "NEG", join=False), 1, []),
        (fork("RELU", "SIGN", join=False), 1, [1]),
        (chain("RELU", "NEG", result=1), 1, []),
        (from_constant(), 1, []),
    ],
    ids=lambda value: f"{len(value)} bytes" if isinstance(value, bytes) else str(value),
)
def test_left_out_agrees_with_litert(content, partitions, left):
    observed = delegation.observe(content)
    graph = tflite_file.read(content, "chain").subgraphs[0]
    outside = delegation.undelegated_ops(graph, observed["partitions"])
    assert len(observed["partitions"]) == partitions
    assert [graph.ops.index(op) for op in outside] == left
    fully = partitions == 1 and not left
    assert CompiledModel.from_buffer(content).is_fully_accelerated() == fully


def test_a_custom_op_is_a_problem_with_its_name():
    builder = Builder()
    x, y = builder.tensor((1, 4)), builder.tensor((1, 4))
    builder.op("CUSTOM", [x], [y], custom="Sparkle")
    assert "unresolved custom op: Sparkle" in delegation.observe(builder.content([x], [y]))["problem"]


def crashing():
    """Integers without a scale, which the kernel of ADD divides by."""
    builder = Builder()
    x, y = builder.tensor((1, 4), "int8"), builder.tensor((1, 4), "int8")
    builder.op("ADD", [x, x], [y], "AddOptions", version=2)
    return builder.content([x], [y])


def test_a_crash_of_the_runtime_is_a_problem():
    assert delegation.observe(crashing()) == {"problem": "the runtime crashed on it (SIGABRT)"}


def test_memory_of_the_runtime_is_limited():
    builder = Builder()
    x, y = builder.tensor((2**15, 3 * 2**13)), builder.tensor((2**15, 3 * 2**13))  # 3 GiB each
    builder.op("SIGN", [x], [y])
    problem = delegation.observe(builder.content([x], [y]))["problem"]
    assert problem == "LiteRT gives no reason, or is out of memory"


def test_a_runtime_that_takes_too_long_is_a_problem(monkeypatch):
    monkeypatch.setattr(delegation, "TIMEOUT_SECONDS", 0.01)
    problem = delegation.observe(chain("RELU"))["problem"]
    assert problem == "the runtime did not finish loading it within 0.01 seconds"


def test_litert_that_does_not_start_is_an_import_error(monkeypatch, tmp_path):
    broken = tmp_path / "native_load.py"
    broken.write_text("import no_such_litert\n")
    monkeypatch.setattr(native_load, "__file__", str(broken))
    with pytest.raises(ImportError, match=r"LiteRT does not start: .*no_such_litert"):
        delegation.observe(chain("RELU"))

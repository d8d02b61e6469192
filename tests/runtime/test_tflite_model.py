"""`.tflite` files made by hand, run in LiteRT: tensors, batches, delegation, and files that do not load."""

import numpy as np
import pytest

pytest.importorskip("ai_edge_litert")

import hsvit_runtime
from hsvit_runtime import tflite_model
from hsvit_runtime.description import Description
from hsvit_runtime.errors import InputError, MissingFileError
from hsvit_runtime.tflite_model import TFLiteModel
from tests.runtime.litert.builder import Builder

pytestmark = pytest.mark.once


def chain(*kinds, signature=None):
    """The content of a file with ops on (1, 4), one behind the other; LiteRT never delegates SIGN."""
    builder = Builder()
    tensors = [builder.tensor((1, 4), name="x", signature=signature)]
    tensors += [builder.tensor((1, 4), name=f"y{i}", signature=signature) for i in range(len(kinds))]
    for kind, before, after in zip(kinds, tensors[:-1], tensors[1:], strict=True):
        builder.op(kind, [before], [after])
    return builder.content(tensors[:1], tensors[-1:])


def test_what_is_known_of_a_model():
    import ai_edge_litert

    model = TFLiteModel(chain("NEG"), threads=2)
    (x,), (y,) = model.inputs, model.outputs
    assert (x.name, x.shape, x.dtype, x.scale, x.zero_point) == ("x", (1, 4), np.float32, None, None)
    assert (y.name, y.shape) == ("y0", (1, 4))
    assert model.runtime == {"name": "LiteRT Interpreter", "version": ai_edge_litert.__version__}
    assert model.threads_used == 2
    assert model.init_ms > 0
    assert model.description == Description()


def test_outputs_do_not_share_memory_with_the_next():
    model, values = TFLiteModel(chain("NEG")), np.arange(4, dtype="float32")[None]
    first = model.run({"x": values})["y0"]
    np.testing.assert_array_equal(first, -values)
    model.run({"x": values + 1})
    np.testing.assert_array_equal(first, -values)


@pytest.mark.parametrize("counts", [(3, 1), (1, 3, 2)])
def test_a_free_batch_takes_any_number(counts):
    model = TFLiteModel(chain("NEG", "ABS", signature=(-1, 4)))
    assert model.inputs[0].shape == (None, 4)
    for count in counts:
        values = np.random.default_rng(count).normal(size=(count, 4)).astype("float32")
        np.testing.assert_array_equal(model.predict_only(values), np.abs(values))


def test_integer_inputs_and_outputs():
    """int8 in steps of 1/4 to uint8 in steps of 1/2: as the file has them, or what they stand for."""
    builder = Builder()
    x = builder.tensor((1, 3), "int8", name="x", scale=0.25, zero_point=-3)
    y = builder.tensor((1, 3), name="y")
    z = builder.tensor((1, 3), "uint8", name="z", scale=0.5, zero_point=10)
    builder.op("DEQUANTIZE", [x], [y], version=2)
    builder.op("QUANTIZE", [y], [z])
    model = TFLiteModel(builder.content([x], [z]))
    assert (model.inputs[0].scale, model.inputs[0].zero_point) == (0.25, -3)
    assert model.run({"x": np.array([[-3, 1, 5]], "int8")})["z"].tolist() == [[10, 12, 14]]
    assert model.predict_only(np.array([[0, 1, 2]], "float32")).tolist() == [[0, 1, 2]]
    assert model.predict_only(np.array([[0.1, -9, 99]], "float32")).tolist() == [[0, -5, 32.5]]


# ---- delegation ------------------------------------------------------------------------------------
def delegation_of(*kinds, **settings):
    return tuple(TFLiteModel(chain(*kinds), **settings).delegation.values())


def test_delegation():
    assert delegation_of("NEG", "ABS", "NEG") == ("XNNPACK", 1, 3, 3)
    assert delegation_of("NEG", "SIGN", "ABS") == ("XNNPACK", 2, 2, 3)
    assert delegation_of("SIGN") == (None, 0, 0, 1)
    assert delegation_of("NEG", "ABS", delegate=False) == (None, 0, 0, 2)


class Interpreter:
    """A graph of (name, inputs, outputs), as LiteRT lists it after delegation, that ends in tensor 9."""

    def __init__(self, *operators):
        self.operators = operators

    def _get_ops_details(self):
        return [
            {"index": index, "op_name": name, "inputs": inputs, "outputs": outputs}
            for index, (name, inputs, outputs) in enumerate(self.operators)
        ]

    def get_output_details(self):
        return [{"index": 9}]


def test_delegation_counts_operators_behind_a_delegate():
    split = tflite_model._delegation(
        Interpreter(
            ("CONV_2D", [0], [1]),
            ("SOFTMAX", [1], [2]),
            ("MUL", [2, 1], [3]),
            ("ADD", [3], [9]),
            ("DELEGATE", [0], [1]),
            ("DELEGATE", [2, 1], [9]),
        )
    )
    assert split == {"delegate": "XNNPACK", "partitions": 2, "nodes_delegated": 3, "nodes_total": 4}
    nothing = tflite_model._delegation(Interpreter(("SOFTMAX", [0], [9])))
    assert nothing == {"delegate": None, "partitions": 0, "nodes_delegated": 0, "nodes_total": 1}


# ---- files -----------------------------------------------------------------------------------------
def test_open_artifact(tmp_path):
    (tmp_path / "m.tflite").write_bytes(chain("NEG"))
    model = hsvit_runtime.open_artifact(tmp_path / "m.tflite", threads=2)
    assert (type(model), model.threads_used) == (TFLiteModel, 2)


@pytest.mark.parametrize("damage", ["truncated", "empty", "overwritten"])
def test_damaged_files_are_one_line(tmp_path, damage):
    content = chain("NEG")
    damaged = {"truncated": content[: len(content) // 2], "empty": b"", "overwritten": b"no model\n" * 200}
    path = tmp_path / "m.tflite"
    path.write_bytes(damaged[damage])
    with pytest.raises(InputError, match="does not load in LiteRT") as raised:
        hsvit_runtime.open_artifact(path)
    assert "\n" not in str(raised.value)
    assert str(path) in str(raised.value)


@pytest.mark.parametrize("damaged", ["x", "y0", "y1"])
def test_a_damaged_name_of_a_tensor(damaged):
    """LiteRT loads and runs such a file; its Python part ends in `UnicodeDecodeError`."""
    content = chain("NEG", "ABS").replace(
        b"\0" + damaged.encode() + b"\0", b"\0" + b"\x90" * len(damaged) + b"\0"
    )
    with pytest.raises(InputError, match="the file: the name of a tensor is not in UTF-8"):
        TFLiteModel(content)


def test_missing_and_other_files(tmp_path):
    for opening in (hsvit_runtime.open_artifact, TFLiteModel):
        with pytest.raises(MissingFileError, match=r"there is no model file .*missing\.tflite"):
            opening(tmp_path / "missing.tflite")
    with pytest.raises(InputError, match=r"its name has to end in \.tflite or \.onnx"):
        hsvit_runtime.open_artifact(tmp_path / "model.h5")

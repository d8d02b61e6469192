"""`.onnx` files in ONNX Runtime, made by hand from ONNX's own operators."""

import json

import numpy as np
import pytest

import hsvit_runtime
from hsvit_runtime.description import Description
from hsvit_runtime.errors import InputError
from hsvit_runtime.onnx_model import DESCRIPTION, OnnxModel

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
pytestmark = pytest.mark.once

FLOAT, STRING = onnx.TensorProto.FLOAT, onnx.TensorProto.STRING


def doubling(batch="batch", kind=FLOAT, description=None):
    """The content of a file that gives each input twice: `twice = image + image`."""
    operation = "Add" if kind == FLOAT else "Identity"
    node = onnx.helper.make_node(operation, ["image"] * (2 if kind == FLOAT else 1), ["twice"])
    graph = onnx.helper.make_graph(
        [node],
        "doubling",
        [onnx.helper.make_tensor_value_info("image", kind, (batch, 3))],
        [onnx.helper.make_tensor_value_info("twice", kind, (batch, 3))],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    if description is not None:
        model.metadata_props.add(key=DESCRIPTION, value=description)
    return model.SerializeToString()


def numbers(count):
    return np.arange(3.0 * count, dtype="float32").reshape(count, 3)


@pytest.mark.parametrize("count", [1, 5])
def test_a_free_batch_takes_any(count):
    model = OnnxModel(doubling())
    (image,), (twice,) = model.inputs, model.outputs
    assert (image.name, image.shape, image.dtype) == ("image", (None, 3), np.dtype("float32"))
    assert (twice.name, twice.shape, twice.scale) == ("twice", (None, 3), None)
    np.testing.assert_array_equal(model.run({"image": numbers(count)})["twice"], 2 * numbers(count))
    np.testing.assert_array_equal(model.predict({"image": numbers(count)})["twice"], 2 * numbers(count))


def test_a_fixed_batch_is_filled_up():
    model = OnnxModel(doubling(batch=2))
    assert model.inputs[0].shape == (2, 3)
    np.testing.assert_array_equal(model.predict({"image": numbers(5)})["twice"], 2 * numbers(5))


@pytest.mark.parametrize("threads", [1, 2])
def test_facts(threads):
    import onnxruntime

    model = OnnxModel(doubling(), threads=threads)
    assert model.threads_used == threads
    assert model._session.get_session_options().intra_op_num_threads == threads
    assert model.runtime == {"name": "ONNX Runtime", "version": onnxruntime.__version__}
    assert model.init_ms > 0
    assert model.description == Description()


def test_a_file_with_a_description(tmp_path):
    described = Description("classification", ("cat", "dog", "owl"), "pets", (0.0, 255.0), True)
    path = tmp_path / "model.onnx"
    path.write_bytes(doubling(description=json.dumps(described.to_json())))
    assert hsvit_runtime.open_artifact(path).description == described


@pytest.mark.parametrize("description", ["{", "[1]"])
def test_a_damaged_description(description):
    with pytest.raises(InputError, match=r"^the file has a description that is damaged: ") as refusal:
        OnnxModel(doubling(description=description))
    assert "\n" not in str(refusal.value)


def test_a_damaged_file(tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(doubling()[:-20])
    with pytest.raises(InputError, match=f"^{path} does not load in ONNX Runtime: ") as refusal:
        OnnxModel(path)
    assert "\n" not in str(refusal.value)


def test_text_is_refused():
    with pytest.raises(InputError, match=r"^'image' of the file is no tensor of numbers: tensor\(string\)$"):
        OnnxModel(doubling(kind=STRING))

"""One file with a signature for each number of groups: right answers, weights stored once, a budget kept."""

import json

import keras
import numpy as np
import pytest

import hsvit_keras

if keras.backend.backend() != "tensorflow":
    pytest.skip("conversion needs the TensorFlow backend", allow_module_level=True)

from ai_edge_litert.interpreter import Interpreter

from data_sets import load_dataset, sample_images
from export import elastic, tflite
from hsvit_keras.artifacts import writing
from hsvit_runtime.litert import tflite_file

pytestmark = pytest.mark.tensorflow

SIZE = (16, 16, 1)


def pictures(count):
    dataset = load_dataset("digits", "test")
    return sample_images(dataset, count, image_shape=SIZE, mean=0.3, std=0.35)[0]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    keras.utils.set_random_seed(0)
    model = hsvit_keras.create_model("hsvit_tiny", input_shape=SIZE)
    for _ in range(20):
        model(pictures(64), training=True)
    folder = tmp_path_factory.mktemp("run")
    (folder / "config.json").write_text(json.dumps({"mean": [0.3], "std": [0.35]}))
    model.save(folder / "model.keras")
    return folder / "model.keras"


def request(path, output, **settings):
    return writing.Request(str(path), str(output), samples=16, **settings)


@pytest.mark.parametrize("preset", ["float32", "int8"])
def test_each_signature_answers_with_its_groups(path, preset, tmp_path):
    calibration = tflite.Calibration("digits", 64) if preset == "int8" else None
    report = elastic.export(request(path, tmp_path / "m.tflite"), [1, 2, 4], preset, calibration=calibration)
    signatures = report["signatures"]
    assert [row["signature"] for row in signatures] == ["groups_1", "groups_2", "groups_4"]
    assert all(row["fully_delegated"] and row["partitions"] == 1 for row in signatures)
    assert report == json.loads((tmp_path / "m.json").read_text())
    model, images = keras.models.load_model(path), pictures(8)
    interpreter = Interpreter(str(tmp_path / "m.tflite"))
    for groups in (1, 2, 4):
        run = interpreter.get_signature_runner(f"groups_{groups}")
        answers = np.concatenate([run(image=image[np.newaxis])["logits"] for image in images])
        expected = np.asarray(hsvit_keras.slim(model, groups=list(range(groups)))(images))
        if preset == "float32":
            np.testing.assert_allclose(answers, expected, atol=2e-5 * np.abs(expected).max())
        assert np.corrcoef(answers.ravel(), expected.ravel())[0, 1] > 0.99


def test_weights_are_stored_once_and_the_stem_is_computed_once(path, tmp_path):
    report = elastic.export(request(path, tmp_path / "elastic.tflite"), [1, 2, 4], "dynamic")
    whole = tflite.export(request(path, tmp_path / "whole.tflite"), "dynamic")
    *_, last = report["signatures"]
    assert last["multiply_adds"] == whole["total_macs"]
    files = {name: (tmp_path / f"{name}.tflite").read_bytes() for name in ("elastic", "whole")}
    elastic_graphs = tflite_file.read(files["elastic"], "elastic").subgraphs
    (whole_graph,) = tflite_file.read(files["whole"], "whole").subgraphs
    # Groups that have kernels apart are 8 bits by 8 bits what they are together, so no byte may come twice.
    assert weights_bytes(elastic_graphs) == weights_bytes([whole_graph])
    assert report["bytes"] < sum(row["bytes"] for row in report["signatures"])


def weights_bytes(graphs):
    """The bytes of all 8-bit constants of a file, each buffer counted once."""
    tensors = [tensor for graph in graphs for tensor in graph.tensors]
    buffers = {
        tensor.buffer: len(tensor.data) for tensor in tensors if tensor.data and tensor.dtype == "int8"
    }
    return sum(buffers.values())


@pytest.mark.parametrize("groups", [[4, 2], [2, 2, 4], [0, 4], [1, 2], [1, 5]])
def test_numbers_of_groups_that_do_not_fit(path, groups, tmp_path):
    with pytest.raises(ValueError, match="--groups has to be rising numbers from 1 to 4, the groups of"):
        elastic.export(request(path, tmp_path / "m.tflite"), groups)
    assert not list(tmp_path.iterdir())


def test_errors(path, tmp_path):
    with pytest.raises(ValueError, match=r"the output's name has to end in \.tflite; received output=.*bin"):
        elastic.export(request(path, tmp_path / "m.bin"), [4])
    with pytest.raises(ValueError, match="answers one image at a time; received batch=2"):
        elastic.export(request(path, tmp_path / "m.tflite", batch=2), [4])
    with pytest.raises(ValueError, match="has no ranges, which int8 needs"):
        elastic.export(request(path, tmp_path / "m.tflite"), [4], "int8")
    assert not list(tmp_path.iterdir())


def test_a_model_in_half_precision(tmp_path):
    keras.utils.set_random_seed(0)
    model = hsvit_keras.create_model("hsvit_tiny", input_shape=SIZE, dtype="mixed_bfloat16")
    model.save(tmp_path / "half.keras")
    output = tmp_path / "half.tflite"
    (signature,) = elastic.export(request(tmp_path / "half.keras", output), [4], "float32")["signatures"]
    # Artifacts compute in float32, and are compared with Keras computing so.
    assert signature["parity"]["max_abs_diff"] <= 2e-5 * max(1, signature["parity"]["largest_answer"])

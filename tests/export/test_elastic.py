"""One file with a signature for each number of groups: right outputs, and weights stored once."""

import json

import keras
import numpy as np
import pytest

import hsvit_keras

if keras.backend.backend() != "tensorflow":
    pytest.skip("conversion needs the TensorFlow backend", allow_module_level=True)

from ai_edge_litert.interpreter import Interpreter

from export import elastic
from export.sharding import elastic_file
from hsvit_keras.artifacts.lowering import lower
from hsvit_keras.artifacts.tflite_conversion import convert
from hsvit_keras.artifacts.writing import in_float32, tflite_facts
from hsvit_runtime.errors import InputError
from hsvit_runtime.litert import tflite_file
from tests.command_line.in_process import call
from tests.export import hsvits

pytestmark = pytest.mark.tensorflow


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["float32", "int8"])
def test_each_signature_computes_with_its_groups(preset, tmp_path):
    model = hsvits.small()
    report = elastic_file.write(hsvits.request(model, preset), [1, 3], tmp_path / "m.tflite")
    signatures = report["signatures"]
    assert [row["signature"] for row in signatures] == ["groups_1", "groups_3"]
    assert all(row["fully_delegated"] and row["partitions"] == 1 for row in signatures)
    assert report == json.loads((tmp_path / "m.json").read_text())
    assert report["class_names"] == list(hsvits.CLASS_NAMES) and report["input"]["range"] == [0, 255]
    images, interpreter = hsvits.images(8), Interpreter(str(tmp_path / "m.tflite"))
    for groups in (1, 3):
        run = interpreter.get_signature_runner(f"groups_{groups}")
        outputs = np.concatenate([run(image=image[np.newaxis])["logits"] for image in images])
        expected = np.asarray(hsvit_keras.slim(model, groups=list(range(groups)))(images))
        if preset == "float32":
            np.testing.assert_allclose(outputs, expected, atol=2e-5 * np.abs(expected).max())
        assert np.corrcoef(outputs.ravel(), expected.ravel())[0, 1] > 0.99


@pytest.mark.slow
def test_weights_are_stored_once_and_the_stem_is_computed_once(tmp_path, capsys):
    hsvits.small().save(tmp_path / "model.keras")
    options = [f"--model={tmp_path / 'model.keras'}", f"--output={tmp_path / 'elastic.tflite'}"]
    call(elastic, *options, "--groups=1,3", "--preset=dynamic", "--samples=8")
    report = json.loads((tmp_path / "elastic.json").read_text())
    whole = convert(lower(hsvits.small()), "dynamic")
    *_, last = report["signatures"]
    assert last["multiply_adds"] == tflite_facts(whole)["total_macs"]
    elastic_graphs = tflite_file.read((tmp_path / "elastic.tflite").read_bytes(), "elastic").subgraphs
    # Groups that have kernels apart are 8 bits by 8 bits what they are together, so no byte may come twice.
    assert weights_bytes(elastic_graphs) == weights_bytes(tflite_file.read(whole, "whole").subgraphs)
    assert report["bytes"] < sum(row["bytes"] for row in report["signatures"])
    assert last["parity"]["data"] == "digits" and 0 <= last["parity"]["metrics"]["accuracy"] <= 1
    shown = capsys.readouterr().out
    assert "dynamic, 2 signatures" in shown and elastic_file.table(report) in shown


def weights_bytes(graphs):
    """The bytes of all 8-bit constants of a file, each buffer counted once."""
    tensors = [tensor for graph in graphs for tensor in graph.tensors]
    buffers = {
        tensor.buffer: len(tensor.data) for tensor in tensors if tensor.data and tensor.dtype == "int8"
    }
    return sum(buffers.values())


@pytest.mark.parametrize("groups", [[3, 2], [2, 2, 3], [0, 3], [1, 2], [1, 4]])
def test_numbers_of_groups_that_do_not_fit(groups, tmp_path):
    with pytest.raises(InputError, match="--groups has to be rising numbers from 1 to 3, the groups of"):
        elastic_file.write(hsvits.request(hsvits.small()), groups, tmp_path / "m.tflite")
    assert not list(tmp_path.iterdir())


def test_errors(tmp_path):
    model = hsvits.small()
    with pytest.raises(InputError, match=r"the output's name has to end in \.tflite; received .*bin"):
        elastic_file.write(hsvits.request(model), [3], tmp_path / "m.bin")
    with pytest.raises(InputError, match="has no ranges, which int8 needs"):
        elastic_file.write(hsvits.request(model, "int8", calibration=None), [3], tmp_path / "m.tflite")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_model_in_half_precision(tmp_path):
    keras.utils.set_random_seed(0)
    model = hsvit_keras.create_model("hsvit_tiny", **hsvits.ARGUMENTS, dtype="mixed_bfloat16")
    request = hsvits.request(in_float32(model))  # as the command does
    (signature,) = elastic_file.write(request, [3], tmp_path / "half.tflite")["signatures"]
    # Artifacts compute in float32, and are compared with Keras computing so.
    assert signature["parity"]["max_abs_diff"] <= 2e-5 * max(1, signature["parity"]["largest_output"])

"""Detectors as artifacts: in one partition, in both forms of sampling, with the best detections inside."""

import functools
import json
import pathlib
import subprocess

import keras
import numpy as np
import pytest

if keras.backend.backend() != "tensorflow":
    pytest.skip("conversion needs the TensorFlow backend", allow_module_level=True)

import hsvit_keras
from hsvit_keras.artifacts import tflite_conversion
from hsvit_keras.artifacts.lowering import lower
from hsvit_keras.layers import DeformableAttention, DetectionOutput
from hsvit_runtime.litert import tflite_file
from hsvit_runtime.presets import PRESETS
from hsvit_runtime.tflite_model import TFLiteModel
from tests.models.small import NUM_CLASSES, small_model

pytestmark = pytest.mark.tensorflow

NAMES = [f"thing {i}" for i in range(NUM_CLASSES)]
PIXELS = np.random.default_rng(0).integers(0, 256, (8, 32, 32, 3)).astype("float32")
ROOT = pathlib.Path(__file__).parents[2]


@functools.cache
def detector():
    model = small_model("deformable_detr_tiny", mean=0.5, std=0.25, class_names=NAMES)
    head = model.get_layer("class_head")
    kernel, bias = head.get_weights()
    head.set_weights([4 * kernel, bias + 4])  # so that some detections are kept
    return model


@functools.cache
def written(folder, name, **arguments):
    path = folder / f"{name}.tflite"
    return path, hsvit_keras.to_tflite(detector(), path, preset="float32", samples=PIXELS, **arguments)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("detectors")


def test_one_partition_of_four_axes():
    content = tflite_conversion.convert(lower(detector()), "float32")
    report = hsvit_keras.inspect_tflite(content)
    assert (report["partitions"], report["fully_delegated"]) == (1, True)
    graphs = tflite_file.read(content, "detector").subgraphs
    assert max(len(tensor.shape) for graph in graphs for tensor in graph.tensors) <= 4
    found = TFLiteModel(content)
    outputs = found.predict({found.inputs[0].name: PIXELS}).values()
    for one, expected in zip(outputs, keras.tree.flatten(detector()(PIXELS)), strict=True):
        np.testing.assert_allclose(one, expected, rtol=1e-3, atol=1e-4)


@pytest.mark.exhaustive
def test_both_forms_of_sampling_are_told(folder):
    """Each attention that gathers cuts the graph; hat functions cost multiply-adds of each pixel."""
    _, report = written(folder, "raw")
    assert report["task"]["name"] == "detection"
    assert report["parity"]["detection_agreement"] == 1 and report["parity"]["max_abs_diff"] < 1e-4
    assert [output["name"] for output in report["outputs"]] == ["boxes", "logits"]
    sampling = report["sampling"]
    layers = [layer for layer in detector().layers if isinstance(layer, DeformableAttention)]
    assert {name: [level["form"] for level in levels] for name, levels in sampling["levels"].items()} == {
        layer.name: ["hat_functions"] * 3 for layer in layers
    }
    assert sampling["hat_functions"] == {name: report[name] for name in ("partitions", "total_macs")}
    assert sampling["gathers"]["partitions"] == len(layers) + 1
    # For each query (84 pixels, and 3 in 2 decoder layers) and head: points and numbers of a head.
    hats = sum((84 + 2 * 3) * 2 * pixels * (4 + 8) for pixels in (64, 16, 4))
    gathers = (84 + 2 * 3) * 2 * 3 * 4 * 4 * 8
    # Where the first decoder layer looks depends on no image: its hat functions are multiplied beforehand.
    constant = 3 * 2 * 4 * (64 + 16 + 4)
    added = sampling["hat_functions"]["total_macs"] - sampling["gathers"]["total_macs"]
    assert added == hats - constant - gathers


@pytest.mark.exhaustive
def test_gathers_compute_the_same(folder):
    for layer in detector().layers:
        if isinstance(layer, DeformableAttention):
            layer.sampling = "gathers"
    try:
        _, report = written(folder, "gathers")
    finally:
        for layer in detector().layers:
            if isinstance(layer, DeformableAttention):
                layer.sampling = "auto"
    assert report["parity"]["max_abs_diff"] < 1e-4
    assert {entry["op"] for entry in report["undelegated_ops"]} >= {"GATHER", "CAST"}


@pytest.mark.exhaustive
def test_int8(folder):
    report = hsvit_keras.to_tflite(
        detector(), folder / "int8.tflite", preset="int8", calibration=[PIXELS], samples=PIXELS,
        allow_loss=True,
    )  # fmt: skip
    assert (report["partitions"], report["fully_delegated"]) == (1, True)
    # Detections of random weights, hardly above those that are not kept, tell nothing.
    assert report["parity"]["cosine"] >= PRESETS["int8"].limits["cosine"]


def test_best_detections_by_numpy():
    rng = np.random.default_rng(0)
    boxes, logits = rng.uniform(0.2, 0.8, (2, 6, 4)).astype("float32"), rng.normal(size=(2, 6, 3))
    found = {
        name: keras.ops.convert_to_numpy(value)
        for name, value in DetectionOutput(4)(boxes, logits.astype("float32")).items()
    }
    for image in range(2):
        best = sorted(np.ndindex(6, 3), key=lambda place: -logits[image][place])[:4]
        np.testing.assert_array_equal(found["category"][image], [one for _, one in best])
        scores = [1 / (1 + np.exp(-logits[image][place])) for place in best]
        np.testing.assert_allclose(found["score"][image], scores, rtol=1e-5)
        for (query, _), location in zip(best, found["location"][image], strict=True):
            x, y, width, height = boxes[image, query]
            corners = [y - height / 2, x - width / 2, y + height / 2, x + width / 2]
            np.testing.assert_allclose(location, corners, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(found["number of detections"], [4, 4])


@pytest.mark.exhaustive
def test_best_detections_in_the_file(folder):
    """Only the search for the highest scores, and its indices, are left to the interpreter."""
    path, report = written(folder, "best", detections=5)
    assert {entry["op"] for entry in report["undelegated_ops"]} == {"CAST", "TOPK_V2"}
    assert report["partitions"] == 2
    assert report["parity"]["detection_agreement"] == 1 and report["parity"]["max_abs_diff"] < 1e-4
    found = TFLiteModel(path).predict({"image": PIXELS})
    raw = detector()(PIXELS)
    expected = DetectionOutput(5)(raw["boxes"], raw["logits"])
    for name in ("score", "location"):
        np.testing.assert_allclose(found[name], np.asarray(expected[name]), rtol=1e-3, atol=1e-4)


def test_what_gives_no_detections_is_named(tmp_path):
    with pytest.raises(ValueError, match="detections are of a model for detection"):
        hsvit_keras.to_tflite(small_model("hsvit_tiny"), tmp_path / "no.tflite", detections=5)
    with pytest.raises(ValueError, match="3 queries and 5 classes gives 1 to 15 detections; received 16"):
        hsvit_keras.to_tflite(detector(), tmp_path / "no.tflite", detections=16)
    assert not list(tmp_path.iterdir())


@pytest.mark.exhaustive
def test_mediapipe_opens_it(folder):
    python = ROOT / ".venv-mediapipe" / "bin" / "python"
    if not python.exists():
        pytest.skip("needs MediaPipe in .venv-mediapipe")
    path, _ = written(folder, "best", detections=5)
    np.save(folder / "pixels.npy", PIXELS[:1].astype("uint8"))
    script = ROOT / "tests" / "artifacts" / "mediapipe_detect.py"
    command = [str(python), str(script), str(folder / "pixels.npy"), str(path)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    detections = json.loads(result.stdout.splitlines()[-1])
    expected = TFLiteModel(path).predict({"image": PIXELS[:1]})
    scores = {round(float(score), 4) for score in expected["score"][0]}
    assert detections
    for found in detections:
        assert round(found["score"], 4) in scores
        (place,) = np.flatnonzero(np.isclose(expected["score"][0], found["score"], atol=1e-5))[:1]
        assert found["name"] == NAMES[int(expected["category"][0, place])]
        top, left, *_ = 32 * expected["location"][0, place]
        assert abs(found["left"] - max(left, 0)) <= 1 and abs(found["top"] - max(top, 0)) <= 1

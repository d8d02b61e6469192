import hashlib
import json
import shutil

import numpy as np
import pytest

from hsvit_runtime import runners
from tests.export.conftest import PIXEL_MEAN, PIXEL_STD, convert, describe, save

PICTURE = np.random.default_rng(0).random((1, 8, 8, 1), dtype="float32")


@pytest.mark.parametrize(
    ("value", "level"),
    [(0.0, -3), (1.0, 1), (-0.25, -4), (0.374, -2), (0.376, -1), (100.0, 127), (-100.0, -128)],
)
def test_quantize_rounds_to_the_grid_and_clips(value, level):
    # Level = value / scale + zero point, with scale 1/4 and zero point -3.
    levels = runners.quantize(np.array([value]), "int8", 0.25, -3)
    assert levels.dtype == "int8"
    assert levels == level


def test_quantize_leaves_floats_and_plain_integers_alone():
    values = np.array([0.0, 127.6, 255.0], "float32")
    assert runners.quantize(values, "float32", 0.0, 0).tolist() == values.tolist()
    assert runners.quantize(values, "uint8", 0.0, 0).tolist() == [0, 128, 255]


def test_dequantize():
    numbers = runners.dequantize(np.array([-128, -3, 1, 127], "int8"), 0.25, -3)
    assert numbers.dtype == "float32"
    assert numbers.tolist() == [-31.25, 0.0, 1.0, 32.5]
    assert runners.dequantize(np.array([1.5], "float32"), 0.0, 0).tolist() == [1.5]


@pytest.mark.tensorflow
def test_keras_runner_answers_as_the_model_does(tiny_models):
    import keras

    runner = runners.open_runner(tiny_models / "model.keras")
    expected = keras.models.load_model(tiny_models / "model.keras")(PICTURE)
    np.testing.assert_allclose(runner(runner.prepare(PICTURE)), expected, atol=1e-5)
    assert runner.input_shape == (1, 8, 8, 1)
    assert runner.num_classes == 3
    assert runner.runtime == {"name": "Keras on tensorflow, XLA", "version": keras.version()}
    assert set(runner.delegation.values()) == {None}
    assert runner.init_ms > 0


@pytest.mark.tensorflow
def test_tflite_runner_answers_as_the_keras_runner(tiny_models):
    keras_runner = runners.open_runner(tiny_models / "model.keras")
    runner = runners.open_runner(tiny_models / "float32.tflite")
    expected = keras_runner(keras_runner.prepare(PICTURE))
    np.testing.assert_allclose(runner(runner.prepare(PICTURE)), expected, atol=1e-5)
    assert (runner.input_shape, runner.num_classes, runner.input_dtype) == ((1, 8, 8, 1), 3, "float32")
    assert runner.runtime["name"] == "LiteRT Interpreter"


@pytest.mark.tensorflow
def test_answers_do_not_share_memory_with_the_next(tiny_models):
    runner = runners.open_runner(tiny_models / "float32.tflite")
    first = runner(runner.prepare(PICTURE))
    kept = first.copy()
    runner(runner.prepare(1 - PICTURE))
    np.testing.assert_array_equal(first, kept)


@pytest.mark.tensorflow
def test_integer_input_and_output_are_converted(tiny_models):
    exact = runners.open_runner(tiny_models / "float32.tflite")
    runner = runners.open_runner(tiny_models / "int8.tflite")
    prepared = runner.prepare(PICTURE)
    assert prepared.dtype == runner.input_dtype == "int8"
    answer = runner(prepared)
    assert answer.dtype == "float32"
    expected = exact(exact.prepare(PICTURE))
    np.testing.assert_allclose(answer, expected, atol=0.05 * np.abs(expected).max())


@pytest.mark.tensorflow
def test_pixels_are_given_to_a_model_that_normalizes_by_itself(tiny_models):
    outside = runners.open_runner(tiny_models / "float32.tflite", mean=PIXEL_MEAN, std=PIXEL_STD)
    inside = runners.open_runner(tiny_models / "pixels.tflite", mean=PIXEL_MEAN, std=PIXEL_STD)
    assert (outside.pixels, inside.pixels) == (False, True)
    np.testing.assert_allclose(inside.prepare(PICTURE), 255 * PICTURE)
    np.testing.assert_allclose(outside.prepare(PICTURE), (PICTURE - 0.25) / 0.5, rtol=1e-6)
    np.testing.assert_allclose(inside(inside.prepare(PICTURE)), outside(outside.prepare(PICTURE)), atol=1e-5)
    assert (inside.mean.tolist(), inside.std.tolist()) == ([0.25], [0.5])


PIXELS = {"pixels": True, "mean": [0.25], "std": [0.5]}


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    "report",
    [
        {"preset": "float32", "input": PIXELS},
        {"sha256": hashlib.sha256(b"the model before").hexdigest(), "input": PIXELS},
        {"sha256": None, "input": PIXELS},
        ["no report"],
    ],
)
def test_reports_on_other_files_beside_a_model_change_nothing(tiny_models, tmp_path, report):
    """Such as that of an .onnx file of the same name, or of the model that was there before."""
    shutil.copy(tiny_models / "float32.tflite", tmp_path / "m.tflite")
    (tmp_path / "m.json").write_text(json.dumps(report))
    runner = runners.open_runner(tmp_path / "m.tflite", mean=0.1, std=0.2)
    assert not runner.pixels
    np.testing.assert_allclose(runner.prepare(PICTURE), (PICTURE - 0.1) / 0.2, rtol=1e-6)


@pytest.mark.tensorflow
def test_report_beside_a_model_tells_how_its_images_are_normalized(tiny_models, tmp_path):
    shutil.copy(tiny_models / "float32.tflite", tmp_path / "m.tflite")
    describe(tmp_path / "m.tflite", {"pixels": False, "mean": [0.25], "std": 0.5})
    runner = runners.open_runner(tmp_path / "m.tflite", mean=0.1, std=0.2)
    np.testing.assert_allclose(runner.prepare(PICTURE), (PICTURE - 0.25) / 0.5, rtol=1e-6)


@pytest.mark.tensorflow
def test_models_for_several_images_at_once_are_refused(tmp_path):
    import keras

    model = keras.Sequential([keras.Input((8, 8, 1)), keras.layers.Flatten(), keras.layers.Dense(3)])
    (tmp_path / "m.tflite").write_bytes(convert(model, (4, 8, 8, 1), quantized=False))
    with pytest.raises(ValueError) as raised:
        runners.open_runner(tmp_path / "m.tflite")
    assert str(raised.value) == (
        f"{tmp_path / 'm.tflite'} takes 4 images at once, (4, 8, 8, 1), and single ones are to be "
        "measured: convert the model with --batch=1"
    )


@pytest.mark.tensorflow
def test_delegation(tiny_models):
    whole = runners.open_runner(tiny_models / "float32.tflite").delegation
    assert whole["delegate"] == "XNNPACK"
    assert whole["partitions"] == 1
    assert whole["nodes_delegated"] == whole["nodes_total"] >= 3  # convolution, reshape, dense


@pytest.mark.tensorflow
def test_delegation_of_a_graph_that_falls_apart(tiny_models):
    parts = runners.open_runner(tiny_models / "pool4.tflite").delegation
    assert parts["partitions"] == 2  # before and after the pool
    assert parts["nodes_delegated"] == parts["nodes_total"] - 1


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
    split = runners.delegation(
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
    nothing = runners.delegation(Interpreter(("SOFTMAX", [0], [9])))
    assert nothing == {"delegate": None, "partitions": 0, "nodes_delegated": 0, "nodes_total": 1}


@pytest.mark.parametrize("name", ["model.onnx", "model", "model.h5"])
def test_other_formats_are_refused(tmp_path, name):
    with pytest.raises(ValueError, match=r"its name must end in \.keras or \.tflite"):
        runners.open_runner(tmp_path / name)


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no model file .*missing\.tflite"):
        runners.open_runner(tmp_path / "missing.tflite")


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    ("source", "message"),
    [("model.keras", "is damaged or no Keras model"), ("float32.tflite", "does not load in LiteRT")],
)
@pytest.mark.parametrize("damage", ["truncated", "empty", "overwritten"])
def test_damaged_files_are_one_line(tiny_models, tmp_path, source, message, damage):
    content = (tiny_models / source).read_bytes()
    content = {
        "truncated": content[: len(content) // 2],
        "empty": b"",
        "overwritten": b"no model\n" * 200,
    }[damage]
    (tmp_path / source).write_bytes(content)
    with pytest.raises(ValueError, match=message) as raised:
        runners.open_runner(tmp_path / source)
    assert "\n" not in str(raised.value)
    assert str(tmp_path / source) in str(raised.value)


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    ("outputs", "message"), [(2, "must have one input and one output"), (0, "must answer with")]
)
def test_models_that_are_no_classifier_are_refused(tmp_path, outputs, message):
    import keras

    inputs = keras.Input((8, 8, 1))
    maps = keras.layers.Conv2D(2, 1)(inputs)
    heads = [keras.layers.Dense(3)(keras.layers.Flatten()(maps)) for _ in range(outputs)]
    save(keras.Model(inputs, heads or maps), tmp_path / "m.keras")
    with pytest.raises(ValueError, match=message):
        runners.open_runner(tmp_path / "m.keras")


@pytest.mark.tensorflow
def test_models_without_an_image_size_are_refused(tmp_path):
    import keras

    anywhere = [keras.Input((None, None, 1)), keras.layers.GlobalAveragePooling2D(), keras.layers.Dense(3)]
    save(keras.Sequential(anywhere), tmp_path / "m.keras")
    with pytest.raises(
        ValueError, match=r"must take images \(1, H, W, C\), it takes \(None, None, None, 1\)"
    ):
        runners.open_runner(tmp_path / "m.keras")


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    "normalization", [{"mean": [0.1, 0.2, 0.3]}, {"std": [1.0, 1.0]}, {"std": 0.0}, {"std": -1.0}]
)
def test_normalization_must_fit_the_channels(tiny_models, normalization):
    with pytest.raises(
        ValueError, match="mean and std have to be one number or one for each of the 1 channels"
    ):
        runners.open_runner(tiny_models / "float32.tflite", **normalization)


@pytest.mark.tensorflow
def test_broken_report_beside_a_model(tiny_models, tmp_path):
    shutil.copy(tiny_models / "float32.tflite", tmp_path / "m.tflite")
    (tmp_path / "m.json").write_text('{"input": ')
    with pytest.raises(ValueError, match=r"m\.json, which should describe the model beside it, is no JSON"):
        runners.open_runner(tmp_path / "m.tflite")

"""Files that other people made: what they take is read from them or asked for, never guessed."""

import json
import warnings

import keras
import numpy as np
import pytest
from keras import layers

if keras.backend.backend() != "tensorflow":
    pytest.skip("conversion needs the TensorFlow backend", allow_module_level=True)

import tensorflow as tf

from data_sets import load_dataset, sample_images
from export import benchmark, bundle
from export.benchmarking import comparing
from hsvit_runtime.errors import InputError
from hsvit_runtime.tflite_model import TFLiteModel
from tests.command_line.in_process import call
from tests.export import reports

pytestmark = pytest.mark.tensorflow

QUICK = {"blocks": 1, "runs": 1, "warmup": 0, "samples": 200, "data": "digits"}


def classifier(shape=(8, 8, 1)):
    """A classifier of digits that takes pixels of 0 to 1 and says nothing of itself."""
    keras.utils.set_random_seed(0)
    image = keras.Input(shape)
    maps = layers.Conv2D(16, 3, padding="same", activation="relu")(image)
    maps = layers.Conv2D(16, 3, padding="same", activation="relu")(layers.MaxPooling2D()(maps))
    return keras.Model(image, layers.Dense(10)(layers.GlobalMaxPooling2D()(maps)))


def converter_of(function, shape):
    signature = [tf.TensorSpec(shape, "float32")]
    concrete = tf.function(function, input_signature=signature).get_concrete_function()
    return tf.lite.TFLiteConverter.from_concrete_functions([concrete], tf.Module())


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with a trained classifier and files that TensorFlow's converter has made of it.

    model.keras, float.tflite   take floats of 0 to 1
    pixels.tflite               takes floats of 0 to 255
    uint8.tflite, int8.tflite   full-integer quantization: integer inputs and outputs, whose grid says 0 to 1
    any.keras, any.tflite       take images of any size
    """
    folder = tmp_path_factory.mktemp("strangers")
    pixels, labels = sample_images(load_dataset("digits", "train"), 1400, image_shape=(8, 8, 1))
    model = classifier()
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(0.01), loss, steps_per_execution=10)
    model.fit(pixels / 255, labels, epochs=8, batch_size=64, verbose=0)
    model.save(folder / "model.keras")
    free = classifier((None, None, 1))
    free.set_weights(model.get_weights())
    free.save(folder / "any.keras")
    converters = {
        "float": converter_of(lambda x: model(x), (1, 8, 8, 1)),
        "pixels": converter_of(lambda x: model(x / 255.0), (1, 8, 8, 1)),
        "any": converter_of(lambda x: free(x), (1, None, None, 1)),
    }
    for dtype in ("uint8", "int8"):
        converter = converters[dtype] = converter_of(lambda x: model(x), (1, 8, 8, 1))
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
        converter.representative_dataset = lambda: ([image[None] / 255] for image in pixels[:100])
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
        converter.inference_input_type = converter.inference_output_type = tf.as_dtype(dtype)
    for name, converter in converters.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the converter misses statistics that it does not need
            (folder / f"{name}.tflite").write_bytes(converter.convert())
    return folder


@pytest.fixture(scope="module")
def expected(files):
    """The accuracy of the Keras model on the samples that are measured."""
    pixels, labels = sample_images(load_dataset("digits", "test"), 200, image_shape=(8, 8, 1))
    model = keras.models.load_model(files / "model.keras")
    return np.mean(np.asarray(model(pixels / 255)).argmax(-1) == labels)


def measure(files, *names, **options):
    report = comparing.measure([files / name for name in names], **{**QUICK, **options})
    reports.validate(report)
    return report


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_integers_take_the_bytes_of_images(dtype, files, expected):
    """Their grid says which value a byte stands for, with or without the range of the other model."""
    assert expected > 0.9
    report = measure(files, "model.keras", f"{dtype}.tflite", input_range=(0, 1))
    low, high = report["models"][1]["input_range"]
    assert (low, high) == (pytest.approx(0, abs=0.01), pytest.approx(1, abs=0.01))
    for model in report["models"]:
        assert model["metrics"]["accuracy"] == pytest.approx(expected, abs=0.02)
    assert report["pairs"][0]["agreement"]["top1_agreement"] > 0.97
    alone = measure(files, f"{dtype}.tflite", "int8.tflite" if dtype == "uint8" else "uint8.tflite")
    assert alone["models"][0]["metrics"]["accuracy"] == pytest.approx(expected, abs=0.02)


@pytest.mark.slow
def test_a_range_that_an_integer_input_cannot_hold_is_that_of_the_others(files, expected):
    """Pixels of 0 to 255 would all be white to integers that stand for 0 to 1."""
    report = measure(files, "pixels.tflite", "uint8.tflite", input_range=(0, 255))
    assert report["models"][0]["input_range"] == [0, 255]
    for model in report["models"]:
        assert model["metrics"]["accuracy"] == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("name", ["float.tflite", "pixels.tflite", "any.tflite"])
def test_floats_have_to_be_explained(name, files):
    with pytest.raises(InputError, match=rf"{name}: the model does not say which values .*--input_range"):
        measure(files, name, "uint8.tflite")
    low, high = (0, 255) if name.startswith("pixels") else (0, 1)
    report = measure(files, name, "uint8.tflite", input_range=(low, high))
    assert report["pairs"][0]["agreement"]["top1_agreement"] > 0.97


@pytest.mark.parametrize("original", ["model.keras", "float.tflite", "any.keras", "any.tflite"])
def test_any_size_is_the_size_of_the_other_model_or_of_the_data(original, files, expected):
    report = measure(files, original, "any.tflite" if original != "any.tflite" else "float.tflite",
                     input_range=(0, 1))  # fmt: skip
    for model in report["models"]:
        assert model["metrics"]["accuracy"] == pytest.approx(expected)
    assert report["pairs"][0]["agreement"]["max_abs_diff"] < 1e-3
    assert report["models"][0 if original == "any.tflite" else 1]["inputs"][0]["shape"][1:3] == [None, None]


@pytest.mark.parametrize("delegate", [True, False])
def test_a_file_of_any_size_is_not_one_of_a_single_pixel(delegate, files):
    """As which it is stored, and with which this one cannot be run."""
    model = TFLiteModel(files / "any.tflite", delegate=delegate)
    assert model.inputs[0].shape == (1, None, None, 1)
    pixels = np.random.default_rng(0).random((1, 8, 8, 1), dtype="float32")
    expected = TFLiteModel(files / "float.tflite").predict_only(pixels)
    np.testing.assert_allclose(model.predict_only(pixels), expected, atol=1e-5)


def test_the_command_needs_no_range_for_integers(files, tmp_path, capsys):
    call(
        benchmark,
        f"--original={files / 'uint8.tflite'}",
        f"--mobile={files / 'int8.tflite'}",
        f"--output={tmp_path / 'R.json'}",
        *("--blocks=1", "--runs=1", "--data=digits", "--images=50"),
    )
    report = json.loads((tmp_path / "R.json").read_text())
    assert report["models"][0]["metrics"]["accuracy"] > 0.9
    assert "uint8.tflite" in capsys.readouterr().out


def test_a_bundle_of_a_strangers_file(files, expected, tmp_path):
    call(
        bundle,
        f"--original={files / 'model.keras'}",
        f"--mobile={files / 'uint8.tflite'}",
        f"--output={tmp_path / 'bundle'}",
        *("--images=2", "--data=digits", "--input_range=0,1"),
    )
    described = json.loads((tmp_path / "bundle" / "bundle.json").read_text())
    original, mobile = described["models"]
    assert original["input"]["range"] == [0, 1]
    assert mobile["input"]["range"] == pytest.approx([0, 1], abs=0.01)
    assert mobile["metrics"]["accuracy"] == pytest.approx(original["metrics"]["accuracy"], abs=0.02)
    assert original["metrics"]["accuracy"] > 0.9


def test_the_app_takes_images_of_one_size(files, tmp_path):
    with pytest.raises(
        InputError, match=r"any\.tflite takes inputs of any size, .*; the app takes images of one size"
    ):
        call(
            bundle,
            f"--original={files / 'model.keras'}",
            f"--mobile={files / 'any.tflite'}",
            f"--output={tmp_path / 'bundle'}",
            *("--images=2", "--data=digits", "--input_range=0,1"),
        )


def test_the_last_op_of_a_file_says_whether_it_gives_probabilities(files, tmp_path):
    """A softmax is compared with logits in one form, and a sigmoid by its decisions."""
    model = keras.models.load_model(files / "model.keras")
    softmax = converter_of(lambda x: tf.nn.softmax(model(x)), (1, 8, 8, 1)).convert()
    (tmp_path / "softmax.tflite").write_bytes(softmax)
    assert TFLiteModel(softmax).activation == "softmax"
    report = comparing.measure(
        [files / "model.keras", tmp_path / "softmax.tflite"], **QUICK, input_range=(0, 1)
    )
    assert report["pairs"][0]["agreement"]["max_abs_diff"] < 1e-3
    for name, sign in (("yes", 1), ("no", -1)):
        content = converter_of(lambda x, s=sign: tf.sigmoid(s * model(x)[:, :1]), (1, 8, 8, 1)).convert()
        (tmp_path / f"{name}.tflite").write_bytes(content)
    report = comparing.measure([tmp_path / "yes.tflite", tmp_path / "no.tflite"], **QUICK, input_range=(0, 1))
    assert report["task"]["name"] == "binary_classification"
    assert report["pairs"][0]["agreement"]["decision_agreement"] == 0

"""Models of pixels as artifacts: normalization goes into the first kernels, and 8-bit inputs are pixels."""

import keras
import numpy as np
import pytest
from keras import layers

import hsvit_keras

if keras.backend.backend() != "tensorflow":
    pytest.skip("conversion needs the TensorFlow backend", allow_module_level=True)

from hsvit_keras.artifacts import tflite_conversion
from hsvit_keras.artifacts.lowering import lower
from hsvit_keras.layers import Shift
from hsvit_runtime.litert import tflite_file
from tests.artifacts.conftest import MEAN
from tests.artifacts.running import outputs_of, random_pixels
from tests.models.small import small_model

pytestmark = pytest.mark.tensorflow

MEANS, STDS = (0.5, 0.4, 0.3), (0.2, 0.3, 0.4)
# Patches are cut by a convolution without padding; HSViT begins with a padded one.
NAMES = {"patches": "deit_base", "padded": "hsvit_c2a2"}


def pair(name, mean, std):
    """A model of pixels, and the same one of normalized images."""
    of_pixels, of_images = (small_model(name, depth=1, **extra) for extra in ({"mean": mean, "std": std}, {}))
    of_images.set_weights(of_pixels.get_weights())
    return of_pixels, of_images


def readers_of_input(content):
    """The ops that read a file's input, one behind the other up to the first convolution."""
    (graph,) = tflite_file.read(content, "model").subgraphs
    name, kinds = graph.inputs[0].name, []
    while not kinds or kinds[-1] != "CONV_2D":
        (op,) = [op for op in graph.ops if name in [tensor.name for tensor in op.inputs if tensor]]
        kinds.append(op.kind)
        name = op.outputs[0].name
    return kinds


@pytest.mark.parametrize(("mean", "std"), [(0.5, 0.25), (MEANS, STDS)])
@pytest.mark.parametrize("kind", NAMES)
def test_pixels_are_normalized_inside(kind, mean, std):
    of_pixels, of_images = pair(NAMES[kind], mean, std)
    pixels = random_pixels(of_pixels, 2)
    normalized = ((pixels / 255 - np.float64(mean)) / std).astype("float32")
    expected = np.asarray(of_images(normalized, training=False))
    np.testing.assert_allclose(of_pixels(pixels, training=False), expected, atol=1e-5)
    lowered = lower(of_pixels, batch_size=2)
    np.testing.assert_allclose(lowered(pixels, training=False), expected, atol=2e-5)
    assert not any(isinstance(layer, layers.Rescaling) for layer in lowered.layers)
    assert sum(isinstance(layer, Shift) for layer in lowered.layers) == (kind == "padded")


@pytest.mark.parametrize(("kind", "between"), [("patches", []), ("padded", ["ADD"])])
def test_what_is_left_of_normalization(kind, between):
    """Nothing in front of patches; in front of a padded convolution the mean, since padding is the mean."""
    of_pixels, of_images = pair(NAMES[kind], MEANS, STDS)
    contents = [tflite_conversion.convert(lower(model), "float32") for model in (of_pixels, of_images)]
    assert readers_of_input(contents[0]) == [*between, *readers_of_input(contents[1])]
    ops = [hsvit_keras.inspect_tflite(content)["ops"] for content in contents]
    assert sum(ops[0].values()) == sum(ops[1].values()) + len(between)
    pixels = random_pixels(of_pixels, 2)
    images = ((pixels / 255 - np.float64(MEANS)) / STDS).astype("float32")
    np.testing.assert_allclose(outputs_of(contents[0], pixels), outputs_of(contents[1], images), atol=2e-5)


def test_normalized_once_for_all_readers():
    """A normalization that others than convolutions read stays as it is."""
    inputs = keras.Input((4, 4, 3))
    normalized = layers.Rescaling(1 / 127.5, -1.0, name="normalization")(inputs)
    model = keras.Model(inputs, layers.Add()([layers.ReLU()(normalized), layers.Rescaling(2.0)(normalized)]))
    lowered, pixels = lower(model), random_pixels(model, 1)
    np.testing.assert_allclose(lowered(pixels), model(pixels), atol=1e-5)
    assert sum(isinstance(layer, layers.Rescaling) for layer in lowered.layers) == 2


def test_8_bit_inputs_are_pixels(quantized):
    """A uint8 input takes a pixel as it is: outputs are those of the float input, bit for bit."""
    lowered, pixels = lower(quantized), random_pixels(quantized)
    contents = {
        dtype: tflite_conversion.convert(lowered, "int8", input_type=dtype)
        for dtype in ("float32", "uint8", "int8")
    }
    for dtype, zero_point in (("uint8", 0), ("int8", -128)):
        (graph,) = tflite_file.read(contents[dtype], "model").subgraphs
        (image,) = graph.inputs
        assert (image.dtype, image.scales, image.zero_points) == (dtype, (1.0,), (zero_point,))
        expected = outputs_of(contents["float32"], pixels)
        np.testing.assert_array_equal(outputs_of(contents[dtype], pixels), expected)
    assert len(np.unique(expected)) > 10


def test_the_range_of_pixels_is_known_before_calibration(classifier, quantized):
    """Calibrated on dark images, the input still takes all of 0 to 255."""
    dark = hsvit_keras.calibrate(classifier, [random_pixels(classifier, 4) / 8])
    for model in (dark, quantized):
        image, normalized = model.get_layer("image_range"), model.get_layer("normalization_range")
        assert (float(image.low), float(image.high)) == (0, 255)
        offset = -255 * MEAN
        np.testing.assert_allclose([float(normalized.low), float(normalized.high)], [offset, 255 + offset])

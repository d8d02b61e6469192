"""Integer artifacts: the model's own ranges and rounding, float islands, integer inputs and outputs."""

import keras
import numpy as np
import pytest
from keras import layers

import hsvit_keras
from hsvit_keras.compression.ranges import ranges_of
from hsvit_runtime.errors import InputError
from tests.models.small import grown_model

if keras.backend.backend() != "tensorflow":
    pytest.skip("conversion needs the TensorFlow backend", allow_module_level=True)

from hsvit_keras.artifacts.lowering import lower
from hsvit_keras.artifacts.tflite_conversion import convert
from hsvit_keras.artifacts.writing import with_ranges
from hsvit_runtime.litert import tflite_file
from tests.artifacts.running import kernels_of, outputs_of, random_images

pytestmark = pytest.mark.tensorflow


def scales_and_zero_points(content):
    """Of the 8-bit tensors that are computed."""
    (graph,) = tflite_file.read(content, "model").subgraphs
    computed = [tensor for tensor in graph.tensors if tensor.data is None and tensor.dtype == "int8"]
    return {(*tensor.scales, *tensor.zero_points) for tensor in computed}


def expected_scale(layer):
    """An 8-bit tensor's scale and zero point, from the range that was observed."""
    low, high = min(float(layer.low), 0.0), max(float(layer.high), 0.0)
    if layer.symmetric:
        return max(-low, high) / 127, 0
    return (high - low) / 255, round(-128 - low / ((high - low) / 255))


def test_the_ranges_are_the_tensor_scales():
    """Each of them, and no others: the converter adds none of its own."""
    model = grown_model("hsvit_tiny")
    quantized = hsvit_keras.calibrate(model, [random_images(model)])
    content = convert(lower(quantized), "int8")
    found = scales_and_zero_points(content)
    expected = [expected_scale(layer) for layer in ranges_of(quantized)]
    for scale, zero_point in expected:
        assert any(np.isclose(scale, s, rtol=1e-6) and zero_point == z for s, z in found), (scale, zero_point)
    for scale, zero_point in found:
        assert any(np.isclose(scale, s, rtol=1e-6) and zero_point == z for s, z in expected), (
            scale,
            zero_point,
        )


def test_kernel_scales_are_those_of_training():
    """For each output channel the largest magnitude of the kernel is 127."""
    model = keras.Sequential([keras.Input((4, 4, 3)), layers.Conv2D(5, 3), layers.Flatten(), layers.Dense(7)])
    quantized = hsvit_keras.calibrate(model, [random_images(model)])
    found = hsvit_keras.inspect_tflite(convert(lower(quantized), "int8"))["quantized_tensors"]
    scales = [tensor["scale"] for tensor in found if tensor["constant"] and tensor["dtype"] == "int8"]
    for layer in (model.layers[0], model.layers[2]):
        kernel = np.asarray(layer.kernel)
        expected = np.abs(kernel.reshape(-1, kernel.shape[-1])).max(0) / 127
        assert any(np.shape(s) == expected.shape and np.allclose(s, expected, rtol=1e-6) for s in scales)


def test_skipped_layers_keep_float_kernels_between_integers():
    """Without barriers the converter would take their ranges for an order to quantize them."""
    model = keras.Sequential(
        [
            keras.Input((6, 6, 3)),
            layers.Conv2D(4, 3, activation="relu", name="one"),
            layers.Conv2D(4, 3, activation="relu", name="two"),
            layers.Conv2D(4, 1, name="three"),
            layers.Flatten(),
            layers.Dense(5, "gelu", name="four"),
            layers.Dense(3, name="five"),
        ]
    )
    given = random_images(model)
    quantized = hsvit_keras.quantize_aware(model, skip=["two", "four"])
    hsvit_keras.calibrate(quantized, [given])
    content = convert(lower(quantized), "int8")
    sizes = kernels_of(content)
    assert sizes["int8"] == [5 * 3, 4 * 4, 3 * 3 * 3 * 4]  # five, three, one
    assert sizes["float32"] == [2 * 2 * 4 * 5, 3 * 3 * 4 * 4]  # four, two
    assert hsvit_keras.inspect_tflite(content)["partitions"] == 1
    expected = np.asarray(quantized(given, training=False))
    scale = expected_scale(ranges_of(quantized)[-1])[0]
    assert np.abs(outputs_of(content, given) - expected).max() <= 2.01 * scale


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_integer_input_and_output(dtype):
    model = keras.Sequential([keras.Input((4, 4, 3)), layers.Conv2D(5, 3), layers.Flatten(), layers.Dense(7)])
    given = random_images(model)
    quantized = hsvit_keras.calibrate(model, [given])
    content = convert(lower(quantized), "int8", input_type=dtype, output_type=dtype)
    found = hsvit_keras.inspect_tflite(content)
    assert found["inputs"][0]["dtype"] == found["outputs"][0]["dtype"] == dtype
    expected = np.asarray(quantized(given, training=False))
    scale = expected_scale(ranges_of(quantized)[-1])[0]
    assert np.abs(outputs_of(content, given) - expected).max() <= 1.01 * scale


def test_ranges_that_were_never_set():
    model = keras.Sequential([keras.Input((4, 4, 3)), layers.Conv2D(5, 3, name="conv")], name="small")
    with pytest.raises(InputError, match=r"range '.*' of 'small' was never set: train the model, or set"):
        lower(hsvit_keras.quantize_aware(model))


def test_other_bits():
    import dataclasses

    scheme = dataclasses.replace(hsvit_keras.SCHEMES["int8"], weight_bits=4)
    model = keras.Sequential([keras.Input((4, 4, 3)), layers.Conv2D(5, 3, name="conv")])
    quantized = hsvit_keras.calibrate(hsvit_keras.quantize_aware(model, scheme), [random_images(model)])
    with pytest.raises(InputError, match="int8 artifacts need 8 bits everywhere; 'conv' has 4"):
        lower(quantized)


def test_trained_biases_stay_when_ranges_are_set_anew():
    """Those of a float model are corrected, as `Calibration` says."""
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, name="dense")])
    batches = [np.random.default_rng(0).normal(size=(16, 4)).astype("float32")]
    quantized = hsvit_keras.calibrate(model, batches)
    for given, is_corrected in ((model, True), (quantized, False)):
        bias = with_ranges(given, [batches[0] * 2]).get_layer("dense").bias
        assert np.any(np.asarray(bias)) == is_corrected
    assert not np.any(np.asarray(quantized.get_layer("dense").bias))

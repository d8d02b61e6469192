"""Integer artifacts: the model's own ranges, no float kernel, one partition, the answers of Keras."""

import keras
import numpy as np
import pytest
from keras import layers

import hsvit_keras
from hsvit_keras.compression.quantized_layers import RoundedKernel
from hsvit_keras.compression.ranges import ranges_of
from tests.models.small import each_kind, grown_model

if keras.backend.backend() != "tensorflow":
    pytest.skip("conversion needs the TensorFlow backend", allow_module_level=True)

from export import tflite
from export.inspection import inspect
from hsvit_keras.artifacts.lowering import lower
from hsvit_runtime.litert import tflite_file
from measuring import latency_statistics

pytestmark = pytest.mark.tensorflow


def images(model, count=16):
    return np.random.default_rng(0).normal(size=(count, *model.input_shape[1:])).astype("float32")


def scales_and_zero_points(content):
    """Of the 8-bit tensors that are computed."""
    (graph,) = tflite_file.read(content, "model").subgraphs
    computed = [tensor for tensor in graph.tensors if tensor.data is None and tensor.dtype == "int8"]
    return {(*tensor.scales, *tensor.zero_points) for tensor in computed}


def answers_of(content, inputs):
    answer = tflite.runner(content)
    return np.concatenate([answer(image[None]) for image in inputs])


@pytest.mark.parametrize("name", list(each_kind()))
def test_every_family(name):
    model = grown_model(name)
    given = images(model)
    quantized = hsvit_keras.calibrate(model, [given])
    content = tflite.convert(lower(quantized), "int8")
    found = inspect(content)
    assert found["undelegated_ops"] == found["custom_ops"] == found["flex_ops"] == []
    assert (found["partitions"], found["fully_delegated"]) == (1, True)
    parity = latency_statistics.agreement(
        np.asarray(quantized(given, training=False)), answers_of(content, given)
    )
    assert parity["cosine"] > 0.999
    # Each kernel that the scheme rounds is one of integers, and no other is.
    rounded = [layer.kernel for layer in quantized.layers if isinstance(layer, RoundedKernel)]
    assert sorted(kernels(content)["int8"]) == sorted(int(np.prod(kernel.shape)) for kernel in rounded)


def kernels(content):
    """Sizes of the constant kernels of convolutions and dense layers, by dtype."""
    found = {"int8": [], "float32": []}
    for graph in tflite_file.read(content, "model").subgraphs:
        for op in graph.ops:
            if op.kind in ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"):
                found[op.inputs[1].dtype].append(int(np.prod(op.inputs[1].shape)))
    return found


def expected_scale(layer):
    """An 8-bit tensor's scale and zero point, from the range that was observed."""
    low, high = min(float(layer.low), 0.0), max(float(layer.high), 0.0)
    if layer.symmetric:
        return max(-low, high) / 127, 0
    return (high - low) / 255, round(-128 - low / ((high - low) / 255))


def test_the_ranges_are_the_tensor_scales():
    """Each of them, and no others: the converter adds none of its own."""
    model = grown_model("hsvit_tiny")
    quantized = hsvit_keras.calibrate(model, [images(model)])
    content = tflite.convert(lower(quantized), "int8")
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
    quantized = hsvit_keras.calibrate(model, [images(model)])
    found = inspect(tflite.convert(lower(quantized), "int8"))["quantized_tensors"]
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
    given = images(model)
    quantized = hsvit_keras.quantize_aware(model, skip=["two", "four"])
    hsvit_keras.calibrate(quantized, [given])
    content = tflite.convert(lower(quantized), "int8")
    sizes = kernels(content)
    assert sorted(sizes["int8"]) == [5 * 3, 4 * 4, 3 * 3 * 3 * 4]  # five, three, one
    assert sorted(sizes["float32"]) == [2 * 2 * 4 * 5, 3 * 3 * 4 * 4]  # four, two
    assert inspect(content)["partitions"] == 1
    expected = np.asarray(quantized(given, training=False))
    scale = expected_scale(ranges_of(quantized)[-1])[0]
    assert np.abs(answers_of(content, given) - expected).max() <= 2.01 * scale


def test_integer_input_and_output():
    model = keras.Sequential([keras.Input((4, 4, 3)), layers.Conv2D(5, 3), layers.Flatten(), layers.Dense(7)])
    given = images(model)
    quantized = hsvit_keras.calibrate(model, [given])
    content = tflite.convert(lower(quantized), "int8", integer_io=True)
    found = inspect(content)
    assert found["inputs"][0]["dtype"] == found["outputs"][0]["dtype"] == "int8"
    expected = np.asarray(quantized(given, training=False))
    scale = expected_scale(ranges_of(quantized)[-1])[0]
    assert np.abs(answers_of(content, given) - expected).max() <= 1.01 * scale
    # Pixels are integers already: nothing of them is lost.
    content = tflite.convert(lower(quantized, mean=0.5, std=0.25), "int8", integer_io=True)
    (graph,) = tflite_file.read(content, "model").subgraphs
    (pixels,) = graph.inputs
    assert (pixels.dtype, pixels.scales, pixels.zero_points) == ("int8", (1.0,), (-128,))


def test_ranges_that_were_never_set():
    model = keras.Sequential([keras.Input((4, 4, 3)), layers.Conv2D(5, 3, name="conv")], name="small")
    with pytest.raises(ValueError, match=r"range '.*' of 'small' was never set: train the model, or set"):
        lower(hsvit_keras.quantize_aware(model))


def test_other_bits():
    import dataclasses

    scheme = dataclasses.replace(hsvit_keras.SCHEMES["int8"], weight_bits=4)
    model = keras.Sequential([keras.Input((4, 4, 3)), layers.Conv2D(5, 3, name="conv")])
    quantized = hsvit_keras.calibrate(hsvit_keras.quantize_aware(model, scheme), [images(model)])
    with pytest.raises(ValueError, match="int8 artifacts need 8 bits everywhere; 'conv' has 4"):
        lower(quantized)

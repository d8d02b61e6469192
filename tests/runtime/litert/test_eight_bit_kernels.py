"""Depthwise convolutions of floats by 8-bit kernels: unpacked they answer alike, and XNNPACK takes them."""

import numpy as np
import pytest

pytest.importorskip("ai_edge_litert")

from hsvit_runtime.inspection import inspect
from hsvit_runtime.litert import eight_bit_kernels
from tests.runtime.litert.builder import Builder

RNG = np.random.default_rng(0)
SCALES = [0.5, 0.25, 1.0]
ONE_STEP = {"strideW": 1, "strideH": 1, "dilationWFactor": 1, "dilationHFactor": 1, "depthMultiplier": 1}


def depthwise(builder, image, kernel, dtype="float32", **quantization):
    """Adds a 3 x 3 convolution without padding of `(1, 5, 5, 3)`; the number of its answer."""
    answer = builder.tensor((1, 3, 3, 3), dtype, **quantization)
    bias = builder.constant(np.zeros(3), **({} if dtype == "float32" else {"dtype": "int32", "scale": 0.1}))
    builder.op(
        "DEPTHWISE_CONV_2D", [image, kernel, bias], [answer], "DepthwiseConv2DOptions",
        version=6, padding=1, **ONE_STEP,
    )  # fmt: skip
    return answer


def float_and_int8(levels, repeat=1):
    """A file that convolves floats by the 8-bit kernel `levels`, `repeat` times side by side."""
    builder = Builder()
    image = builder.tensor((1, 5, 5, 3))
    answers = []
    for _ in range(repeat):
        kernel = builder.constant(levels, "int8", scale=SCALES, axis=3)
        answers.append(depthwise(builder, image, kernel))
    return builder.content([image], answers)


def run(content, image):
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(model_content=content)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], image)
    interpreter.invoke()
    return [interpreter.get_tensor(output["index"]) for output in interpreter.get_output_details()]


@pytest.mark.parametrize("repeat", [1, 3])
def test_one_partition_and_the_answers_of_the_unpacked_kernel(repeat):
    levels = RNG.integers(-127, 128, (1, 3, 3, 3))
    content = float_and_int8(levels, repeat)
    assert inspect(content)["undelegated_ops"] == [
        {
            "op": "DEPTHWISE_CONV_2D",
            "count": repeat,
            "reason": "its input is float32 and its kernel is int8",
        }
    ]
    unpacked = eight_bit_kernels.unpack(content)
    found = inspect(unpacked)
    assert (found["partitions"], found["fully_delegated"]) == (1, True)
    assert found["ops"] == {"DEQUANTIZE": repeat, "DEPTHWISE_CONV_2D": repeat}
    assert found["minimum_runtime"] == inspect(content)["minimum_runtime"] == "2.12"

    image = RNG.normal(size=(1, 5, 5, 3)).astype("float32")
    kernel = levels[0] * SCALES
    windows = np.lib.stride_tricks.sliding_window_view(image[0], (3, 3), (0, 1))
    expected = np.einsum("abcij,ijc->abc", windows, kernel)[None]
    for answer in run(unpacked, image):
        np.testing.assert_allclose(answer, expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())


def test_kernels_stay_8_bits():
    """The file grows by the new op, not by float kernels."""
    found = inspect(eight_bit_kernels.unpack(float_and_int8(np.ones((1, 3, 3, 3)))))
    assert found["weights_bytes"]["int8"] == 27
    assert found["weights_bytes"]["float32"] == 3 * 4  # the bias


def test_others_are_left_alone():
    """Float and integer convolutions: the content comes back as it is, to the byte."""
    floats = Builder()
    image = floats.tensor((1, 5, 5, 3))
    content = floats.content([image], [depthwise(floats, image, floats.constant(np.ones((1, 3, 3, 3))))])
    assert eight_bit_kernels.unpack(content) is content

    integers = Builder()
    image = integers.tensor((1, 5, 5, 3), "int8", scale=0.1)
    kernel = integers.constant(np.ones((1, 3, 3, 3)), "int8", scale=SCALES, axis=3)
    content = integers.content([image], [depthwise(integers, image, kernel, "int8", scale=0.1)])
    assert eight_bit_kernels.unpack(content) is content

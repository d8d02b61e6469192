"""Inputs in all the forms that `fit` takes."""

import keras
import numpy as np
import pytest
from keras import layers

import hsvit_keras
from hsvit_keras.compression.model_inputs import inputs_of_batch, named_inputs
from hsvit_keras.compression.ranges import ranges_of
from hsvit_runtime.errors import InputError

LEFT, RIGHT = np.array([[1.0, -2.0]], "float32"), np.array([[3.0, 4.0, 5.0]], "float32")


def single():
    inputs = keras.Input((2,), name="left")
    return keras.Model(inputs, layers.Dense(2)(inputs))


def double(as_dict=False):
    left, right = keras.Input((2,), name="left"), keras.Input((3,), name="right")
    sums = layers.Add()([layers.Dense(2)(left), layers.Dense(2)(right)])
    return keras.Model({"b": left, "a": right} if as_dict else [left, right], sums)


@pytest.mark.parametrize(
    "inputs", [[LEFT, RIGHT], (LEFT, RIGHT), {"left": LEFT, "right": RIGHT}, {"right": RIGHT, "left": LEFT}]
)
def test_names_of_two(inputs):
    found = named_inputs(double(), inputs)
    np.testing.assert_array_equal(found["left"], LEFT)
    np.testing.assert_array_equal(found["right"], RIGHT)


def test_keys_of_the_models_dict():
    with pytest.warns(match="keys in the dict must match"):  # by Keras, which takes them all the same
        model = double(as_dict=True)
    found = named_inputs(model, {"a": RIGHT, "b": LEFT})
    np.testing.assert_array_equal(found["left"], LEFT)
    np.testing.assert_array_equal(found["right"], RIGHT)


@pytest.mark.parametrize("inputs", [LEFT, [LEFT], {"left": LEFT}, LEFT.tolist()])
def test_names_of_one(inputs):
    np.testing.assert_array_equal(named_inputs(single(), inputs)["left"], LEFT)


def test_samples_of_another_shape():
    with pytest.raises(InputError, match=r"inputs for 'left' have to be of shape \(count, 2\); received"):
        named_inputs(single(), RIGHT)
    with pytest.raises(InputError, match=r"have to be named as those of .*, left; received up"):
        named_inputs(single(), {"up": LEFT})


@pytest.mark.parametrize(
    "batch",
    [
        [LEFT, RIGHT],
        ([LEFT, RIGHT], np.zeros(1)),
        ([LEFT, RIGHT], np.zeros(1), np.ones(1)),
        [[LEFT, RIGHT], np.zeros(1)],
        {"left": LEFT, "right": RIGHT},
        ({"left": LEFT, "right": RIGHT}, np.zeros(1)),
    ],
)
def test_calibration_takes_what_fit_takes(batch):
    quantized = hsvit_keras.calibrate(double(), [batch])
    bounds = {layer.name: (float(layer.low), float(layer.high)) for layer in ranges_of(quantized)}
    assert (bounds["left_range"], bounds["right_range"]) == ((-2, 1), (3, 5))


@pytest.mark.parametrize("batch", [LEFT, (LEFT,), (LEFT, RIGHT), [LEFT, RIGHT], [LEFT], {"left": LEFT}])
def test_batches_of_one_input(batch):
    model = single()
    np.testing.assert_array_equal(named_inputs(model, inputs_of_batch(model, batch))["left"], LEFT)
    quantized = hsvit_keras.calibrate(model, [batch])
    (limits,) = [(float(e.low), float(e.high)) for e in ranges_of(quantized) if e.name == "left_range"]
    assert limits == (-2, 1)


def test_a_batch_that_does_not_fit_restores_the_ranges():
    quantized = hsvit_keras.calibrate(single(), [LEFT])
    with pytest.raises(InputError, match=r"batches for 'left' have to be of shape \(count, 2\)"):
        hsvit_keras.calibrate(quantized, [RIGHT])
    assert float(ranges_of(quantized)[0].high) == 1

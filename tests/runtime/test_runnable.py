"""Tensors put values on their grids; models are run in batches of the size that they take."""

import numpy as np
import pytest

from hsvit_runtime.runnable import Runnable, Tensor

pytestmark = pytest.mark.once


def tensor(dtype="int8", scale=0.25, zero_point=-3, shape=(1,), name="image"):
    return Tensor(name, shape, np.dtype(dtype), scale, zero_point)


@pytest.mark.parametrize(
    ("value", "level"),
    [(0.0, -3), (1.0, 1), (-0.25, -4), (0.374, -2), (0.376, -1), (100.0, 127), (-100.0, -128)],
)
def test_quantize_rounds_to_the_grid_and_clips(value, level):
    # Level = value / scale + zero point, with scale 1/4 and zero point -3.
    levels = tensor().quantize(np.array([value]))
    assert levels.dtype == "int8"
    assert levels == level


def test_quantize_leaves_floats_and_plain_integers_alone():
    values = np.array([0.0, 127.6, 255.0], "float32")
    assert tensor("float32", None, None).quantize(values).tolist() == values.tolist()
    assert tensor("uint8", None, None).quantize(values).tolist() == [0, 128, 255]


def test_dequantize():
    numbers = tensor().dequantize(np.array([-128, -3, 1, 127], "int8"))
    assert numbers.dtype == "float32"
    assert numbers.tolist() == [-31.25, 0.0, 1.0, 32.5]
    assert tensor("float32", None, None).dequantize(np.array([1.5], "float32")).tolist() == [1.5]


class Halving(Runnable):
    """Halves integers of a grid; remembers the batches that it was given."""

    def __init__(self, batch):
        self.inputs = (tensor("uint8", 0.5, 0, (batch, 2)),)
        self.outputs = (tensor("int16", 0.25, 0, (batch, 2), "half"),)
        self.batches = []

    def run(self, inputs):
        (levels,) = inputs.values()
        assert levels.dtype == "uint8"
        self.batches.append(levels.tolist())
        return {"half": levels.astype("int16")}


@pytest.mark.parametrize(
    ("batch", "batches"),
    [
        (1, [[[2, 4]], [[6, 8]], [[10, 12]]]),
        (2, [[[2, 4], [6, 8]], [[10, 12], [0, 0]]]),
        (4, [[[2, 4], [6, 8], [10, 12], [0, 0]]]),
        (None, [[[2, 4], [6, 8], [10, 12]]]),
    ],
)
def test_predict_fills_up_the_last_batch(batch, batches):
    model, values = Halving(batch), np.arange(1, 7, dtype="float32").reshape(3, 2)
    np.testing.assert_array_equal(model.predict({"image": values})["half"], values / 2)
    assert model.batches == batches
    np.testing.assert_array_equal(model.predict_only(values), values / 2)


def test_a_tensor_as_json():
    assert tensor(shape=(None, 2)).to_json() == {
        "name": "image", "shape": [None, 2], "dtype": "int8", "scale": 0.25, "zero_point": -3,
    }  # fmt: skip

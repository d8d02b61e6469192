"""What is measured of a model: accuracy as by hand, bytes as they are deployed."""

import zlib

import keras
import numpy as np
import pytest
from keras import layers

from hsvit_keras.compression import calibrate
from training.compressing.table import measure, table
from training.configs import digits
from training.fitting.data import Data
from training.recipes.recipe import plain


@pytest.fixture(scope="module")
def values():
    return {**plain(digits.get_config()), "image_shape": (8, 8, 1), "batch_size": 100}


@pytest.fixture(scope="module")
def data(values):
    return Data(values)


def network():
    image = keras.Input((8, 8, 1))
    pixels = layers.Flatten()(layers.Rescaling(1 / 255)(image))
    hidden = layers.ReLU()(layers.Dense(16, name="hidden")(pixels))
    return keras.Model(image, layers.Dense(10)(hidden))


def test_accuracy_and_loss_are_those_of_all_test_images(values, data):
    model = network()
    row = measure(model, data, values)
    batches = list(data.test())
    images, labels = (np.concatenate([batch[i] for batch in batches]) for i in (0, 1))
    assert len(images) == 355
    logits = np.asarray(model.predict_on_batch(images), "float64")
    assert row["accuracy"] == pytest.approx((logits.argmax(1) == labels.argmax(1)).mean(), abs=1e-6)
    losses = np.log(np.exp(logits).sum(1)) - (logits * labels).sum(1)
    assert row["loss"] == pytest.approx(losses.mean(), rel=1e-4)
    assert not model.compiled


def test_size_and_arithmetic_of_a_float_model(values, data):
    model = network()
    row = measure(model, data, values)
    assert row["parameters"] == 64 * 16 + 16 + 16 * 10 + 10
    assert row["multiply_adds"] == 64 * 16 + 16 * 10
    assert row["bytes"] == 4 * row["parameters"]
    content = b"".join(np.asarray(weight).astype("float32").tobytes() for weight in model.weights)
    assert row["zipped_bytes"] == len(zlib.compress(content, wbits=31))
    assert row["sparsity"] == 0


@pytest.mark.once
def test_rounded_kernels_count_a_byte_and_zip_as_integers(values, data):
    model = network()
    kernel, bias = model.get_layer("hidden").get_weights()
    kernel[::2] = 0
    model.get_layer("hidden").set_weights([kernel, bias])
    quantized = calibrate(model, [np.zeros((1, 8, 8, 1), "float32")])
    row = measure(quantized, data, values)
    ranges = sum(weight.shape == () for weight in quantized.weights)
    assert row["bytes"] == 64 * 16 + 16 * 10 + 4 * (16 + 10 + ranges)
    assert row["sparsity"] == pytest.approx(32 * 16 / (64 * 16 + 16 * 10))
    assert row["zipped_bytes"] < row["bytes"]


def test_the_table_has_a_line_for_each_row(values, data):
    row = {"step": "original", **measure(network(), data, values)}
    other = {**row, "step": "slim groups=2", "accuracy": 0.5, "bytes": 1234567}
    head, first, second = table([row, other], data.task.metric).splitlines()
    assert head.split()[:2] == ["step", "Accuracy"]
    assert "multiply adds" in head
    assert len(head) == len(first) == len(second)
    assert second.startswith("slim groups=2") and "50.00%" in second and "1,234,567" in second

"""Calibration: how ranges are found, biases corrected and channels equalized."""

import keras
import numpy as np
import pytest
from keras import layers

from hsvit_keras import calibrate, equalize, quantize_aware
from hsvit_keras.compression import range_estimation
from hsvit_keras.compression.bias_correction import correct_biases
from hsvit_keras.compression.ranges import ranges_of
from hsvit_runtime.errors import InputError
from tests.compression.dense import bounds, dense_model
from tests.models.running import outputs


@pytest.mark.parametrize("method, expected", [("extremes", [-4, 5]), ("mean", [-2, 4])])
def test_ranges_of_batches(method, expected):
    batches = [np.array([[0, 1], [2, 3]], "float32"), (np.array([[-4, 5]], "float32"), np.array([0]))]
    quantized = calibrate(dense_model(), batches, ranges=method)
    assert bounds(quantized, "dense") == expected
    assert {float(layer.observed_batches) for layer in ranges_of(quantized)} == {2}
    assert calibrate(quantized, [np.array([[-1, 1]], "float32")]) is quantized
    assert bounds(quantized, "dense") == [-1, 1]


def test_nothing_is_rounded_during_calibration():
    """Otherwise earlier ranges would change later ones, and a second calibration would clip to the first."""
    model = dense_model()
    quantized = calibrate(model, [np.array([[-1, 1]], "float32")])
    calibrate(quantized, [np.array([[-100, 100]], "float32")])
    assert bounds(quantized, "dense") == [-100, 100]


def test_frozen_ranges_can_be_calibrated():
    quantized = calibrate(dense_model(), [np.array([[-1, 1]], "float32")])
    for layer in ranges_of(quantized):
        layer.frozen.assign(1.0)
    calibrate(quantized, iter([np.array([[-3, 2]], "float32")]))
    assert bounds(quantized, "dense") == [-3, 2]


def test_a_failed_calibration_restores_the_ranges():
    quantized = calibrate(dense_model(), [np.array([[-1, 1]], "float32")])
    with pytest.raises(ValueError, match="batches is empty"):
        calibrate(quantized, [])

    def broken():
        yield np.array([[-9, 9]], "float32")
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        calibrate(quantized, broken())
    assert bounds(quantized, "dense") == [-1, 1]
    assert float(ranges_of(quantized)[0].observed_batches) == 1


def test_an_unknown_method():
    with pytest.raises(InputError, match="ranges has to be one of extremes, mean, least_error, entropy; rec"):
        calibrate(dense_model(), [np.ones((1, 2))], ranges="median")


@pytest.mark.parametrize("value", [np.inf, np.nan])
def test_values_without_a_range(value):
    with pytest.raises(InputError, match=r"'.*' gives infinity or NaN for these batches"):
        calibrate(dense_model(), [np.full((1, 2), value, "float32")])


# ---- ranges that clip --------------------------------------------------------------------------------
def histogram(values):
    extremes = values.min(), values.max()
    return np.histogram(values, range_estimation.BINS, extremes)[0], extremes


def rounded(values, low, high, bits):
    step = (high - low) / (2**bits - 1)
    return np.clip(np.round((values - low) / step), 0, 2**bits - 1) * step + low


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("draw", ["normal", "laplace", "exponential"])
def test_least_error_is_the_least(draw, bits):
    """Of the true squared error, among all ranges of a grid, up to the width of a bin."""
    values = getattr(np.random.default_rng(0), draw)(size=20000)
    low, high = range_estimation.least_error(*histogram(values), bits)

    def error(low, high):
        return np.square(rounded(values, low, high, bits) - values).mean()

    grid = np.linspace(0.1, 1, 40)
    least = min(error(values.min() * a, values.max() * b) for a in grid for b in grid)
    assert error(low, high) <= 1.03 * least
    assert error(low, high) <= 1.0001 * error(values.min(), values.max())


def test_an_outlier_is_clipped_by_both_methods():
    values = np.append(np.random.default_rng(0).normal(size=100_000), 100.0)
    for method in range_estimation.METHODS.values():
        low, high = method(*histogram(values), 4)
        assert 1 < high < 50 and low < 0


def test_evenly_distributed_values_are_not_clipped():
    values = np.random.default_rng(0).uniform(-1, 3, 100_000)
    for method in range_estimation.METHODS.values():
        np.testing.assert_allclose(method(*histogram(values), 8), (-1, 3), rtol=0.02, atol=0.02)


@pytest.mark.parametrize("method", range_estimation.METHODS)
def test_methods_that_clip_see_all_batches(method):
    rng = np.random.default_rng(0)
    batches = [rng.normal(scale=scale, size=(4096, 2)).astype("float32") for scale in (1, 3, 0.1)]
    quantized = calibrate(dense_model(), batches, ranges=method)
    expected = getattr(range_estimation, method)(*histogram(np.concatenate(batches)), 8)
    np.testing.assert_allclose(bounds(quantized, "dense"), expected, rtol=0.02)


# ---- biases -------------------------------------------------------------------------------------------
def network():
    """Convolutions with activations within and behind them, some in a model."""
    depthwise = layers.DepthwiseConv2D(3, activation="relu")
    inside = keras.Sequential([keras.Input((6, 6, 4)), depthwise, layers.Conv2D(5, 1)], name="inside")
    given = keras.Input((8, 8, 3))
    maps = inside(layers.ReLU()(layers.Conv2D(4, 3)(given)))
    tokens = layers.Reshape((16, 5))(maps)
    tokens = layers.EinsumDense("btc,cgd->btgd", (16, 2, 3), bias_axes="gd")(tokens)
    model = keras.Model(given, layers.Dense(3, name="head")(layers.Flatten()(tokens)))
    rng = np.random.default_rng(0)
    model.set_weights([rng.normal(0, 0.5, weight.shape) for weight in model.get_weights()])
    return model


@pytest.mark.slow_on_jax
def test_corrected_biases_give_the_means_of_the_float_model():
    model = network()
    given = np.random.default_rng(1).normal(size=(64, 8, 8, 3)).astype("float32")
    batches = [given[:32], given[32:]]
    plain, corrected = calibrate(model, batches), calibrate(model, batches, corrects_biases=True)
    expected = outputs(model, given).mean(0)
    off = np.abs(outputs(plain, given).mean(0) - expected).max()
    step = np.ptp([float(bound) for bound in ranges_of(corrected)[-1].bounds()]) / 255
    assert np.abs(outputs(corrected, given).mean(0) - expected).max() < min(off, step / 4)
    for one, other in zip(plain.weights, corrected.weights, strict=True):
        if "bias" not in one.path:
            np.testing.assert_array_equal(one.numpy(), other.numpy())


@pytest.mark.slow_on_jax
def test_correcting_twice_changes_nothing_more():
    given = np.random.default_rng(1).normal(size=(16, 8, 8, 3)).astype("float32")
    quantized = calibrate(network(), [given], corrects_biases=True)
    once = quantized.get_weights()
    correct_biases(quantized, [given])
    scale = max(np.abs(weight).max() for weight in once)
    for one, other in zip(once, quantized.get_weights(), strict=True):
        assert np.abs(one - other).max() < 0.01 * scale


def test_shared_layers_keep_their_biases():
    dense = layers.Dense(2, name="dense")
    given = keras.Input((2,))
    quantized = quantize_aware(keras.Model(given, dense(dense(given))))
    calibrate(quantized, [np.random.default_rng(0).normal(size=(8, 2))], corrects_biases=True)
    assert np.asarray(quantized.get_layer("dense").bias).tolist() == [0, 0]


# ---- equalization -------------------------------------------------------------------------------------
def uneven():
    """Channels of a convolution, and of a depthwise one, whose ranges differ a thousandfold."""
    model = keras.Sequential(
        [
            keras.Input((8, 8, 3)),
            layers.Conv2D(6, 3, use_bias=False, name="one"),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.DepthwiseConv2D(3, padding="same", name="two"),
            layers.LeakyReLU(0.1),
            layers.MaxPooling2D(2),
            layers.Conv2D(4, 1, activation="relu6", name="three"),
            layers.Flatten(),
            layers.Dense(3, name="four"),
        ]
    )
    rng = np.random.default_rng(0)
    model.set_weights([rng.uniform(0.1, 1, weight.shape) for weight in model.get_weights()])
    for name in ("one", "two"):
        layer = model.get_layer(name)
        gains = 10.0 ** np.linspace(-1.5, 1.5, 6)
        layer.kernel.assign(layer.kernel * (gains[:, None] if name == "two" else gains))
    return model


def test_equalized_channels_have_one_range_on_both_sides():
    model = uneven()
    given = np.random.default_rng(1).normal(size=(16, 8, 8, 3)).astype("float32")
    equal = equalize(model)
    np.testing.assert_allclose(outputs(equal, given), outputs(model, given), rtol=1e-3, atol=1e-3)
    one, two, three = (np.asarray(equal.get_layer(name).kernel) for name in ("one", "two", "three"))
    largest_of_two = np.abs(two).max((0, 1, 3))
    np.testing.assert_allclose(np.abs(one).max((0, 1, 2)), largest_of_two, rtol=0.01)
    np.testing.assert_allclose(largest_of_two, np.abs(three).max((0, 1, 3)), rtol=0.01)


@pytest.mark.slow_on_jax
def test_equalization_makes_uneven_channels_fit_into_one_scale():
    model = uneven()
    given = np.random.default_rng(1).normal(size=(16, 8, 8, 3)).astype("float32")
    expected = outputs(model, given)

    def error(model):
        return np.abs(outputs(calibrate(model, [given]), given) - expected).mean()

    assert error(equalize(model)) < 0.75 * error(model)


def test_nothing_to_equalize():
    """A softmax, a residual and a ReLU6 in between do not keep gains."""
    given = keras.Input((4,))
    one = layers.Dense(4, activation="softmax")(given)
    two = layers.ReLU(6)(layers.Dense(4)(one))
    three = layers.Dense(4)(two)
    model = keras.Model(given, layers.Dense(2)(layers.Add()([three, two])))
    assert equalize(model) is model

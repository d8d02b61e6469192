"""Activation ranges: observation, rounding, freezing and saving."""

import keras
import numpy as np
import pytest

from hsvit_keras.compression.ranges import ActivationRange, FreezeRanges, ranges_of


def numpy(tensor):
    return keras.ops.convert_to_numpy(tensor)


def ranged(low=None, high=None, **arguments):
    """A built `ActivationRange` that has observed `low` and `high`, if they are given."""
    layer = ActivationRange(**arguments)
    layer.build((None, 4))
    if low is not None:
        layer.observe(low, high)
    return layer


def test_rounding_equals_that_of_an_integer_tensor():
    """The scale is (3 + 1) / 255; the zero point is 1 / scale rounded to an integer, so that 0 is exact."""
    layer, scale = ranged(-1.0, 3.0), 4 / 255
    zero_point = round(1 / scale)
    values = np.random.default_rng(0).uniform(-1.5, 3.5, 100).astype("float32")
    expected = (np.clip(np.round(values / scale) + zero_point, 0, 255) - zero_point) * scale
    np.testing.assert_allclose(numpy(layer(values)), expected, atol=1e-6)
    assert numpy(layer(np.zeros(3, "float32"))).tolist() == [0, 0, 0]


@pytest.mark.parametrize("bits, levels", [(8, 256), (4, 16), (2, 4)])
def test_the_number_of_values_is_two_to_the_power_of_bits(bits, levels):
    rounded = numpy(ranged(0.0, 1.0, bits=bits)(np.linspace(-1, 2, 5001).astype("float32")))
    assert len(np.unique(rounded)) == levels
    assert rounded.min() == 0 and rounded.max() == pytest.approx(1)


@pytest.mark.parametrize("low, high", [(-2.0, 1.0), (-0.5, 2.0)])
def test_the_middle_of_a_symmetric_range_is_zero(low, high):
    """The values are the integers -128 .. 127 times 2 / 127, with the zero point 0."""
    layer = ranged(low, high, symmetric=True)
    bounds = [float(bound) for bound in layer.bounds()]
    np.testing.assert_allclose(bounds, [-2 * 128 / 127, 2], rtol=1e-6)
    integers = np.arange(-128, 128)
    values = (integers * 2 / 127).astype("float32")
    np.testing.assert_allclose(numpy(layer(values)), values, atol=1e-6)


def test_a_range_always_contains_zero():
    assert [float(bound) for bound in ranged(2.0, 5.0).bounds()] == [0, 5]
    assert [float(bound) for bound in ranged(-5.0, -2.0).bounds()] == [-5, 0]


def test_a_range_of_zeros_does_not_divide_by_zero():
    for symmetric in (False, True):
        assert numpy(ranged(0.0, 0.0, symmetric=symmetric)(np.zeros(4, "float32"))).tolist() == [0] * 4


def test_nothing_is_rounded_before_the_first_observation():
    values = np.array([0.1, -7.3], "float32")
    layer = ranged()
    np.testing.assert_array_equal(numpy(layer(values)), values)
    np.testing.assert_array_equal(numpy(layer(values, training=False)), values)
    assert float(layer.observed_batches) == 0


def test_the_range_is_the_mean_of_the_first_batches_then_a_moving_average():
    layer = ranged(momentum=0.75)
    for high in (1.0, 2.0, 6.0, 7.0):
        layer(np.array([-high, high], "float32"), training=True)
    assert float(layer.high) == pytest.approx((1 + 2 + 6 + 7) / 4)
    assert float(layer.low) == pytest.approx(-4)
    layer(np.array([0, 8], "float32"), training=True)
    assert float(layer.high) == pytest.approx(0.75 * 4 + 0.25 * 8)
    assert float(layer.low) == pytest.approx(0.75 * -4)
    assert float(layer.observed_batches) == 5


def test_percent_leaves_out_outliers():
    values = np.arange(1001, dtype="float32")
    layer = ranged(percent=99.0)
    layer(np.random.default_rng(0).permutation(values).reshape(7, 143), training=True)
    assert float(layer.low) == pytest.approx(10)
    assert float(layer.high) == pytest.approx(990)


def gradient(function, values):
    if keras.backend.backend() == "jax":
        import jax

        return np.asarray(jax.grad(lambda x: keras.ops.sum(function(x)))(values))
    import tensorflow as tf

    values = tf.constant(values)
    with tf.GradientTape() as tape:
        tape.watch(values)
        total = tf.reduce_sum(function(values))
    return tape.gradient(total, values).numpy()


def test_gradients_are_one_within_the_range_and_zero_outside():
    layer = ranged(-1.0, 1.0)
    found = gradient(layer, np.array([-1.5, -0.5, 0.0, 0.7, 1.5], "float32"))
    assert found.tolist() == [0, 1, 1, 1, 0]
    assert gradient(ranged(), np.array([-1.5, 9.0], "float32")).tolist() == [1, 1]


@pytest.mark.parametrize("policy", ["mixed_bfloat16", "mixed_float16"])
def test_half_precision_inputs_have_float32_ranges(policy):
    layer = ranged(-1.0, 1.0, dtype=policy)
    dtype = policy.removeprefix("mixed_")
    given = keras.ops.cast(np.array([0.25, 3.0], "float32"), dtype)
    output = layer(given, training=True)
    assert keras.backend.standardize_dtype(output.dtype) == dtype
    assert layer.high.dtype == "float32"
    assert float(layer.high) == pytest.approx((1 + 3) / 2)


def small_model():
    model = keras.Sequential(
        [
            keras.Input((4,)),
            keras.layers.Dense(2, kernel_initializer="ones"),
            ActivationRange(momentum=0.5, name="range"),
        ]
    )
    # With a learning rate of 0 the ranges depend only on the images.
    model.compile(keras.optimizers.SGD(0.0), "mse", jit_compile=keras.backend.backend() == "jax")
    return model


def fit(model, epochs, callbacks=(), scale=1.0):
    images = scale * np.random.default_rng(0).normal(size=(8, 4)).astype("float32")
    zeros = np.zeros((8, 2))
    model.fit(images, zeros, 4, epochs, verbose=0, callbacks=list(callbacks), shuffle=False)


def test_frozen_ranges_do_not_change():
    model = small_model()
    fit(model, 1)
    (layer,) = ranges_of(model)
    assert float(layer.observed_batches) == 2
    before = float(layer.high)
    fit(model, 3, [FreezeRanges(2)])
    middle = float(layer.high)
    assert middle != before and float(layer.observed_batches) == 6
    fit(model, 1, scale=100.0)
    assert float(layer.high) == middle and float(layer.observed_batches) == 6
    layer.reset()
    fit(model, 1, scale=100.0)
    assert float(layer.high) == pytest.approx(100 * before)


def test_config_and_state_are_saved(tmp_path):
    model = keras.Sequential(
        [keras.Input((4,)), ActivationRange(True, 6, 99.5, 0.9, name="range", dtype="mixed_bfloat16")]
    )
    model.layers[0].observe(-1.0, 2.0)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras").get_layer("range")
    assert loaded.get_config() == model.layers[0].get_config()
    assert (loaded.symmetric, loaded.bits, loaded.percent, loaded.momentum) == (True, 6, 99.5, 0.9)
    assert [float(weight) for weight in loaded.weights] == [-1, 2, 1, 0]


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"bits": 1}, "bits has to be an integer from 2 to 16; received bits=1"),
        ({"bits": 8.0}, "received bits=8.0"),
        ({"percent": 50}, r"percent has to be in \(50, 100\]; received percent=50"),
        ({"percent": 101}, "received percent=101"),
        ({"momentum": 1.0}, r"momentum has to be in \[0, 1\); received momentum=1.0"),
    ],
)
def test_arguments_out_of_their_ranges(arguments, message):
    with pytest.raises(ValueError, match=message):
        ActivationRange(**arguments)


@pytest.mark.parametrize("epoch", [-1, 1.5, True])
def test_freezing_from_a_wrong_epoch(epoch):
    with pytest.raises(ValueError, match="epoch has to be an integer of at least 0"):
        FreezeRanges(epoch)

"""Folding batch normalization keeps the outputs, and is done only where that is possible."""

import keras
import numpy as np
import pytest
from keras import layers

import hsvit_keras
from tests.models.small import a_few, small_model

RNG = np.random.default_rng(0)
IMAGES = RNG.normal(size=(4, 12, 12, 3)).astype("float32")


def with_random_statistics(model):
    """Sets gains, offsets, means and variances to random values, as after training."""
    for layer in model.layers:
        if isinstance(layer, layers.BatchNormalization):
            layer.set_weights([RNG.uniform(0.5, 2, weight.shape) for weight in layer.get_weights()])
    return model


def outputs(model):
    return keras.ops.convert_to_numpy(model(IMAGES, training=False))


def norms(model):
    return [layer.name for layer in model.layers if isinstance(layer, layers.BatchNormalization)]


def chain(*stack):
    """A Functional model of layers in a row."""
    inputs = x = keras.Input(IMAGES.shape[1:])
    for layer in stack:
        x = layer(x)
    return with_random_statistics(keras.Model(inputs, x))


FOLDED = {
    "convolution": [layers.Conv2D(8, 3, use_bias=False)],
    "convolution with bias": [layers.Conv2D(8, 3, bias_initializer="random_normal")],
    "grouped convolution": [layers.Conv2D(6, 1, groups=3)],
    "strided convolution": [layers.Conv2D(8, 3, strides=2, padding="same")],
    "depthwise": [layers.DepthwiseConv2D(3, use_bias=False)],
    "depthwise with multiplier": [
        layers.DepthwiseConv2D(3, depth_multiplier=2, bias_initializer="random_normal")
    ],
    "dense": [layers.Flatten(), layers.Dense(7)],
    "convolution over time": [layers.Reshape((144, 3)), layers.Conv1D(5, 3)],
}


@pytest.mark.slow_on_jax
@pytest.mark.parametrize(
    "settings", [{}, {"scale": False}, {"center": False}], ids=["", "no gain", "no offset"]
)
@pytest.mark.parametrize("name", FOLDED)
def test_folds(name, settings):
    stack = [type(layer).from_config(layer.get_config()) for layer in FOLDED[name]]
    model = chain(*stack, layers.BatchNormalization(epsilon=0.01, **settings), layers.ReLU(name="relu"))
    folded = hsvit_keras.fold_batch_norm(model)
    assert norms(folded) == []
    np.testing.assert_allclose(outputs(folded), outputs(model), rtol=1e-4, atol=1e-5)
    assert [layer.name for layer in folded.layers] == [
        layer.name for layer in model.layers if not isinstance(layer, layers.BatchNormalization)
    ]


def test_folds_a_normalization_that_is_an_output():
    model = chain(layers.Conv2D(4, 3), layers.BatchNormalization())
    folded = hsvit_keras.fold_batch_norm(model)
    assert norms(folded) == []
    np.testing.assert_allclose(outputs(folded), outputs(model), rtol=1e-4, atol=1e-5)


def test_sequential():
    model = with_random_statistics(
        keras.Sequential([keras.Input((12, 12, 3)), layers.Conv2D(4, 3), layers.BatchNormalization()])
    )
    folded = hsvit_keras.fold_batch_norm(model)
    assert norms(folded) == []
    np.testing.assert_allclose(outputs(folded), outputs(model), rtol=1e-4, atol=1e-5)


def two_readers():
    inputs = keras.Input((12, 12, 3))
    maps = layers.Conv2D(4, 3)(inputs)
    return keras.Model(inputs, layers.Add()([layers.BatchNormalization()(maps), maps]))


def two_readers_with_activation():
    inputs = keras.Input((12, 12, 3))
    maps = layers.Conv2D(4, 3)(inputs)
    return keras.Model(inputs, layers.Concatenate()([layers.BatchNormalization()(maps), layers.ReLU()(maps)]))


def shared_convolution():
    inputs = keras.Input((12, 12, 3))
    convolution = layers.Conv2D(3, 3, padding="same")
    return keras.Model(inputs, layers.BatchNormalization()(convolution(convolution(inputs))))


def shared_norm():
    inputs = keras.Input((12, 12, 3))
    norm = layers.BatchNormalization()
    return keras.Model(inputs, norm(layers.Conv2D(3, 3)(norm(inputs))))


KEPT = {
    "after an activation": lambda: chain(layers.Conv2D(4, 3, activation="relu"), layers.BatchNormalization()),
    "after pooling": lambda: chain(layers.Conv2D(4, 3), layers.MaxPooling2D(), layers.BatchNormalization()),
    "before the convolution": lambda: chain(layers.BatchNormalization(), layers.Conv2D(4, 3)),
    "axis of rows": lambda: chain(layers.Conv2D(4, 3), layers.BatchNormalization(axis=1)),
    "two readers": two_readers,
    "two readers with activation": two_readers_with_activation,
    "shared convolution": shared_convolution,
    "shared norm": shared_norm,
}


@pytest.mark.parametrize("name", KEPT)
def test_keeps_what_cannot_be_folded(name):
    model = with_random_statistics(KEPT[name]())
    folded = hsvit_keras.fold_batch_norm(model)
    assert len(norms(folded)) == len(norms(model)) == 1
    np.testing.assert_allclose(outputs(folded), outputs(model), rtol=1e-5, atol=1e-5)


def test_a_sequential_model_without_input_is_refused():
    with pytest.raises(ValueError, match="'early' has no graph yet"):
        hsvit_keras.fold_batch_norm(keras.Sequential([layers.Dense(3)], name="early"))


def test_operations_without_a_layer_are_kept():
    inputs = keras.Input((12, 12, 3))
    maps = layers.BatchNormalization()(layers.Conv2D(3, 3, padding="same")(inputs / 2.0)) + inputs
    model = with_random_statistics(keras.Model(inputs, keras.ops.relu(maps)))
    folded = hsvit_keras.fold_batch_norm(model)
    assert norms(folded) == []
    np.testing.assert_allclose(outputs(folded), outputs(model), rtol=1e-4, atol=1e-5)


def test_the_original_is_not_modified():
    model = chain(layers.Conv2D(4, 3), layers.BatchNormalization(), layers.ReLU())
    before, weights = outputs(model), model.get_weights()
    hsvit_keras.fold_batch_norm(model)
    np.testing.assert_array_equal(outputs(model), before)
    for old, new in zip(weights, model.get_weights(), strict=True):
        np.testing.assert_array_equal(old, new)
    assert model.layers[1].output is not None  # fails if the layer was called a second time


@pytest.mark.once
@pytest.mark.parametrize("name", a_few())
def test_every_model(name):
    model = with_random_statistics(small_model(name))
    images = RNG.normal(size=(2, *model.input_shape[1:])).astype("float32")
    expected = keras.ops.convert_to_numpy(model(images, training=False))
    folded = hsvit_keras.fold_batch_norm(model)
    folded_outputs = keras.ops.convert_to_numpy(folded(images, training=False))
    np.testing.assert_allclose(folded_outputs, expected, rtol=1e-4, atol=2e-5 * np.abs(expected).max())
    if name.startswith("hsvit"):
        assert norms(folded) == []


def test_a_model_without_a_graph_is_refused():
    class Subclassed(keras.Model):
        def call(self, inputs):
            return inputs

    with pytest.raises(ValueError, match="'mine' of class Subclassed"):
        hsvit_keras.fold_batch_norm(Subclassed(name="mine"))

"""Folding the normalization of pixels into the convolutions that read it keeps the outputs."""

import keras
import numpy as np
import pytest
from keras import layers

from hsvit_keras.compression.folding import fold_normalization
from hsvit_keras.layers import Shift

PIXELS = np.random.default_rng(0).integers(0, 256, (4, 9, 9, 3)).astype("float32")
SCALE, OFFSET = (0.01, 0.02, 0.03), (-1.5, 0.5, -1.0)


def normalized(scale=SCALE, offset=OFFSET):
    """An input image and the normalized image."""
    image = keras.Input(PIXELS.shape[1:])
    return image, layers.Rescaling(scale, offset, name="normalization")(image)


def outputs(model):
    found = keras.tree.flatten(model(PIXELS, training=False))
    return np.concatenate([np.reshape(keras.ops.convert_to_numpy(output), (4, -1)) for output in found], -1)


def classes(model):
    return [type(layer) for layer in model.layers]


READERS = {
    "without padding": [layers.Conv2D(5, 3, use_bias=False)],
    "strided patches": [layers.Conv2D(5, 3, strides=3, bias_initializer="random_normal")],
    "padded": [layers.Conv2D(5, 3, padding="same", bias_initializer="random_normal")],
    "dilated and padded": [layers.Conv2D(5, 3, padding="same", dilation_rate=2)],
    "zero padding": [layers.ZeroPadding2D(2), layers.Conv2D(5, 4, strides=2, activation="relu")],
    "zero padding twice": [layers.ZeroPadding2D(1), layers.ZeroPadding2D(1), layers.Conv2D(5, 3)],
}


@pytest.mark.parametrize(("scale", "offset"), [(1 / 127.5, -1.0), (SCALE, OFFSET), (SCALE, 0.0)])
@pytest.mark.parametrize("name", READERS)
def test_folds(name, scale, offset):
    """With padding only the scale is folded; if there is an offset, a `Shift` adds it."""
    image, x = normalized(scale, offset)
    for layer in READERS[name]:
        x = type(layer).from_config(layer.get_config())(x)
    model = keras.Model(image, layers.Flatten()(x))
    folded = fold_normalization(model)
    np.testing.assert_allclose(outputs(folded), outputs(model), rtol=1e-4, atol=1e-5)
    assert layers.Rescaling not in classes(folded)
    pads = name not in ("without padding", "strided patches")
    assert classes(folded).count(Shift) == (pads and np.any(offset))


@pytest.mark.parametrize("padding", ["valid", "same"])
def test_normalizations_in_a_row(padding):
    """As in `keras.applications.EfficientNetB0`: pixels to 0..1, then by mean and variance, then a gain."""
    image = keras.Input(PIXELS.shape[1:])
    x = layers.Rescaling(1 / 255)(image)
    x = layers.Normalization(mean=[0.4, 0.5, 0.6], variance=[0.04, 0.05, 0.06])(x)
    x = layers.Rescaling([1.0, 2.0, 3.0])(x)
    model = keras.Model(image, layers.Conv2D(5, 3, padding=padding)(x))
    folded = fold_normalization(model)
    np.testing.assert_allclose(outputs(folded), outputs(model), rtol=1e-4, atol=1e-5)
    kept = {layers.Rescaling, layers.Normalization} & set(classes(folded))
    assert not kept and classes(folded).count(Shift) == (padding == "same")


def test_a_row_with_another_reader_is_folded_from_there_on():
    image, x = normalized()
    scaled = layers.Rescaling(2.0, 1.0, name="scaled")(x)
    model = keras.Model(image, [layers.Conv2D(5, 3)(scaled), x])
    folded = fold_normalization(model)
    np.testing.assert_allclose(outputs(folded), outputs(model), rtol=1e-4, atol=1e-5)
    assert [layer.name for layer in folded.layers if type(layer) is layers.Rescaling] == ["normalization"]


def test_an_adapted_normalization():
    image = keras.Input(PIXELS.shape[1:])
    normalization = layers.Normalization()
    normalization.adapt(PIXELS)
    model = keras.Model(image, layers.Conv2D(5, 3)(normalization(image)))
    folded = fold_normalization(model)
    np.testing.assert_allclose(outputs(folded), outputs(model), rtol=1e-4, atol=1e-5)
    assert layers.Normalization not in classes(folded)


def test_several_convolutions_that_read_it():
    """If one of them is padded, all read pixels minus their mean."""
    image, x = normalized()
    maps = [layers.Conv2D(4, 3, padding="same")(x), layers.Conv2D(2, 5)(x)]
    model = keras.Model(image, maps)
    folded = fold_normalization(model)
    np.testing.assert_allclose(outputs(folded), outputs(model), rtol=1e-4, atol=1e-5)
    assert layers.Rescaling not in classes(folded)
    (shift,) = [layer for layer in folded.layers if isinstance(layer, Shift)]
    np.testing.assert_allclose(shift.offset, np.divide(OFFSET, SCALE))


def another_reader():
    image, x = normalized()
    return keras.Model(image, [layers.Conv2D(4, 3)(x), layers.ReLU()(x)])


def another_reader_of_the_padded():
    image, x = normalized()
    padded = layers.ZeroPadding2D(1)(x)
    return keras.Model(image, [layers.Conv2D(4, 3)(padded), layers.MaxPooling2D()(padded)])


def an_output():
    image, x = normalized()
    return keras.Model(image, [layers.Conv2D(4, 3)(x), x])


def groups():
    image, x = normalized()
    return keras.Model(image, layers.Conv2D(6, 3, groups=3)(x))


def depthwise():
    image, x = normalized()
    return keras.Model(image, layers.DepthwiseConv2D(3)(x))


def called_twice():
    image, x = normalized()
    convolution = layers.Conv2D(3, 3, padding="same")
    return keras.Model(image, convolution(convolution(x)))


KEPT = [another_reader, another_reader_of_the_padded, an_output, groups, depthwise, called_twice]


@pytest.mark.parametrize("make", KEPT)
def test_kept_where_other_layers_read_it(make):
    model = make()
    assert fold_normalization(model) is model


def test_the_original_is_not_modified():
    image, x = normalized()
    model = keras.Model(image, layers.Conv2D(4, 3)(x))
    before, weights = outputs(model), model.get_weights()
    fold_normalization(model)
    np.testing.assert_array_equal(outputs(model), before)
    for old, new in zip(weights, model.get_weights(), strict=True):
        np.testing.assert_array_equal(old, new)


def test_a_shift_is_saved(tmp_path):
    image, x = normalized()
    folded = fold_normalization(keras.Model(image, layers.Conv2D(4, 3, padding="same")(x)))
    folded.save(tmp_path / "folded.keras")
    loaded = keras.models.load_model(tmp_path / "folded.keras")
    np.testing.assert_array_equal(outputs(loaded), outputs(folded))

"""Layer scales are folded like batch normalization, and behind it."""

import keras
import numpy as np
import pytest

import hsvit_keras
from hsvit_keras.layers import LayerScale
from tests.models.running import outputs
from tests.models.small import grown_model


def test_behind_batch_normalization_behind_a_convolution():
    inputs = keras.Input((4, 4, 3))
    maps = keras.layers.Conv2D(5, 3, use_bias=False)(inputs)
    maps = keras.layers.BatchNormalization()(maps)
    model = keras.Model(inputs, LayerScale(0.3)(maps))
    folded = hsvit_keras.fold_batch_norm(model)
    assert [type(layer) for layer in folded.layers[1:]] == [keras.layers.Conv2D]
    images = np.random.default_rng(0).normal(size=(2, 4, 4, 3)).astype("float32")
    np.testing.assert_allclose(outputs(folded, images), outputs(model, images), rtol=1e-4, atol=1e-6)


def test_a_kernel_that_another_layer_reads_keeps_the_scale_behind_it():
    inputs = keras.Input((8,))
    shared = keras.layers.Dense(4)(inputs)
    model = keras.Model(inputs, keras.layers.Add()([shared, LayerScale()(shared)]))
    assert hsvit_keras.fold_batch_norm(model) is model


@pytest.mark.slow
def test_families_keep_the_scales_that_no_kernel_takes_in():
    for name, kept in (("efficientformer_l1", 2), ("swiftformer_s", 0)):
        folded = hsvit_keras.fold_batch_norm(grown_model(name))
        assert sum(isinstance(layer, LayerScale) for layer in folded.layers) == kept

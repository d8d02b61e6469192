"""Compares a model with what the authors' program answered to the same weights and images."""

import functools
import re

import keras
import numpy as np

import hsvit_keras
from tests import reference

SUFFIXES = re.compile("_(rect|noattn|noconv|m1|m4|p2|p4|p16|distilled|relu|relu_local)$")


@functools.cache
def imported(name):
    """The fixture of this name, and its model."""
    fixture = reference.load(name)
    _, channels, height, width = fixture["input_shape"]
    model = hsvit_keras.from_torch(
        SUFFIXES.sub("", name),
        fixture["config"],
        reference.weights(fixture),
        input_shape=(height, width, channels),
    )
    return fixture, model


def assert_same_logits(name):
    fixture, model = imported(name)
    logits = keras.ops.convert_to_numpy(model(reference.images(fixture), training=False))
    assert np.abs(logits - fixture["output_float64"]).max() <= fixture["suggested_atol"]


def assert_same_parameter_count(name):
    fixture, model = imported(name)
    assert sum(int(np.prod(w.shape)) for w in model.trainable_weights) == fixture["num_params"]


def assert_same_intermediate_values(name, layers):
    """The values on the way, by name.

    Args:
        name: str, the fixture.
        layers: dict from the authors' module to our layer, and a function from its output to their layout.
    """
    fixture, model = imported(name)
    assert fixture["checkpoints"]
    for checkpoint in fixture["checkpoints"]:
        layer, to_authors_layout = layers[checkpoint["module"]]
        probe = keras.Model(model.input, model.get_layer(layer).output)
        outputs = keras.ops.convert_to_numpy(probe(reference.images(fixture), training=False))
        values = to_authors_layout(outputs)
        assert list(values.shape) == checkpoint["shape"]
        np.testing.assert_allclose(values.ravel()[:8], checkpoint["first"], rtol=1e-5, atol=3e-6)
        np.testing.assert_allclose(values.mean(), checkpoint["mean"], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(values.std(), checkpoint["std"], rtol=1e-5)


def as_they_are(tokens):
    return tokens


def layer_norm(fixture, name):
    """A function that normalizes all tokens in NumPy, where our model normalizes only those it reads."""
    weights = reference.weights(fixture)

    def normalize(tokens):
        tokens = tokens.astype("float64")
        centred = tokens - tokens.mean(-1, keepdims=True)
        normalized = centred / np.sqrt(tokens.var(-1, keepdims=True) + 1e-6)
        return normalized * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    return normalize

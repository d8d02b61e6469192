"""HSViT equals its authors' program: logits, and the values on the way."""

import keras
import numpy as np
import pytest

import hsvit_keras
from tests import reference

FIXTURES = ["hsvit", "hsvit_rect", "hsvit_noattn", "hsvit_noconv"]

# the authors' module -> our layer, and how its output gets their layout
INTERMEDIATE = {
    "model.conv2d_layers": ("stage1_pool", lambda maps: maps.transpose(0, 3, 1, 2)),
    "model.embed_projection": ("embedding_relu", lambda tokens: tokens),
    "model.attn_encoders.0": ("block1_add", lambda tokens: tokens[:, :, 0]),
    "model.attn_encoders.3": ("block1_add", lambda tokens: tokens[:, :, 3]),
    "classifier.pool": ("mean_answer", lambda features: features[..., None]),
}


def imported(fixture):
    height, width = fixture["input_shape"][2:]
    return hsvit_keras.from_torch(
        "hsvit",
        fixture["config"],
        reference.weights(fixture),
        input_shape=(height, width, fixture["config"]["num_channels"]),
    )


@pytest.mark.parametrize("name", FIXTURES)
def test_logits(name):
    fixture = reference.load(name)
    logits = imported(fixture)(reference.images(fixture), training=False)
    difference = np.abs(keras.ops.convert_to_numpy(logits) - fixture["output_float64"]).max()
    assert difference <= fixture["suggested_atol"]


@pytest.mark.parametrize("name", FIXTURES)
def test_intermediate_values(name):
    fixture = reference.load(name)
    model = imported(fixture)
    for checkpoint in fixture["checkpoints"]:
        layer, to_authors_layout = INTERMEDIATE[checkpoint["module"]]
        probe = keras.Model(model.input, model.get_layer(layer).output)
        values = to_authors_layout(keras.ops.convert_to_numpy(probe(reference.images(fixture))))
        assert list(values.shape) == checkpoint["shape"]
        np.testing.assert_allclose(values.ravel()[:8], checkpoint["first"], rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(values.mean(), checkpoint["mean"], rtol=1e-5)
        np.testing.assert_allclose(values.std(), checkpoint["std"], rtol=1e-5)


@pytest.mark.parametrize("name", FIXTURES)
def test_parameter_count(name):
    fixture = reference.load(name)
    model = imported(fixture)
    assert sum(int(np.prod(w.shape)) for w in model.trainable_weights) == fixture["num_params"]

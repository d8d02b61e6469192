"""HVT equals its authors' program: logits, and the values on the way."""

import numpy as np
import pytest

import hsvit_keras
from tests import reference
from tests.checkpoints import parity

FIXTURES = ["hvt_m1", "hvt_m4"]
LAYERS = {
    "patch_embed": ("patch_tokens", parity.as_they_are),
    "blocks.0": ("block0_position_embedding", parity.as_they_are),
    "norm": ("head_norm", parity.as_they_are),
}


@pytest.mark.parametrize("name", FIXTURES)
def test_logits(name):
    parity.assert_same_logits(name)


@pytest.mark.parametrize("name", FIXTURES)
def test_parameter_count(name):
    parity.assert_same_parameter_count(name)


@pytest.mark.parametrize("name", FIXTURES)
def test_intermediate_values(name):
    parity.assert_same_intermediate_values(name, LAYERS)


def test_stride_of_the_pooling_is_without_effect():
    """The authors' program takes `pool_stride` and pools with stride 2."""
    fixture = reference.load("hvt_m1")
    config = {**fixture["config"], "pool_stride": 5}
    logits = hsvit_keras.from_torch("hvt", config, reference.weights(fixture))(reference.images(fixture))
    assert np.abs(np.asarray(logits) - fixture["output_float64"]).max() <= fixture["suggested_atol"]


def test_unknown_argument():
    fixture = reference.load("hvt_m1")
    with pytest.raises(ValueError, match="unknown: pooling"):
        hsvit_keras.from_torch("hvt", {**fixture["config"], "pooling": "max"}, reference.weights(fixture))

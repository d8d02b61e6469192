"""DHVT equals its authors' program: logits, and the values on the way."""

import pytest

import hsvit_keras
from tests import reference
from tests.checkpoints import parity

FIXTURES = ["dhvt_p2", "dhvt_p4", "dhvt_p16"]
LAYERS = {
    "patch_embed": ("patch_tokens", parity.as_they_are),
    "blocks.0.attn": ("block0_attention_join", parity.as_they_are),
    "blocks.0": ("block0_mlp_add", parity.as_they_are),
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


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"apply_dhvt": False}, "plain vision transformer, architecture 'deit'"),
        ({"heads": 4}, "unknown: heads"),
        ({"patch_size": 8}, "patch_size has to be one of 2, 4, 16; received patch_size=8"),
    ],
)
def test_wrong_config(change, message):
    fixture = reference.load("dhvt_p4")
    with pytest.raises(ValueError, match=message):
        hsvit_keras.from_torch("dhvt", {**fixture["config"], **change}, reference.weights(fixture))

"""PiT equals its authors' program: logits, and the values on the way."""

import pytest

import hsvit_keras
from tests import reference
from tests.checkpoints import parity

FIXTURES = ["pit", "pit_distilled"]


def as_map(side, class_tokens=0):
    """A function from tokens, class tokens in front, to the authors' map (batch, channels, side, side)."""

    def to_map(tokens):
        maps = tokens[:, class_tokens:].reshape(len(tokens), side, side, -1)
        return maps.transpose(0, 3, 1, 2)

    return to_map


@pytest.mark.parametrize("name", FIXTURES)
def test_logits(name):
    parity.assert_same_logits(name)


@pytest.mark.parametrize("name", FIXTURES)
def test_parameter_count(name):
    parity.assert_same_parameter_count(name)


@pytest.mark.parametrize("name", FIXTURES)
def test_intermediate_values(name):
    class_tokens = 2 if name == "pit_distilled" else 1
    layers = {
        "patch_embed": ("patch_tokens", as_map(7)),
        "pools.0": ("stage1_pool_flatten", as_map(4)),
        "pools.1": ("stage2_pool_flatten", as_map(2)),
        "transformers.0": ("stage0_block0_mlp_add", as_map(7, class_tokens)),
        "transformers.1": ("stage1_block1_mlp_add", as_map(4, class_tokens)),
    }
    parity.assert_same_intermediate_values(name, layers)


def test_distilled_by_class_or_by_argument():
    fixture = reference.load("pit_distilled")
    config = {**fixture["config"], "class": "PoolingTransformer"}
    with pytest.raises(ValueError, match=r"head_dist\.weight"):
        hsvit_keras.from_torch("pit", config, reference.weights(fixture))
    assert hsvit_keras.from_torch("pit", {**config, "distilled": True}, reference.weights(fixture)).distilled


def test_unknown_argument():
    fixture = reference.load("pit")
    with pytest.raises(ValueError, match="unknown: strides"):
        hsvit_keras.from_torch("pit", {**fixture["config"], "strides": 8}, reference.weights(fixture))

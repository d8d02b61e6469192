"""PiT from its authors' arguments and weights."""

import pytest

import hsvit_keras
from tests import reference


def test_distilled_by_class_or_by_argument():
    fixture = reference.load("pit_distilled")
    config = {**fixture["config"], "class": "PoolingTransformer"}
    with pytest.raises(ValueError, match=r"head_dist\.weight"):
        hsvit_keras.from_torch("pit", config, reference.weights(fixture))
    assert hsvit_keras.from_torch("pit", {**config, "distilled": True}, reference.weights(fixture)).distilled


@pytest.mark.once
def test_unknown_argument():
    fixture = reference.load("pit")
    with pytest.raises(ValueError, match="unknown: strides"):
        hsvit_keras.from_torch("pit", {**fixture["config"], "strides": 8}, reference.weights(fixture))

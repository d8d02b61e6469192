"""HVT from its authors' arguments and weights."""

import numpy as np
import pytest

import hsvit_keras
from tests import reference
from tests.models.running import outputs


def test_stride_of_the_pooling_is_without_effect():
    """The authors' program takes `pool_stride` and pools with stride 2."""
    fixture = reference.load("hvt_m1")
    config = {**fixture["config"], "pool_stride": 5}
    logits = outputs(
        hsvit_keras.from_torch("hvt", config, reference.weights(fixture)), reference.images(fixture)
    )
    assert np.abs(logits - fixture["output_float64"]).max() <= fixture["suggested_atol"]


@pytest.mark.once
def test_unknown_argument():
    fixture = reference.load("hvt_m1")
    with pytest.raises(ValueError, match="unknown: pooling"):
        hsvit_keras.from_torch("hvt", {**fixture["config"], "pooling": "max"}, reference.weights(fixture))

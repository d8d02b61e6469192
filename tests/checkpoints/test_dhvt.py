"""DHVT from its authors' arguments and weights."""

import pytest

import hsvit_keras
from tests import reference


@pytest.mark.once
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

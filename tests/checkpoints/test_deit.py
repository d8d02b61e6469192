"""DeiT from its authors' arguments and weights."""

import numpy as np
import pytest

import hsvit_keras
from tests import reference


def test_shape_of_the_image_from_the_config():
    fixture = reference.load("deit")
    model = hsvit_keras.from_torch("deit", fixture["config"], reference.weights(fixture))
    assert model.input_shape == (None, 32, 32, 3)


def test_distilled_tokens_need_the_distilled_config():
    fixture = reference.load("deit_distilled")
    config = {**fixture["config"], "distilled": False}
    with pytest.raises(ValueError, match=r"pos_embed has shape \(1, 18, 16\), the model needs \(1, 17, 16\)"):
        hsvit_keras.from_torch("deit", config, reference.weights(fixture))


def test_without_bias_of_queries_keys_and_values():
    """A missing bias is a bias of zero."""
    fixture = reference.load("deit")
    tensors = reference.weights(fixture)
    names = [name for name in tensors if name.endswith("qkv.bias")]
    zero = {**tensors, **{name: 0 * tensors[name] for name in names}}
    without = {name: tensor for name, tensor in tensors.items() if name not in names}
    images = reference.images(fixture)
    expected = hsvit_keras.from_torch("deit", fixture["config"], zero)(images)
    result = hsvit_keras.from_torch("deit", {**fixture["config"], "qkv_bias": False}, without)(images)
    np.testing.assert_allclose(np.asarray(result), np.asarray(expected), atol=1e-6)


@pytest.mark.once
@pytest.mark.parametrize(
    ("change", "message"),
    [({"patch": 8}, "unknown: patch"), ({"depth": None}, "missing: depth")],
)
def test_config_with_a_typo(change, message):
    fixture = reference.load("deit")
    config = {key: value for key, value in {**fixture["config"], **change}.items() if value is not None}
    with pytest.raises(ValueError, match=message):
        hsvit_keras.from_torch("deit", config, reference.weights(fixture))

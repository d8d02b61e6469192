"""MobileViT: odd maps, and every argument that does not fit."""

import pytest

import hsvit_keras
from tests.models.small import small_model

WRONG = {
    "heads": ({"num_heads": 3}, "num_heads=3, each number of hidden_dims=8"),
    "filters": ({"filters": (8, 8, 8)}, r"received filters=\(8, 8, 8\), depths=\(1, 2, 1\)"),
    "ratios": ({"expand_ratios": (2, 2)}, r"3 numbers above 0; received expand_ratios=\(2, 2\)"),
    "ratio": ({"expand_ratios": (2, 2, 0)}, r"received expand_ratios=\(2, 2, 0\)"),
    "dims": ({"mlp_dims": (8, 8)}, r"hidden_dims=\(8,\), mlp_dims=\(8, 8\)"),
    "dropout": ({"dropout_rate": 1}, "dropout_rate=1"),
}


@pytest.mark.once
@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_named(name):
    arguments, message = WRONG[name]
    with pytest.raises(ValueError, match=message):
        small_model("mobilevit_s", **arguments)


@pytest.mark.once
@pytest.mark.parametrize(("shape", "is_odd"), [((24, 40, 3), True), ((16, 32, 1), False)])
def test_odd_maps_alone_are_resized(shape, is_odd):
    model = small_model("mobilevit_s", input_shape=shape)
    assert ("stage2_enlarge" in {layer.name for layer in model.layers}) == is_odd
    assert model.get_layer("stage2_fusion_conv").output.shape[1:3] == (shape[0] // 8, shape[1] // 8)


@pytest.mark.once
def test_hidden_filters_are_multiples_of_8_near_the_ratio():
    for ratio, expected in ((1, 16), (2, 32), (1.3, 24), (1.2, 24), (0.3, 8)):
        model = hsvit_keras.MobileViT(
            (16, 16, 3), 5, (16, 8, 8), 8, (1, 1), (ratio, 1), hidden_dims=(4,), mlp_dims=(4,)
        )
        assert model.get_layer("stage0_residual0_expand").filters == expected

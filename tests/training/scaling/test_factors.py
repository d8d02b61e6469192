"""Factors make the models of the paper, and what does not fit is left out."""

import pytest

import hsvit_keras
from hsvit_keras.models import registry
from tests.training.scaling.paper import DEIT_FLOPS, PIT_FLOPS, deit_flops, pit_flops
from training.scaling.costs import Cost
from training.scaling.factors import DEIT, FAMILIES, HSVIT, PIT, describe
from training.scaling.transfer import deit_factors, pit_factors

pytestmark = pytest.mark.once


def registered(name):
    """The arguments that `create_model(name)` gives the class of a registered model."""
    variant = registry._VARIANTS[name]
    return {
        "input_shape": list(variant.input_shape),
        "num_classes": variant.num_classes,
        **variant.arguments(variant.input_shape),
    }


def test_the_search_starts_from_the_papers_table_1():
    assert list(DEIT.start.values()) == [6, 2, 64, 4, 160, 16]
    assert DEIT.start == deit_factors("deit_scaled_start")


@pytest.mark.parametrize("name", DEIT_FLOPS)
def test_a_deit_of_the_paper_has_its_flops(name):
    assert f"{deit_flops(deit_factors(name)) / 1e9:.2f}" == DEIT_FLOPS[name]


def test_deit_scaled_base_is_one_unit_of_rounding_off():
    assert deit_flops(deit_factors("deit_scaled_base")) == pytest.approx(16.82e9, abs=0.01e9)


@pytest.mark.parametrize("name", PIT_FLOPS)
def test_a_pit_of_the_paper_has_its_flops(name):
    assert f"{pit_flops(pit_factors(name)) / 1e9:.2f}" == PIT_FLOPS[name]


@pytest.mark.parametrize("name", ["deit_scaled_start", "pit_scaled_tiny"])
def test_the_cost_of_all_multiply_adds_is_the_papers(name):
    flops = deit_flops(deit_factors(name)) if name in DEIT_FLOPS else pit_flops(pit_factors(name))
    assert Cost("full_multiply_adds")(hsvit_keras.create_model(f"{name}_distilled")) == flops


@pytest.mark.parametrize("name", DEIT_FLOPS)
def test_factors_of_deit_make_the_registered_model(name):
    made, there = DEIT.configuration(deit_factors(name), 3, 1000), registered(name)
    assert made.pop("name") == "deit_tiny" and not there.pop("distilled")
    assert made == there


@pytest.mark.parametrize("name", PIT_FLOPS)
def test_factors_of_pit_make_the_registered_model(name):
    made, there = PIT.configuration(pit_factors(name), 3, 1000), registered(name)
    del made["name"], made["mlp_ratio"], there["distilled"]
    assert made == {key: list(value) if isinstance(value, tuple) else value for key, value in there.items()}


def test_factors_of_hsvit_make_c2a2():
    factors = {**HSVIT.start, "kernels": 64, "groups": 16, "head_dim": 8, "num_heads": 8}
    made = HSVIT.configuration(factors, 3, 10)
    model = hsvit_keras.create_model(**made)
    assert (
        model.count_params()
        == hsvit_keras.create_model("hsvit_c2a2", input_shape=(32, 32, 3), num_classes=10).count_params()
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_every_start_is_a_model(family):
    family = FAMILIES[family]
    assert family.fits(family.start)
    small = {"image_size": 32} if "image_size" in family.start else {}
    model = hsvit_keras.create_model(**family.configuration({**family.start, **small}, 1, 10))
    assert model.output_shape == (None, 10)


def test_patches_become_smaller_and_divide_the_image():
    assert [one["patch_size"] for one in DEIT.scaled_up(DEIT.start, "patch_size")] == [10, 8, 5, 4]
    assert [one["image_size"] for one in DEIT.scaled_up(DEIT.start, "image_size")][:2] == [176, 192]


def test_groups_divide_the_kernels():
    assert [one["groups"] for one in HSVIT.line({**HSVIT.start, "kernels": 12}, "groups")] == [8, 4, 2, 1]


def test_blocks_of_pit_are_shared_out():
    assert PIT.arguments({**PIT.start, "depth": 20})["depths"] == [3, 10, 6]


def test_a_factor_without_values_stays_and_a_start_may_be_another():
    family = DEIT.changed({"depth": 2}, {"head_dim": (), "depth": (2, 4)})
    assert family.start["depth"] == 2 and family.start["num_heads"] == 2
    assert "head_dim" not in family.values and family.values["depth"] == (2, 4)


def test_wrong_factors_are_named():
    with pytest.raises(ValueError, match="there is no factor 'dept'; the family has depth, num_heads"):
        DEIT.changed({"dept": 2})
    with pytest.raises(ValueError, match=r"do not fit each other: .*image_size 30, patch_size 16"):
        DEIT.changed({"image_size": 30})


def test_factors_are_told_in_one_line():
    assert describe({"depth": 2, "num_heads": 3}) == "depth 2, num_heads 3"

"""Strategies of DeiT carried to PiT are the models of the paper's Table 8."""

import json

import pytest

from tests.training.scaling.paper import pit_flops
from training.scaling.factors import PIT
from training.scaling.transfer import deit_factors, pit_factors, strategy_factors, transfer

pytestmark = pytest.mark.once

TABLE_8 = [
    ("deit_scaled_tiny", "deit_tiny", "pit_ti", "pit_scaled_tiny"),
    ("deit_scaled_tiny", "deit_tiny", "pit_xs", "pit_scaled_xs"),
    ("deit_scaled_small", "deit_small", "pit_s", "pit_scaled_small"),
]


@pytest.mark.parametrize("strategy, unscaled, baseline, published", TABLE_8)
def test_the_result_is_the_papers_model(strategy, unscaled, baseline, published):
    found = transfer(deit_factors(strategy), deit_factors(unscaled), PIT, pit_factors(baseline), pit_flops)
    assert PIT.configuration(found, 3, 1000) == PIT.configuration(pit_factors(published), 3, 1000)


def test_what_the_unscaled_models_do_not_share_is_not_carried():
    """DeiT's heads have 64 features, PiT's 32."""
    strategy = {**deit_factors("deit_scaled_tiny"), "head_dim": 108}
    found = transfer(strategy, deit_factors("deit_tiny"), PIT, pit_factors("pit_ti"), pit_flops)
    assert found["head_dim"] == 32


def test_the_strategy_may_be_a_search(tmp_path):
    factors = deit_factors("deit_scaled_tiny")
    steps = [{"chosen": {"factors": {}}}, {"chosen": {"factors": factors}}]
    (tmp_path / "search.json").write_text(json.dumps({"family": "deit", "steps": steps}))
    assert strategy_factors(str(tmp_path / "search.json")) == factors


def test_what_is_no_strategy_is_named(tmp_path):
    with pytest.raises(ValueError, match="no model 'deit_scaled_tony'; did you mean 'deit_scaled_tiny'"):
        strategy_factors("deit_scaled_tony")
    with pytest.raises(ValueError, match="pit_b shares its blocks out otherwise"):
        pit_factors("pit_b")
    for content, message in (
        ('{"steps": []}', "is no search.json of training.scaling.search: .*'family' is a required property"),
        ('{"family": "pit", "steps": [{"chosen": {"factors": {}}}]}', "is a search for pit; .*from deit"),
    ):
        (tmp_path / "search.json").write_text(content)
        with pytest.raises(ValueError, match=message):
            strategy_factors(str(tmp_path / "search.json"))

"""The search goes the way of Algorithm 1 worked by hand, and finds an optimum that is known."""

import math

import numpy as np
import pytest

from hsvit_keras.tasks import Measure
from training.scaling.factors import Family
from training.scaling.greedy import (
    Candidate,
    best_of,
    first_reaching,
    frontier,
    greedy_search,
    scale_up,
)
from training.scaling.permutation import permute

pytestmark = pytest.mark.once

ACCURACY = Measure("accuracy", "Accuracy")
ERROR = Measure("error", "Error", higher_is_better=False)

# Cost is a product, so that every factor can reach every target.
PLAIN = Family(
    start={"depth": 1, "width": 1},
    values={"depth": tuple(range(1, 65)), "width": tuple(range(1, 65))},
    arguments=dict,
    fits=lambda factors: True,
)


def cost(factors):
    return math.prod(factors.values())


def literally(family, factors, name, target):
    """The inner loop of Algorithm 1 as it is written."""
    for one in [factors, *family.scaled_up(factors, name)]:
        if not cost(one) < target:
            return one


def oracle(factors):
    """Highest where depth is four times the width."""
    return 1 / (1 + abs(math.log2(factors["depth"] / factors["width"] / 4))) - 1 / (10 * cost(factors))


def run(family, targets, score=oracle, cost=cost, metric=ACCURACY, **options):
    def scores(many):
        return [score(one) for one in many]

    return list(greedy_search(family, targets, cost, scores, metric, **options))


def test_the_path_is_that_of_algorithm_1_worked_by_hand():
    """Targets 2, 4, 8, 16. By hand, with a(d, w) = 1 / (1 + |log2(d / 4w)|) - 1 / (10 d w):

    step 1 from (1, 1): (2, 1) 1/2 - .05 = .45, (1, 2) 1/4 - .05 = .2 -> (2, 1)
    step 2 from (2, 1): (4, 1) 1 - .025 = .975, (2, 2) 1/3 - .025 = .308 -> (4, 1)
    step 3 from (4, 1): (8, 1) 1/2 - .0125 = .4875, (4, 2) the same, at the same cost -> the first
    step 4 from (8, 1): (16, 1) 1/3 - .00625 = .327, (8, 2) 1 - .00625 = .99375 -> (8, 2)
    """
    steps = run(PLAIN, [lambda _, target=target: target for target in (2, 4, 8, 16)])
    assert [tuple(step.chosen.factors.values()) for step in steps] == [(2, 1), (4, 1), (8, 1), (8, 2)]
    assert [step.chosen.factor for step in steps] == ["depth", "depth", "depth", "width"]
    assert [step.target for step in steps] == [2, 4, 8, 16]
    assert [round(one.score, 5) for step in steps for one in step.candidates] == [
        0.45, 0.2, 0.975, 0.30833, 0.4875, 0.4875, 0.32708, 0.99375,
    ]  # fmt: skip


def test_a_known_optimum_is_found():
    *_, last = run(PLAIN, [lambda cost: 2 * cost] * 6)
    best = max(
        ({"depth": d, "width": w} for d in range(1, 65) for w in range(1, 65) if d * w <= last.chosen.cost),
        key=oracle,
    )
    assert last.chosen.factors == best == {"depth": 16, "width": 4}


def test_targets_grow_from_the_model_that_was_chosen():
    """From 3 x 5 = 15 the target is 30; of depth, 6 reaches it, of width 10."""
    family = PLAIN.changed({"depth": 3, "width": 5})
    steps = run(family, [lambda cost: 1.9 * cost] * 2, score=lambda one: one["depth"])
    assert [step.target for step in steps] == [28.5, pytest.approx(1.9 * 30)]
    assert steps[1].start.factors == {"depth": 6, "width": 5}


@pytest.mark.parametrize("target", [1, 2, 3, 7, 40, 41, 63, 64, 65])
@pytest.mark.parametrize("start", [1, 5, 64])
def test_strides_end_where_single_steps_do(target, start):
    factors = {"depth": start, "width": 1}
    assert scale_up(PLAIN, factors, "depth", cost, target) == literally(PLAIN, factors, "depth", target)


def test_strides_measure_few_models():
    measured = []

    def counted(factors):
        measured.append(factors)
        return cost(factors)

    line = PLAIN.line(PLAIN.start, "depth")
    assert first_reaching(line, counted, 40) == 39
    assert len(measured) <= 12


def test_a_factor_that_cannot_reach_the_target_is_left_out():
    family = PLAIN.changed(values={"width": (1, 2)})
    (step,) = run(family, [lambda _: 8])
    assert [one.factor for one in step.candidates] == ["depth"]
    family = family.changed(values={"depth": (1, 2)})
    with pytest.raises(
        ValueError, match="step 1: no factor reaches the target of 8 within a tolerance of inf"
    ):
        run(family, [lambda _: 8])


def test_a_candidate_that_costs_far_more_is_left_out_where_a_tolerance_says_so():
    """Width knows 1 and 32 only; it would win by its cost alone."""
    family = PLAIN.changed(values={"width": (1, 32)})
    (free,) = run(family, [lambda _: 2], score=cost)
    (bound,) = run(family, [lambda _: 2], score=cost, tolerance=0.5)
    assert (free.chosen.factor, bound.chosen.factor) == ("width", "depth")


def test_a_failed_training_is_never_chosen():
    (step,) = run(PLAIN, [lambda _: 2], score=lambda one: 0.1 if one["width"] == 2 else None)
    assert step.chosen.factor == "width"
    with pytest.raises(ValueError, match="no candidate could be trained"):
        run(PLAIN, [lambda _: 2], score=lambda one: None)


def test_of_equals_the_cheapest_is_chosen():
    dear, cheap = Candidate({"depth": 2}, 9, 0.5), Candidate({"depth": 1}, 8, 0.5)
    assert best_of([dear, cheap], ACCURACY) is cheap


def test_the_frontier_is_what_none_beats_at_its_cost():
    points = [
        Candidate({}, *point) for point in [(3, 0.5), (1, 0.2), (2, 0.6), (2, 0.4), (4, 0.7), (5, None)]
    ]
    assert [(one.cost, one.score) for one in frontier(points, ACCURACY)] == [(1, 0.2), (2, 0.6), (4, 0.7)]


def test_the_permutation_keeps_the_cost_and_repeats_itself():
    factors = {"depth": 12, "width": 16}

    def drawn():
        return permute(PLAIN, factors, cost, 192, 24, np.random.default_rng(0), span=0.5, tolerance=0.05)

    found = drawn()
    assert found == drawn()
    assert factors not in found and len({tuple(one.values()) for one in found}) == len(found)
    # All in reach: depth 6..18, width 8..24, product 183..201.
    every = [(d, w) for d in range(6, 19) for w in range(8, 25) if abs(d * w / 192 - 1) <= 0.05]
    assert {tuple(one.values()) for one in found} <= set(every)
    assert len(found) >= min(24, len(every) - 1) - 8


def test_the_permutation_finds_24_in_the_papers_space():
    from tests.training.scaling.paper import deit_flops
    from training.scaling.factors import DEIT
    from training.scaling.transfer import deit_factors

    scaled = deit_factors("deit_scaled_tiny")
    target = deit_flops(scaled)
    found = permute(DEIT, scaled, deit_flops, target, 24, np.random.default_rng(0))
    assert len(found) == 24
    assert all(abs(deit_flops(one) / target - 1) <= 0.02 and DEIT.fits(one) for one in found)
    assert len({one["image_size"] for one in found}) > 3 and len({one["depth"] for one in found}) > 3


def test_the_permutation_gives_what_there_is():
    factors = {"depth": 1, "width": 1}
    assert permute(PLAIN, factors, cost, 1, 3, np.random.default_rng(0), tolerance=0.0) == []

"""The paper's iterative greedy search (Algorithm 1) as logic alone: costs and scores come from functions.

In each step every factor is scaled up alone until the cost reaches the step's target; the next step starts
from the best of these models. A score is the value of a task's metric, such as accuracy.
"""

import bisect
import dataclasses
import math

from hsvit_runtime.errors import InputError


@dataclasses.dataclass(frozen=True)
class Candidate:
    """A model that was considered.

    Attributes:
        factors: dict.
        cost: number.
        score: float, or None where training failed.
        factor: str, what was scaled up to get here; None for a start.
    """

    factors: dict
    cost: float
    score: float | None
    factor: str | None = None


@dataclasses.dataclass(frozen=True)
class Step:
    """One step of the search: where it started, its target cost, its candidates and the chosen one."""

    start: Candidate
    target: float
    candidates: list
    chosen: Candidate


def first_reaching(line, cost, target):
    """The place of the first factors in `line` that cost `target` or more; None if none does.

    Algorithm 1 goes value by value. Costs grow along a line and each has to be measured, so this search goes
    in strides that double, and then by halves.

    Args:
        line: list of factors, from cheap to costly.
        cost: function from factors to a number.
        target: number.
    """
    below, stride = -1, 1
    while below < len(line) - 1:
        at = min(below + stride, len(line) - 1)
        if cost(line[at]) >= target:
            return bisect.bisect_left(line, True, below + 1, at, key=lambda one: cost(one) >= target)
        below, stride = at, 2 * stride
    return None


def scale_up(family, factors, name, cost, target):
    """Scales one factor until the cost reaches the target.

    Args:
        family: `Family`.
        factors: dict, where to start.
        name: str, the factor.
        cost: function from factors to a number.
        target: number.

    Returns:
        dict of factors; None if the factor's values end before.
    """
    if cost(factors) >= target:
        return factors
    line = family.scaled_up(factors, name)
    place = first_reaching(line, cost, target)
    return None if place is None else line[place]


def greedy_search(family, targets, cost, scores, metric, tolerance=math.inf):
    """Yields the steps of the search.

    Args:
        family: `Family`.
        targets: list of functions from the cost of the model chosen last to the next target.
        cost: function from factors to a number.
        scores: function from a list of factors to the list of their scores, None where one failed.
        metric: `hsvit_keras.tasks.Measure` of the scores.
        tolerance: float, by which share of the target a candidate may exceed it. Algorithm 1 has no
            such limit; where a factor has few values, a model of several times the cost would win.

    Raises:
        ValueError: no factor reaches a target within the tolerance, or no training ended well.
    """
    selected = family.start
    for number, next_target in enumerate(targets, 1):
        target = next_target(cost(selected))
        scaled = {name: scale_up(family, selected, name, cost, target) for name in family.values}
        scaled = {
            name: factors
            for name, factors in scaled.items()
            if factors is not None and cost(factors) <= target * (1 + tolerance)
        }
        if not scaled:
            raise InputError(
                f"step {number}: no factor reaches the target of {target:,.6g} within a tolerance of "
                f"{tolerance:g}; allow more, or give the factors finer values"
            )
        first, *others = scores([selected, *scaled.values()])
        candidates = [
            Candidate(factors, cost(factors), score, name)
            for (name, factors), score in zip(scaled.items(), others, strict=True)
        ]
        chosen = best_of(candidates, metric)
        yield Step(Candidate(selected, cost(selected), first), target, candidates, chosen)
        selected = chosen.factors


def best_of(candidates, metric):
    """The candidate of the best score; of equals, the cheapest.

    Raises:
        ValueError: none of them was trained.
    """
    trained = [one for one in candidates if one.score is not None]
    if not trained:
        raise InputError("no candidate could be trained: see the errors in trials.jsonl")
    trained.sort(key=lambda one: one.cost)
    return trained[metric.best([one.score for one in trained])]


def frontier(candidates, metric):
    """The candidates that none beats at their cost or below, from cheap to costly."""
    found = []
    trained = [one for one in candidates if one.score is not None]
    for one in sorted(trained, key=lambda one: one.cost):
        if not found or metric.best([found[-1].score, one.score]) == 1:
            if found and found[-1].cost == one.cost:
                found.pop()
            found.append(one)
    return found

"""Pruning schedules computed by hand; `test_pruning_oracle.py` compares them with the reference."""

import pytest

from hsvit_keras import ConstantSparsity, PolynomialDecay


def pruning_steps(schedule, steps):
    """The steps below `steps` at which the schedule prunes."""
    return [step for step in range(steps) if schedule(step)[0]]


def test_constant_sparsity():
    schedule = ConstantSparsity(0.6, begin_step=2, end_step=8, frequency=3)
    assert pruning_steps(schedule, 20) == [2, 5, 8]
    assert {schedule(step)[1] for step in range(20)} == {0.6}


def test_no_end():
    assert pruning_steps(ConstantSparsity(0.6, 1, frequency=4), 15) == [1, 5, 9, 13]
    assert pruning_steps(ConstantSparsity(0.6, 0), 250) == [0, 100, 200]


def test_prunes_once():
    assert pruning_steps(ConstantSparsity(0.6, 3, end_step=3), 300) == [3]


def test_polynomial_decay():
    schedule = PolynomialDecay(0.2, 0.7, begin_step=10, end_step=20, power=3, frequency=5)
    assert pruning_steps(schedule, 40) == [10, 15, 20]
    values = [schedule(step)[1] for step in (0, 10, 15, 18, 20, 99)]
    assert values == pytest.approx([0.2, 0.2, 0.7 - 0.5 / 8, 0.7 - 0.5 * 0.2**3, 0.7, 0.7])


def test_power():
    schedule = PolynomialDecay(0.0, 0.8, 0, 8, power=1, frequency=1)
    assert [schedule(step)[1] for step in range(9)] == pytest.approx([step / 10 for step in range(9)])


def test_end_step_equals_begin_step():
    schedule = PolynomialDecay(0.2, 0.7, begin_step=4, end_step=4)
    assert pruning_steps(schedule, 20) == [4]
    assert schedule(4)[1] == 0.7


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ConstantSparsity(1.0, 0), "target_sparsity .* less than 1; received 1.0"),
        (lambda: ConstantSparsity(-0.1, 0), "target_sparsity .* at least 0 .*; received -0.1"),
        (lambda: ConstantSparsity(float("nan"), 0), "target_sparsity .*; received nan"),
        (lambda: ConstantSparsity(80, 0), "share of zeros, .*; received 80"),
        (lambda: PolynomialDecay(-1, 0.5, 0, 9), "initial_sparsity .*; received -1"),
        (lambda: PolynomialDecay(0.1, 1.5, 0, 9), "final_sparsity .*; received 1.5"),
        (lambda: ConstantSparsity(0.5, -1), "begin_step has to be at least 0; received -1"),
        (lambda: ConstantSparsity(0.5, 9, 8), r"end_step .* begin_step, 9 \(-1: no end\); received 8"),
        (lambda: ConstantSparsity(0.5, 0, -2), r"end_step .* begin_step, 0 \(-1: no end\); received -2"),
        (lambda: PolynomialDecay(0.1, 0.5, 9, 8), "end_step has to be at least begin_step, 9; received 8"),
        (lambda: PolynomialDecay(0.1, 0.5, 0, -1), "end_step has to be at least begin_step, 0; received -1"),
        (lambda: ConstantSparsity(0.5, 0, frequency=0), "frequency .* at least 1 step; received 0"),
    ],
)
def test_wrong_arguments(make, message):
    with pytest.raises(ValueError, match=message):
        make()

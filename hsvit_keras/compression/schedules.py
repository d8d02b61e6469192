"""The pruning schedules of tensorflow-model-optimization, for Keras 3.

A schedule is a function from the step to `(should_prune, sparsity)`. It prunes at `begin_step` and every
`frequency` steps after that, up to and including `end_step`.
"""

import dataclasses

from hsvit_runtime.errors import InputError


@dataclasses.dataclass(frozen=True)
class ConstantSparsity:
    """A constant sparsity.

    Args:
        target_sparsity: float in [0, 1), the share of zeros.
        begin_step: int, the first step that prunes.
        end_step: int, the last step that may prune; -1 for no end.
        frequency: int, steps between one pruning and the next.

    Raises:
        InputError: an argument is out of its range, or `end_step` is before `begin_step`.
    """

    target_sparsity: float
    begin_step: int
    end_step: int = -1
    frequency: int = 100

    def __post_init__(self):
        _check_sparsity("target_sparsity", self.target_sparsity)
        _check_steps(self, may_be_endless=True)

    def __call__(self, step):
        """Whether to prune at `step` (int), and the sparsity."""
        return _is_due(self, step), self.target_sparsity


@dataclasses.dataclass(frozen=True)
class PolynomialDecay:
    """A sparsity that rises fast at first and slowly at the end (https://arxiv.org/abs/1710.01878).

    `final_sparsity + (initial_sparsity - final_sparsity) * (1 - progress) ** power`, with a progress from
    0 at `begin_step` to 1 at `end_step`. The final sparsity is reached where `frequency` divides
    `end_step - begin_step`.

    Args:
        initial_sparsity: float in [0, 1), the share of zeros at `begin_step`.
        final_sparsity: float in [0, 1), the share of zeros at `end_step`.
        begin_step: int, the first step that prunes.
        end_step: int, the last step that may prune.
        power: float, exponent of the polynomial; a higher one lets the sparsity rise faster at first.
        frequency: int, steps between one pruning and the next.

    Raises:
        InputError: an argument is out of its range, or `end_step` is before `begin_step`.
    """

    initial_sparsity: float
    final_sparsity: float
    begin_step: int
    end_step: int
    power: float = 3
    frequency: int = 100

    def __post_init__(self):
        _check_sparsity("initial_sparsity", self.initial_sparsity)
        _check_sparsity("final_sparsity", self.final_sparsity)
        _check_steps(self, may_be_endless=False)

    def __call__(self, step):
        """Whether to prune at `step` (int), and the sparsity."""
        steps = max(self.end_step - self.begin_step, 1)
        left = min(max((self.end_step - step) / steps, 0.0), 1.0)
        sparsity = self.final_sparsity + (self.initial_sparsity - self.final_sparsity) * left**self.power
        return _is_due(self, step), sparsity


def _is_due(schedule, step):
    has_ended = 0 <= schedule.end_step < step
    steps_done = step - schedule.begin_step
    return steps_done >= 0 and not has_ended and steps_done % schedule.frequency == 0


def _check_sparsity(name, value):
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1:
        raise InputError(f"{name} is a share of zeros, at least 0 and less than 1; received {value!r}")


def _check_steps(schedule, may_be_endless):
    begin, end, frequency = schedule.begin_step, schedule.end_step, schedule.frequency
    if begin < 0:
        raise InputError(f"begin_step has to be at least 0; received {begin}")
    if end < begin and not (may_be_endless and end == -1):
        no_end = " (-1: no end)" if may_be_endless else ""
        raise InputError(f"end_step has to be at least begin_step, {begin}{no_end}; received {end}")
    if frequency < 1:
        raise InputError(f"frequency has to be at least 1 step; received {frequency}")

"""Programs: what a backend computes for a function, as steps with inputs and outputs."""

from collections.abc import Hashable
from typing import NamedTuple

from hsvit_runtime.errors import InputError


class Step(NamedTuple):
    """An operation of a program.

    Attributes:
        name: str, for messages.
        inputs: list of values, any hashable objects.
        outputs: list of values.
        multiply_adds: int, its own.
        calls: list of (`Program`, times): the programs within, and how often each is computed, None if that
            is known at run time only.
        branches: list of `Program`, of which one is computed.
    """

    name: str
    inputs: list[Hashable]
    outputs: list[Hashable]
    multiply_adds: int = 0
    calls: list = ()
    branches: list = ()


class Program(NamedTuple):
    """What a function computes.

    Attributes:
        inputs: list of values.
        outputs: list of values.
        steps: list of `Step`, each after those whose outputs it reads.
    """

    inputs: list[Hashable]
    outputs: list[Hashable]
    steps: list[Step]


def multiply_adds(program, given=None):
    """The multiply-adds of a program, without those of constants alone and those that no output needs.

    Args:
        program: `Program`.
        given: list of the inputs that are not constants; all by default.

    Returns:
        int.

    Raises:
        InputError: a loop or a branch decides at run time how many there are.
    """
    variable, needed = set(program.inputs if given is None else given), set(program.outputs)
    for step in program.steps:
        if not variable.isdisjoint(step.inputs):
            variable.update(step.outputs)
    total = 0
    for step in reversed(program.steps):
        if not needed.isdisjoint(step.outputs):
            needed.update(step.inputs)
            if not variable.isdisjoint(step.inputs):
                total += _of_step(step, variable)
    return total


def _of_step(step, variable):
    return step.multiply_adds + _of_calls(step, variable) + _of_branches(step, variable)


def _of_calls(step, variable):
    total = 0
    for program, times in step.calls:
        once = multiply_adds(program, _given(program, step, variable) if times == 1 else None)
        if once and times is None:
            raise InputError(f"multiply-adds of {step.name!r} are unknown: it is a loop of no fixed length")
        total += once and once * times
    return total


def _of_branches(step, variable):
    counts = {multiply_adds(program, _given(program, step, variable)) for program in step.branches}
    if len(counts) > 1:
        raise InputError(f"multiply-adds of {step.name!r} are unknown: its branches have {sorted(counts)}")
    return max(counts, default=0)


def _given(program, step, variable):
    """The inputs of a program that are not constants; they are the last inputs of the step."""
    passed = step.inputs[len(step.inputs) - len(program.inputs) :]
    return [value for value, outer in zip(program.inputs, passed, strict=True) if outer in variable]

"""Deadlines: who is asked, who is waited for, who is left out."""

import asyncio
import time

import pytest

pytest.importorskip("ray")

from export.serving.asking import Nodes
from tests.export.serving.local_nodes import LocalNode

pytestmark = pytest.mark.once
DEADLINE = 0.2
SLOW = 3 * DEADLINE


class Echo:
    def say(self, word):
        return word


def nodes(**settings):
    return [LocalNode(Echo(), **{key: value[i] for key, value in settings.items()}) for i in range(3)]


def say(node):
    return node.say.remote("here")


def test_all_answer():
    answers = asyncio.run(Nodes(nodes()).ask(say, DEADLINE))
    assert answers.arrived == {0: "here", 1: "here", 2: "here"}
    assert answers.late == answers.lost == []


def test_nothing_is_waited_for_beyond_the_last_answer():
    start = time.perf_counter()
    asyncio.run(Nodes(nodes()).ask(say, 30.0))
    assert time.perf_counter() - start < 5.0


def test_slow_and_lost_nodes_are_left_out():
    handles = nodes(delay=[0.0, SLOW, 0.0], lost=[False, False, True])
    answers = asyncio.run(Nodes(handles).ask(say, DEADLINE))
    assert (answers.arrived, answers.late, answers.lost) == ({0: "here"}, [1], [2])


def test_a_late_node_is_asked_again_once_it_has_answered():
    handles = nodes(delay=[0.0, SLOW, 0.0])

    async def story():
        asked = Nodes(handles)
        first = await asked.ask(say, DEADLINE)
        start = time.perf_counter()
        second = await asked.ask(say, DEADLINE)  # it is not waited for again
        assert time.perf_counter() - start < DEADLINE
        assert first.late == second.late == [1]
        assert [handle.calls for handle in handles] == [2, 1, 2]
        handles[1].delay = 0.0
        await asyncio.sleep(SLOW)
        return await asked.ask(say, DEADLINE)

    assert sorted(asyncio.run(story()).arrived) == [0, 1, 2]


def test_a_node_that_dies_after_the_deadline_is_asked_again():
    class Dying(LocalNode):
        async def _die(self):
            from ray.exceptions import ActorDiedError

            await asyncio.sleep(SLOW)
            raise ActorDiedError()

        @property
        def say(self):
            return type("Say", (), {"remote": lambda _, word: self._die()})()

    async def story():
        asked = Nodes([Dying(Echo())])
        assert (await asked.ask(say, DEADLINE)).late == [0]
        await asyncio.sleep(SLOW)
        return await asked.ask(say, 2 * SLOW)

    assert asyncio.run(story()).lost == [0]


def test_nobody_is_left_to_ask():
    async def story():
        asked = Nodes(nodes(delay=[SLOW] * 3))
        await asked.ask(say, DEADLINE)
        return await asked.ask(say, DEADLINE)

    answers = asyncio.run(story())
    assert (answers.arrived, answers.late) == ({}, [0, 1, 2])

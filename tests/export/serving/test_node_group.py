"""Deadlines: which nodes are called, waited for and left out."""

import asyncio
import time

import pytest

pytest.importorskip("ray")

from export.serving.node_group import NodeGroup
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


def test_all_results_arrive():
    results = asyncio.run(NodeGroup(nodes()).call(say, DEADLINE))
    assert results.arrived == {0: "here", 1: "here", 2: "here"}
    assert results.late == results.lost == []


def test_nothing_is_waited_for_beyond_the_last_result():
    start = time.perf_counter()
    asyncio.run(NodeGroup(nodes()).call(say, 30.0))
    assert time.perf_counter() - start < 5.0


def test_slow_and_lost_nodes_are_left_out():
    handles = nodes(delay=[0.0, SLOW, 0.0], lost=[False, False, True])
    results = asyncio.run(NodeGroup(handles).call(say, DEADLINE))
    assert (results.arrived, results.late, results.lost) == ({0: "here"}, [1], [2])


def test_a_late_node_is_called_again_once_its_result_is_there():
    handles = nodes(delay=[0.0, SLOW, 0.0])

    async def calls():
        group = NodeGroup(handles)
        first = await group.call(say, DEADLINE)
        start = time.perf_counter()
        second = await group.call(say, DEADLINE)  # it is not waited for again
        assert time.perf_counter() - start < DEADLINE
        assert first.late == second.late == [1]
        assert [handle.calls for handle in handles] == [2, 1, 2]
        handles[1].delay = 0.0
        await asyncio.sleep(SLOW)
        return await group.call(say, DEADLINE)

    assert sorted(asyncio.run(calls()).arrived) == [0, 1, 2]


def test_a_node_that_dies_after_the_deadline_is_called_again():
    class Dying(LocalNode):
        async def _die(self):
            from ray.exceptions import ActorDiedError

            await asyncio.sleep(SLOW)
            raise ActorDiedError()

        @property
        def say(self):
            return type("Say", (), {"remote": lambda _, word: self._die()})()

    async def calls():
        group = NodeGroup([Dying(Echo())])
        assert (await group.call(say, DEADLINE)).late == [0]
        await asyncio.sleep(SLOW)
        return await group.call(say, 2 * SLOW)

    assert asyncio.run(calls()).lost == [0]


def test_no_node_is_left_to_call():
    async def calls():
        group = NodeGroup(nodes(delay=[SLOW] * 3))
        await group.call(say, DEADLINE)
        return await group.call(say, DEADLINE)

    results = asyncio.run(calls())
    assert (results.arrived, results.late) == ({}, [0, 1, 2])

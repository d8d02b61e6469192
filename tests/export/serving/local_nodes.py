"""Nodes without Ray: handles with the delays and losses that a test wants."""

import asyncio

from ray.exceptions import RayActorError


class LocalNode:
    """Acts as the handle of an actor: `handle.method.remote(...)` can be awaited.

    Args:
        node: the object whose methods are called.
        delay: seconds before each result.
        lost: whether its process is gone.
    """

    def __init__(self, node, delay=0.0, lost=False):
        self.node, self.delay, self.lost, self.calls = node, delay, lost, 0

    def __getattr__(self, name):
        return _Method(self, name)


class _Method:
    def __init__(self, handle, name):
        self._handle, self._name = handle, name

    async def remote(self, *arguments):
        handle = self._handle
        handle.calls += 1
        if handle.lost:
            raise RayActorError()
        await asyncio.sleep(handle.delay)
        return getattr(handle.node, self._name)(*arguments)

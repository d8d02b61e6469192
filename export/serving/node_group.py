"""Calls all nodes at once, and waits for none of them beyond the deadline.

A node that missed the deadline is not called again until its late result is there: a slow node delays one
request, not each, and requests do not queue up at it.
"""

import asyncio
import dataclasses

from ray.exceptions import RayError


@dataclasses.dataclass(frozen=True)
class Results:
    """What the nodes returned.

    Attributes:
        arrived: dict from a node's number to its result.
        late: list of the nodes whose result, or the result of an earlier call, was not there by the deadline.
        lost: list of the nodes whose process is gone, or that failed.
    """

    arrived: dict
    late: list
    lost: list


class NodeGroup:
    """Several nodes.

    Args:
        handles: list of handles of actors.
    """

    def __init__(self, handles):
        self._handles = handles
        self._overdue = [set() for _ in handles]  # calls of each node that missed their deadline

    async def call(self, function, deadline):
        """Calls every node that has no overdue result.

        Args:
            function: from a handle to an awaitable, such as `lambda node: node.tokens.remote(pixels)`.
            deadline: float, seconds.

        Returns:
            `Results`.
        """
        calls = {
            asyncio.ensure_future(_result(function, handle)): node
            for node, handle in enumerate(self._handles)
            if not self._overdue[node]
        }
        if calls:
            _, pending = await asyncio.wait(calls, timeout=deadline)
            for future in pending:
                self._overdue[calls[future]].add(future)
                future.add_done_callback(self._overdue[calls[future]].discard)
        results = {node: future.result() for future, node in calls.items() if future.done()}
        return Results(
            arrived={node: result for node, result in results.items() if result is not None},
            late=[node for node in range(len(self._handles)) if node not in results],
            lost=[node for node, result in results.items() if result is None],
        )


async def _result(function, handle):
    """A node's result, None if the node is lost."""
    try:
        return await function(handle)
    except RayError:
        return None

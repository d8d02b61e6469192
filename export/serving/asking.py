"""Asks all nodes side by side, and waits for no answer beyond the deadline.

A node that misses it is not asked again until it has answered: so a slow one delays one request, not each,
and no work piles up before it.
"""

import asyncio
import dataclasses

from ray.exceptions import RayError


@dataclasses.dataclass(frozen=True)
class Answers:
    """What came of a question.

    Attributes:
        arrived: dict from node to its answer.
        late: list of nodes that had not answered by the deadline, or still owe an earlier answer.
        lost: list of nodes whose process is gone, or that failed.
    """

    arrived: dict
    late: list
    lost: list


class Nodes:
    """Several nodes.

    Args:
        handles: list of handles of actors.
    """

    def __init__(self, handles):
        self._handles = handles
        self._overdue = [set() for _ in handles]  # the answers that each still owes

    async def ask(self, call, deadline):
        """Asks every node that owes nothing.

        Args:
            call: function from a handle to what can be awaited, such as `lambda node: node.tokens.remote(x)`.
            deadline: float, seconds.

        Returns:
            `Answers`.
        """
        asked = {
            asyncio.ensure_future(_answer(call, handle)): node
            for node, handle in enumerate(self._handles)
            if not self._overdue[node]
        }
        if asked:
            _, pending = await asyncio.wait(asked, timeout=deadline)
            for future in pending:
                self._overdue[asked[future]].add(future)
                future.add_done_callback(self._overdue[asked[future]].discard)
        results = {node: future.result() for future, node in asked.items() if future.done()}
        return Answers(
            arrived={node: result for node, result in results.items() if result is not None},
            late=[node for node in range(len(self._handles)) if node not in results],
            lost=[node for node, result in results.items() if result is None],
        )


async def _answer(call, handle):
    """A node's answer, None if it is lost."""
    try:
        return await call(handle)
    except RayError:
        return None

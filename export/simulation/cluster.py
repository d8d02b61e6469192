"""One device asks others that hold shards, event by event, by the rules of `export.serving`.

All nodes are asked side by side; at the deadline, or when the last has answered, what arrived is joined. A
node works on one image at a time, and is not asked again as long as it owes an answer.
"""

import dataclasses

import numpy as np
import simpy

from export.simulation import network as networks


@dataclasses.dataclass(frozen=True)
class Setting:
    """What is simulated.

    Attributes:
        shard_ms: list with, for each node, the measured times of its shards for an image, ms.
        groups: list of int, how many groups each node answers with.
        network: `network.Network`.
        image_bytes: int, what goes to each node.
        group_bytes: int, what comes back of each group.
        deadline_ms: float.
        loss: float below 1, the share of messages that are lost and sent again.
        door_ms: measured times of what an image needs on its way in and out, such as HTTP, one at a time.
        front_ms: measured times of what the asking device does itself with an image, one thing at a time.
        call_ms: the same for each node that it asks.
        per_second: float, images that come at random times; or
        clients: int, who ask one image after another.
    """

    shard_ms: list
    groups: list
    network: networks.Network
    image_bytes: int
    group_bytes: int
    deadline_ms: float
    loss: float = 0.0
    door_ms: tuple = (0.0,)
    front_ms: tuple = (0.0,)
    call_ms: tuple = (0.0,)
    per_second: float | None = None
    clients: int | None = None


@dataclasses.dataclass(frozen=True)
class Outcome:
    """Arrays with an entry for each image: `latency_ms`, and `groups` that answered; `seconds` in all."""

    latency_ms: np.ndarray
    groups: np.ndarray
    seconds: float


def simulate(setting, images, seed=0):
    """Simulates some images.

    Args:
        setting: `Setting`.
        images: int, how many.
        seed: int; equal seeds give equal outcomes.

    Returns:
        `Outcome`.
    """
    cluster = _Cluster(setting, np.random.default_rng(seed))
    sources = cluster.by_clients(images) if setting.clients else [cluster.at_random_times(images)]
    done = simpy.AllOf(cluster.env, [cluster.env.process(source) for source in sources])
    cluster.env.run(done)
    latencies, groups = zip(*cluster.answered, strict=True)
    return Outcome(np.asarray(latencies), np.asarray(groups), cluster.env.now / 1e3)


class _Cluster:
    """The state of a simulation; its time is in ms."""

    def __init__(self, setting, rng):
        self.env, self.answered = simpy.Environment(), []
        self._setting, self._rng = setting, rng
        self._door, self._front, self._up, self._down = (simpy.Resource(self.env) for _ in range(4))
        self._nodes = [simpy.Resource(self.env) for _ in setting.groups]
        self._overdue = [[] for _ in setting.groups]  # the answers that each still owes
        self._door_ms = networks.draws(setting.door_ms, rng)
        self._front_ms = networks.draws(setting.front_ms, rng)
        self._call_ms = networks.draws(setting.call_ms, rng)
        self._shard_ms = [networks.draws(samples, rng) for samples in setting.shard_ms]
        self._delays = setting.network.delays(rng)
        self._waits = networks.waits(setting.loss, rng)

    def by_clients(self, images):
        """A process for each client, who asks again as soon as an answer has come."""
        clients = self._setting.clients

        def client(number):
            for _ in range(number, images, clients):
                yield from self._image()

        return [client(number) for number in range(clients)]

    def at_random_times(self, images):
        """A process that starts images at random times, and ends with the last of them."""
        under_way = []
        for gap in self._rng.exponential(1e3 / self._setting.per_second, images):
            yield self.env.timeout(gap)
            under_way.append(self.env.process(self._image()))
        yield simpy.AllOf(self.env, under_way)

    def _image(self):
        start = self.env.now
        yield from self._occupy(self._door, next(self._door_ms))
        yield from self._occupy(self._front, next(self._front_ms))
        asked = {
            node: self.env.process(self._answer(node))
            for node, owed in enumerate(self._overdue)
            if all(answer.processed for answer in owed)
        }
        if asked:
            yield simpy.AllOf(self.env, asked.values()) | self.env.timeout(self._setting.deadline_ms)
        for node, answer in asked.items():
            self._overdue[node] = [*(owed for owed in self._overdue[node] if not owed.processed), answer]
        arrived = [node for node, answer in asked.items() if answer.processed]
        groups = sum(self._setting.groups[node] for node in arrived)
        self.answered.append((self.env.now - start, groups))

    def _answer(self, node):
        setting = self._setting
        yield from self._occupy(self._front, next(self._call_ms))
        yield from self._send(self._up, setting.image_bytes, setting.network.up_mbits)
        yield from self._occupy(self._nodes[node], next(self._shard_ms[node]))
        size = setting.groups[node] * setting.group_bytes
        yield from self._send(self._down, size, setting.network.down_mbits)

    def _send(self, link, size, mbits):
        yield from self._occupy(link, 8e-3 * size / mbits)
        yield self.env.timeout(next(self._delays) + next(self._waits))

    def _occupy(self, resource, milliseconds):
        with resource.request() as turn:
            yield turn
            yield self.env.timeout(milliseconds)

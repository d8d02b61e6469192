"""A service that calls nodes over a network, simulated event by event, by the rules of `export.serving`.

All nodes are called at once; at the deadline, or when the last result is there, what arrived is joined. A
node works on one image at a time, and is not called again as long as one of its results is overdue.
"""

import dataclasses

import numpy as np
import simpy

from export.simulation import network as networks


@dataclasses.dataclass(frozen=True)
class Setting:
    """What is simulated.

    Each of the `*_ms` lists holds measured times in ms, from which the simulation draws at random.

    Attributes:
        shard_ms: list with a list for each node, how long its shards compute for an image.
        groups: list of int, how many groups each node holds.
        network: `network.Network` between the service and the nodes.
        image_bytes: int, sent to each node.
        group_bytes: int, sent back for each group.
        deadline_ms: float.
        loss: float below 1, the share of messages that are lost and sent again.
        http_ms: sequence, how long HTTP takes for an image, one image at a time.
        service_ms: sequence, how long the service itself works on an image, one thing at a time.
        call_ms: sequence, how long the service itself takes to call one node.
        per_second: float, images that arrive at random times; or
        clients: int, each of which sends its next image when it has the response to the last.
    """

    shard_ms: list
    groups: list
    network: networks.Network
    image_bytes: int
    group_bytes: int
    deadline_ms: float
    loss: float = 0.0
    http_ms: tuple = (0.0,)
    service_ms: tuple = (0.0,)
    call_ms: tuple = (0.0,)
    per_second: float | None = None
    clients: int | None = None


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What happened.

    Attributes:
        latency_ms: float array (images,).
        groups: int array (images,), how many groups' class tokens arrived in time.
        seconds: float, how long it all took, in simulated time.
    """

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
    sources = cluster.clients(images) if setting.clients else [cluster.random_arrivals(images)]
    finished = simpy.AllOf(cluster.env, [cluster.env.process(source) for source in sources])
    cluster.env.run(finished)
    latencies, groups = zip(*cluster.responses, strict=True)
    return Outcome(np.asarray(latencies), np.asarray(groups), cluster.env.now / 1e3)


class _Cluster:
    """The state of a simulation; its time is in ms."""

    def __init__(self, setting, rng):
        self.env, self.responses = simpy.Environment(), []
        self._setting, self._rng = setting, rng
        self._http, self._service, self._uplink, self._downlink = (simpy.Resource(self.env) for _ in range(4))
        self._nodes = [simpy.Resource(self.env) for _ in setting.groups]
        self._overdue = [[] for _ in setting.groups]  # calls of each node whose results are not there yet
        self._http_ms = networks.resample(setting.http_ms, rng)
        self._service_ms = networks.resample(setting.service_ms, rng)
        self._call_ms = networks.resample(setting.call_ms, rng)
        self._shard_ms = [networks.resample(samples, rng) for samples in setting.shard_ms]
        self._delays = setting.network.delays(rng)
        self._retransmissions = networks.retransmission_delays(setting.loss, rng)

    def clients(self, images):
        """A process for each client, which sends its next image when it has the response to the last."""
        clients = self._setting.clients

        def client(number):
            for _ in range(number, images, clients):
                yield from self._image()

        return [client(number) for number in range(clients)]

    def random_arrivals(self, images):
        """A process that starts images at random times, and ends with the last of them."""
        started = []
        for gap in self._rng.exponential(1e3 / self._setting.per_second, images):
            yield self.env.timeout(gap)
            started.append(self.env.process(self._image()))
        yield simpy.AllOf(self.env, started)

    def _image(self):
        start = self.env.now
        yield from self._occupy(self._http, next(self._http_ms))
        yield from self._occupy(self._service, next(self._service_ms))
        calls = {
            node: self.env.process(self._call(node))
            for node, overdue in enumerate(self._overdue)
            if all(call.processed for call in overdue)
        }
        if calls:
            yield simpy.AllOf(self.env, calls.values()) | self.env.timeout(self._setting.deadline_ms)
        for node, call in calls.items():
            self._overdue[node] = [*(late for late in self._overdue[node] if not late.processed), call]
        arrived = [node for node, call in calls.items() if call.processed]
        groups = sum(self._setting.groups[node] for node in arrived)
        self.responses.append((self.env.now - start, groups))

    def _call(self, node):
        setting = self._setting
        yield from self._occupy(self._service, next(self._call_ms))
        yield from self._send(self._uplink, setting.image_bytes, setting.network.up_mbits)
        yield from self._occupy(self._nodes[node], next(self._shard_ms[node]))
        size = setting.groups[node] * setting.group_bytes
        yield from self._send(self._downlink, size, setting.network.down_mbits)

    def _send(self, link, size, mbits):
        yield from self._occupy(link, 8e-3 * size / mbits)
        yield self.env.timeout(next(self._delays) + next(self._retransmissions))

    def _occupy(self, resource, milliseconds):
        with resource.request() as turn:
            yield turn
            yield self.env.timeout(milliseconds)

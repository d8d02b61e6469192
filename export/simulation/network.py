"""How long a message takes: its bytes over the link's speed, a random delay, and waiting after a loss.

A lost message is sent again when no acknowledgement has come for a while, as TCP does: it is late, not gone.
"""

import dataclasses
import pathlib

import numpy as np

from hsvit_runtime import json_files
from hsvit_runtime.json_schemas import mapping, record

RETRANSMISSION_MS = 200.0  # what Linux waits at least before it sends again; doubled each time


@dataclasses.dataclass(frozen=True)
class Network:
    """The link between the service and the nodes.

    Attributes:
        one_way_ms: float, median delay of a message, without the time that its bytes take.
        spread: float, standard deviation of the delay's logarithm: with 0.3, 1 % take over twice the median.
        up_mbits: float, speed from the service to the nodes in Mbit/s; messages are sent one after another.
        down_mbits: float, speed from the nodes to the service in Mbit/s.
    """

    one_way_ms: float
    spread: float
    up_mbits: float
    down_mbits: float

    def delays(self, rng):
        """An endless iterator over random delays of messages, ms."""
        while True:
            yield from self.one_way_ms * np.exp(self.spread * rng.standard_normal(1024))


_SPEED = {"type": "number", "exclusiveMinimum": 0}
_SPREAD = {"type": "number", "minimum": 0, "maximum": 10}
_DELAY = {"type": "number", "minimum": 0, "maximum": 1e9}
_SCHEMA = {
    **mapping(
        {
            **record(one_way_ms=_DELAY, spread=_SPREAD, up_mbits=_SPEED, down_mbits=_SPEED),
            "additionalProperties": False,
        }
    ),
    "minProperties": 1,
}


def resample(samples, rng):
    """An endless iterator that draws from measured numbers at random, with replacement."""
    samples = np.asarray(samples, "float64")
    while True:
        yield from samples[rng.integers(len(samples), size=1024)]


def retransmission_delays(loss, rng):
    """An endless iterator over how much later messages arrive because they were lost, ms; 0 for most."""
    while True:
        for losses in rng.geometric(1 - loss, 1024) - 1:
            yield RETRANSMISSION_MS * (2.0 ** int(losses) - 1)


def read(path=None):
    """The networks in a JSON file; by default those of the package.

    Returns:
        dict from name to `Network`.

    Raises:
        InputError: the file holds something else.
        OSError: it cannot be read.
    """
    path = pathlib.Path(path or pathlib.Path(__file__).with_name("networks.json"))
    return {
        name: Network(**settings)
        for name, settings in json_files.read(path, _SCHEMA, "table of networks").items()
    }

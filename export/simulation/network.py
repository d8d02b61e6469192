"""How long a message is under way: its bytes over the link's speed, a delay by chance, and losses.

A lost message is sent again when no receipt has come for a while, as TCP does: so it is late, not gone.
"""

import dataclasses
import itertools
import json
import pathlib

import numpy as np

from hsvit_runtime.errors import InputError

FIRST_WAIT_MS = 200.0  # before a lost message is sent again, Linux's least; each further wait is doubled


@dataclasses.dataclass(frozen=True)
class Network:
    """A link between the device that asks and those that hold shards.

    Attributes:
        one_way_ms: float, median delay of a message beside the time that its bytes take.
        spread: float, standard deviation of the delay's logarithm: 0.3 puts 1 % over twice the median.
        up_mbits: float, speed from the device that asks, in Mbit/s; its messages go one after another.
        down_mbits: float, speed towards it.
    """

    one_way_ms: float
    spread: float
    up_mbits: float
    down_mbits: float

    def delays(self, rng):
        """An endless iterator over delays of messages, ms."""
        while True:
            yield from self.one_way_ms * np.exp(self.spread * rng.standard_normal(1024))


def draws(samples, rng):
    """An endless iterator over random ones of some measured numbers."""
    samples = np.asarray(samples, "float64")
    while True:
        yield from samples[rng.integers(len(samples), size=1024)]


def waits(loss, rng):
    """An endless iterator over how long messages wait to be sent again, ms: 0 for all that are not lost."""
    while True:
        for lost in rng.geometric(1 - loss, 1024) - 1:
            yield FIRST_WAIT_MS * (2.0 ** int(lost) - 1)


def read(path=None):
    """The networks in a JSON file, those that come with the package by default.

    Returns:
        dict from name to `Network`.

    Raises:
        ValueError: the file holds something else.
        OSError: it cannot be read.
    """
    path = pathlib.Path(path or pathlib.Path(__file__).with_name("networks.json"))
    names = [field.name for field in dataclasses.fields(Network)]
    try:
        networks = {name: Network(**settings) for name, settings in json.loads(path.read_text()).items()}
        numbers = [list(dataclasses.astuple(network)) for network in networks.values()]
        if not networks or min(itertools.chain.from_iterable(numbers)) < 0:
            raise InputError("there is none, or a number is negative")
    except (ValueError, TypeError, AttributeError) as error:
        raise InputError(f"{path} has to map names to objects with the numbers {names}: {error}") from None
    return networks

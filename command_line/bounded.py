"""Flags that cannot be given nonsense: numbers are finite and have bounds, lists have no gaps.

What several commands have is declared here once, with the same bounds everywhere.
"""

import math

from absl import flags

flags.disclaim_key_flags()  # they are of the command that asks for them
MANY = 10**6  # epochs, samples or classes: more is a slip of the hand


# ---- kinds of flags --------------------------------------------------------------------------------
def integer(name, default, text, least, most):
    """An integer from `least` to `most`."""
    flags.DEFINE_integer(name, default, text, lower_bound=least, upper_bound=most)


def number(name, default, text, least, most):
    """A finite number from `least` to `most`."""
    flags.DEFINE(_Number(least, most), name, default, text, serializer=flags.ArgumentSerializer())


def integers(name, default, text, least, most, count=None, required=False):
    """Integers from `least` to `most` separated by commas: one or more, or so many as `count`."""
    _list(name, default, text, flags.IntegerParser(least, most), count, required)


def numbers(name, default, text, least, most, count=None, required=False):
    """Finite numbers from `least` to `most` separated by commas, as `integers`."""
    _list(name, default, text, _Number(least, most), count, required)


def names(name, default, text, known=None, required=False):
    """One or more texts separated by commas, such as paths; those of `known`, where these are given."""
    _list(name, default, text, flags.EnumParser(known) if known else flags.ArgumentParser(), None, required)


def _list(name, default, text, item, count, required):
    serializer = flags.CsvListSerializer(",")
    flags.DEFINE(_List(item, count), name, default, text, serializer=serializer, required=required)


class _Number(flags.FloatParser):
    """absl's own compares NaN with its bounds, and lets it pass."""

    def convert(self, argument):
        value = super().convert(argument)
        if not math.isfinite(value):
            raise ValueError("a finite number is needed")
        return value


class _List(flags.ListParser):
    """A list of what `item`, another parser, takes.

    Attributes:
        item: `flags.ArgumentParser` of each of its entries.
    """

    def __init__(self, item, count):
        super().__init__()
        self.item, self._count = item, count

    def parse(self, argument):
        if isinstance(argument, list):  # the default
            return argument
        texts = super().parse(argument)
        if not all(texts) or not texts:
            raise ValueError("a list without gaps is needed, separated by commas")
        if self._count not in (None, len(texts)):
            raise ValueError(f"{self._count} values are needed, separated by commas")
        return [self.item.parse(text) for text in texts]


# ---- flags of several commands ---------------------------------------------------------------------
def data_dir(text="Folder with the official files of the data set."):
    """`--data_dir`."""
    flags.DEFINE_string("data_dir", None, text)


def seed(text):
    """`--seed`."""
    integer("seed", 0, text, 0, 2**32 - 1)


def threads():
    """`--threads` of LiteRT, ONNX Runtime and the app: more would only use up the machine's processes."""
    integer("threads", 1, "CPU threads to ask for.", 1, 256)


def blocks(default, text="Blocks of timed runs for each artifact.", least=1):
    """`--blocks`."""
    integer("blocks", default, text, least, 10_000)


def runs(default, text="Timed runs in a block.", name="runs"):
    """`--runs`."""
    integer(name, default, text, 1, 100_000)


def warmup(default, text):
    """`--warmup`."""
    integer("warmup", default, text, 0, 100_000)


def cooldown(default, text):
    """`--cooldown`."""
    number("cooldown", default, text, 0, 3600)


def samples(name, default, text, least=1):
    """How many samples or images of a data set, such as `--samples`."""
    integer(name, default, text, least, 10 * MANY)


def seconds(text, default=5.0):
    """`--seconds` of a measurement."""
    number("seconds", default, text, 0.1, 3600)


def repetitions(text):
    """`--repetitions`."""
    integer("repetitions", 5, text, 1, 1000)


def epochs(default, text):
    """`--epochs`."""
    integer("epochs", default, text, 1, MANY)


def batch(default):
    """`--batch` of an artifact."""
    integer("batch", default, "Samples at a time; 0 for any number.", 0, 65_536)


def image_shape(name, default, text):
    """Height, width and channels of an image."""
    integers(name, default, text, 1, 16_384, count=3)


def port(text, least=1):
    """`--port`."""
    integer("port", 8000, text, least, 65_535)

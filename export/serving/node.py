"""One node: holds shards, and goes from the pixels of an image to the class tokens of their groups."""

import os
import socket
import time

import numpy as np

from hsvit_runtime.errors import InputError
from hsvit_runtime.pixels import in_range
from hsvit_runtime.tflite_model import TFLiteModel


def spread(num_shards, num_nodes):
    """The shards of each node: a list of lists of ints, as even as possible.

    Raises:
        InputError: there are fewer shards than nodes, or no nodes.
    """
    if not 1 <= num_nodes <= num_shards:
        raise InputError(f"num_nodes has to be from 1 to {num_shards}, the shards; received {num_nodes}")
    return [shards.tolist() for shards in np.array_split(np.arange(num_shards), num_nodes)]


class Node:
    """Runs shards in LiteRT, one image at a time; an actor of Ray.

    Args:
        shards: list of bytes, `.tflite` files.
        input_range: (low, high), the values of a black and a white pixel in their input.
    """

    def __init__(self, shards, input_range):
        self._input_range = input_range
        self._models = [TFLiteModel(content) for content in shards]

    def tokens(self, pixels):
        """The class tokens of this node's groups.

        Args:
            pixels: uint8 array (1, height, width, channels).

        Returns:
            (tokens, ms): float32 array (groups, dim), and how long it took.
        """
        start = time.perf_counter()
        image = in_range(pixels, self._input_range)
        tokens = np.concatenate([model.predict_only(image)[0] for model in self._models])
        return tokens, 1e3 * (time.perf_counter() - start)

    def location(self):
        """Where the node runs: dict of `host` and `pid`."""
        return {"host": socket.gethostname(), "pid": os.getpid()}

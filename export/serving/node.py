"""One node: holds shards, and goes from the pixels of an image to the class tokens of their groups."""

import os
import socket
import time

import numpy as np

from hsvit_runtime.errors import InputError
from hsvit_runtime.tflite_model import TFLiteModel


def spread(num_shards, num_nodes):
    """The shards of each node: a list of lists of ints, as even as can be.

    Raises:
        ValueError: there are fewer shards than nodes, or no nodes.
    """
    if not 1 <= num_nodes <= num_shards:
        raise InputError(f"num_nodes has to be from 1 to {num_shards}, the shards; received {num_nodes}")
    return [shards.tolist() for shards in np.array_split(np.arange(num_shards), num_nodes)]


class Node:
    """Runs shards in LiteRT, one image at a time; an actor of Ray.

    Args:
        shards: list of bytes, `.tflite` files.
        given: `manifest.Input`, what they take.
    """

    def __init__(self, shards, given):
        self._given = given
        self._models = [TFLiteModel(content) for content in shards]

    def tokens(self, pixels):
        """The class tokens of this node's groups.

        Args:
            pixels: uint8 array (1, height, width, channels).

        Returns:
            (tokens, ms): float32 array (groups, dim), and how long it took.
        """
        start = time.perf_counter()
        image = self._given.prepare(pixels)
        tokens = np.concatenate([model.predict_only(image)[0] for model in self._models])
        return tokens, 1e3 * (time.perf_counter() - start)

    def whereabouts(self):
        """Where it runs: dict of `host` and `pid`."""
        return {"host": socket.gethostname(), "pid": os.getpid()}

"""Answers with as many groups of an HSViT as a latency budget allows, from one file of `export.elastic`."""

import time

import numpy as np

from hsvit_runtime.errors import InputError
from hsvit_runtime.tflite_model import open_signatures
from measuring import timing

_WARMUP_RUNS, _TIMED_RUNS = 3, 10
_FORGETTING = 0.2  # how much the newest run weighs in what is known of the machine's speed


class ElasticModel:
    """A model whose number of groups is chosen anew for each image.

    The signatures are timed once, as they are loaded. Later runs show how much slower or faster the machine
    has become, whichever signature they are of, so that a budget holds when a phone gets warm and larger
    signatures come back when it has cooled.

    Args:
        path_or_content: path of a `.tflite` file of `python -m export.elastic`, or its bytes.
        num_threads: int.

    Raises:
        ValueError: the file has no signatures of groups.
        OSError: it cannot be read.

    Example:

    ```python
    model = ElasticModel("elastic.tflite")
    logits, groups = model(image, budget_ms=5.0)
    ```
    """

    def __init__(self, path_or_content, num_threads=1):
        signatures = open_signatures(path_or_content, threads=num_threads)
        self._models = {
            int(name.removeprefix("groups_")): signatures[name]
            for name in sorted(signatures, key=lambda name: (len(name), name))
            if name.startswith("groups_")
        }
        if not self._models:
            raise InputError(
                "no signature is named as groups_4 is: python -m export.elastic makes such files"
            )
        (given,) = self._models[min(self._models)].inputs
        self.input_shape = given.shape
        self._milliseconds = self._time()
        self._slowdown = 1.0

    @property
    def expected_ms(self):
        """dict, how long each number of groups would take now."""
        return {groups: self._slowdown * each for groups, each in self._milliseconds.items()}

    def __call__(self, image, budget_ms):
        """Classifies with the most groups that fit into the budget, or the fewest there are if none does.

        Args:
            image: float array (1, height, width, channels), as the file takes it.
            budget_ms: float, how long the answer may take.

        Returns:
            (logits, groups): float32 array (1, classes), and how many groups gave it.
        """
        expected = self.expected_ms
        fitting = [groups for groups, needed in expected.items() if needed <= budget_ms]
        groups = max(fitting, default=min(expected))
        start = time.perf_counter()
        logits = self.run(groups, image)
        self._observe(groups, 1e3 * (time.perf_counter() - start))
        return logits, groups

    def run(self, groups, image):
        """The logits that a number of groups gives, of those that the file holds."""
        (logits,) = self._models[groups].run({"image": image}).values()
        return logits

    def _observe(self, groups, milliseconds):
        newest = milliseconds / self._milliseconds[groups]
        self._slowdown += _FORGETTING * (newest - self._slowdown)

    def _time(self):
        image = np.zeros(self.input_shape, "float32")
        functions = [lambda groups=groups: self.run(groups, image) for groups in self._models]
        timed = timing.time_interleaved(functions, blocks=1, runs=_TIMED_RUNS, warmup=_WARMUP_RUNS)
        return {
            groups: float(np.median(one.blocks_ms)) for groups, one in zip(self._models, timed, strict=True)
        }

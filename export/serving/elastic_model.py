"""Runs an HSViT with as many groups as a latency budget allows, from one file of `export.elastic`."""

import time

import numpy as np

from hsvit_runtime.errors import InputError
from hsvit_runtime.tflite_model import open_signatures
from measuring import timing

_WARMUP_RUNS, _TIMED_RUNS = 3, 10
_NEWEST_WEIGHT = 0.2  # of the newest run in the moving average of the machine's slowdown


class ElasticModel:
    """A model whose number of groups is chosen for each image.

    Each signature is timed once, when the file is loaded. Every later run, whatever its signature, updates
    how much slower the machine has become since, so that the budget is still met when a phone throttles, and
    more groups are used again when it has cooled down.

    Args:
        path_or_content: path of a `.tflite` file of `python -m export.elastic`, or its bytes.
        num_threads: int, CPU threads to ask for.

    Raises:
        InputError: the file has no signatures of groups, or LiteRT does not load it.
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
        (image,) = self._models[min(self._models)].inputs
        self.input_shape = image.shape
        self._milliseconds = self._time()
        self._slowdown = 1.0

    @property
    def expected_ms(self):
        """dict from a number of groups to how long it would take now, ms."""
        return {groups: self._slowdown * each for groups, each in self._milliseconds.items()}

    def __call__(self, image, budget_ms):
        """Classifies with the most groups that fit into the budget, or with the fewest if none fits.

        Args:
            image: float array (1, height, width, channels), as the file takes it.
            budget_ms: float, how long the run may take.

        Returns:
            (logits, groups): float32 array (1, classes), and the number of groups used.
        """
        expected = self.expected_ms
        fitting = [groups for groups, milliseconds in expected.items() if milliseconds <= budget_ms]
        groups = max(fitting, default=min(expected))
        start = time.perf_counter()
        logits = self.run(groups, image)
        self._observe(groups, 1e3 * (time.perf_counter() - start))
        return logits, groups

    def run(self, groups, image):
        """Logits (1, classes) of one image, by a number of groups that the file has a signature for."""
        (logits,) = self._models[groups].run({"image": image}).values()
        return logits

    def _observe(self, groups, milliseconds):
        """Updates the moving average of the slowdown."""
        newest = milliseconds / self._milliseconds[groups]
        self._slowdown += _NEWEST_WEIGHT * (newest - self._slowdown)

    def _time(self):
        image = np.zeros(self.input_shape, "float32")
        functions = [lambda groups=groups: self.run(groups, image) for groups in self._models]
        timed = timing.time_interleaved(functions, blocks=1, runs=_TIMED_RUNS, warmup=_WARMUP_RUNS)
        return {
            groups: float(np.median(one.blocks_ms)) for groups, one in zip(self._models, timed, strict=True)
        }

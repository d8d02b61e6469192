"""The time of an image in the largest batch that fits into memory: the paper's 1/FPS (appendix B.1).

Batches grow by powers of two. On an accelerator they grow until its memory is full; on a CPU, where that
would end the process, until the next one would take more than a limit.
"""

import pathlib
import re

from hsvit_runtime.errors import InputError

_MOST = 2**16  # a larger batch is no faster on anything
_FULL = re.compile(r"RESOURCE_EXHAUSTED|out of memory|\bOOM\b", re.IGNORECASE)
GIB = 2**30


def largest_batch(take, memory, most=_MOST):
    """The largest batch that fits.

    Args:
        take: function from a batch size to the bytes that this batch takes, None where it does not fit.
        memory: int, bytes that it may take.
        most: int, no larger batch is tried.

    Returns:
        int, a power of two.

    Raises:
        ValueError: not even one image fits.
    """
    batch, before = 1, 0
    while True:
        taken = take(batch)
        if taken is None or taken > memory:
            if batch == 1:
                raise InputError(f"not one image fits into {memory / GIB:.3g} GiB of memory")
            return batch // 2
        # What an image takes, by the last doubling; the next one is not tried where it cannot fit.
        expected = taken + 2 * max(taken - before, 0) if batch > 1 else taken
        if expected > memory or 2 * batch > most:
            return batch
        batch, before = 2 * batch, taken


def milliseconds_per_image(model, memory_gib=None, blocks=3, runs=3):
    """The time of an image on this machine, by Keras on its backend.

    Args:
        model: `keras.Model` of images.
        memory_gib: float, memory that a batch may take; that of the accelerator, or what is free on a CPU, by
            default.
        blocks, runs: how often the batch is timed, see `measuring.timing`; the median counts.

    Returns:
        (float, milliseconds; int, the batch).
    """
    import statistics

    import keras
    import numpy as np

    from measuring.timing import time_interleaved
    from training.fitting.fit import jit

    predicting = keras.Model(model.inputs, model.outputs)  # so that the model itself is not compiled
    predicting.compile(jit_compile=jit(None))
    rng, shape = np.random.default_rng(0), model.input_shape[1:]

    def compute(batch):
        images = rng.uniform(0, 255, (batch, *shape)).astype("float32")
        return lambda: predicting.predict_on_batch(images)

    memory = _memory()
    batch = largest_batch(
        lambda batch: memory.taken_by(compute(batch)),
        memory.free() if memory_gib is None else round(memory_gib * GIB),
    )
    (timing,) = time_interleaved([compute(batch)], blocks=blocks, runs=runs, warmup=1)
    latencies = [latency for block in timing.blocks_ms for latency in block]
    return statistics.median(latencies) / batch, batch


def _memory():
    from training.run_files.machine import on_cpu

    return _MainMemory() if on_cpu() else _AcceleratorMemory()


class _MainMemory:
    """Memory of this process on Linux, beyond what it has when this is made."""

    def __init__(self):
        self._before = self._kilobytes("/proc/self/status", "VmRSS")

    def free(self):
        return self._kilobytes("/proc/meminfo", "MemAvailable") * 1024

    def taken_by(self, function):
        """The most bytes that this process has at a time in a call of the function."""
        pathlib.Path("/proc/self/clear_refs").write_text("5")  # forgets the peak until now
        function()
        return (self._kilobytes("/proc/self/status", "VmHWM") - self._before) * 1024

    @staticmethod
    def _kilobytes(path, name):
        try:
            return int(re.search(rf"^{name}:\s*(\d+) kB", pathlib.Path(path).read_text(), re.MULTILINE)[1])
        except OSError as error:
            raise InputError(
                "throughput on a CPU needs Linux, which tells the memory of a process"
            ) from error


class _AcceleratorMemory:
    """Memory of an accelerator, which says itself when it is full."""

    def free(self):
        return float("inf")

    def taken_by(self, function):
        try:
            function()
        except Exception as error:  # each backend has its own classes
            if _FULL.search(str(error)):
                return None
            raise
        return self._peak()

    @staticmethod
    def _peak():
        import keras

        if keras.backend.backend() == "jax":
            import jax

            return (jax.local_devices()[0].memory_stats() or {}).get("peak_bytes_in_use", 0)
        import tensorflow as tf

        return tf.config.experimental.get_memory_info("GPU:0")["peak"]

"""Times several functions side by side, so that what disturbs one disturbs all.

Each function runs in blocks, and blocks alternate: A B C, C B A, A B C, ... A block starts with runs
that do not count, since the functions push each other's data out of the caches.
"""

import dataclasses
import gc
import itertools
import time


@dataclasses.dataclass
class Timing:
    """Latencies of one function, ms.

    Attributes:
        first_ms: float. The very first run.
        warmup_ms: list of floats. Runs that do not count, the first not among them.
        blocks_ms: list of lists of floats. Runs that count, by block.
        busy_cores: float. CPU time of the process over time passed, in the runs that count.
    """

    first_ms: float
    warmup_ms: list = dataclasses.field(default_factory=list)
    blocks_ms: list = dataclasses.field(default_factory=list)
    busy_cores: float = 0.0


def time_interleaved(functions, *, blocks, runs, warmup, cooldown=0.0, progress=lambda done, total: None):
    """Times functions in alternating blocks.

    Args:
        functions: list of functions without arguments.
        blocks: int. Blocks of each function.
        runs: int. Timed runs in a block.
        warmup: int. Uncounted runs before each block.
        cooldown: float. Pause before each block, seconds.
        progress: function (blocks done, blocks in all), called after each round.

    Returns:
        list of `Timing`, one for each function.
    """
    timings = [Timing(first_ms=_milliseconds(function)) for function in functions]
    cpu_seconds = [0.0] * len(functions)
    pairs = list(zip(itertools.count(), functions, timings))
    gc.collect()
    gc.disable()
    try:
        for block in range(blocks):
            for index, function, timing in pairs if block % 2 == 0 else reversed(pairs):
                time.sleep(cooldown)
                timing.warmup_ms += [_milliseconds(function) for _ in range(warmup)]
                start = time.process_time()
                timing.blocks_ms.append([_milliseconds(function) for _ in range(runs)])
                cpu_seconds[index] += time.process_time() - start
            progress(block + 1, blocks)
    finally:
        gc.enable()
    for timing, seconds in zip(timings, cpu_seconds, strict=True):
        timing.busy_cores = 1e3 * seconds / sum(map(sum, timing.blocks_ms))
    return timings


def _milliseconds(function):
    start = time.perf_counter()
    function()
    return 1e3 * (time.perf_counter() - start)

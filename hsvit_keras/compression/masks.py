"""Pruning masks: the largest weights are kept, as single weights, as blocks, or m of every n."""

import re

import numpy as np

from hsvit_runtime.errors import InputError


class BlockPattern:
    """Blocks of weights that are kept or set to zero as a whole, chosen by their mean magnitude.

    Args:
        rows: int, inputs of a block.
        columns: int, outputs of a block. Blocks at the edges of a matrix may be smaller.
        global_threshold: bool, whether all kernels share one threshold, on scores relative to each kernel.
    """

    def __init__(self, rows, columns, global_threshold):
        self._rows, self._columns, self._global_threshold = rows, columns, global_threshold

    def fits(self, inputs, outputs):
        """Whether matrices of this size hold at least one whole block."""
        return self._rows <= inputs and self._columns <= outputs

    def masks(self, kernels, sparsity):
        """Chooses the weights to keep.

        Args:
            kernels: list of arrays `(stack, inputs, outputs)`.
            sparsity: float, the share of blocks to set to zero.

        Returns:
            list of bool arrays of the same shapes, True where a weight is kept.
        """
        scores = [
            self._sum_of_blocks(np.abs(kernel)) / self._sum_of_blocks(np.ones_like(kernel[:1]))
            for kernel in kernels
        ]
        if self._global_threshold:
            kept = _largest_of([_lamp_scores(score) for score in scores], sparsity)
        else:
            kept = [_largest_of([score], sparsity)[0] for score in scores]
        return [self._expand(blocks, kernel.shape) for blocks, kernel in zip(kept, kernels, strict=True)]

    def _sum_of_blocks(self, matrices):
        _, inputs, outputs = matrices.shape
        rows = np.add.reduceat(matrices, range(0, inputs, self._rows), axis=1)
        return np.add.reduceat(rows, range(0, outputs, self._columns), axis=2)

    def _expand(self, blocks, shape):
        """Repeats the entry of each block for all weights of the block."""
        _, inputs, outputs = shape
        return blocks.repeat(self._rows, axis=1).repeat(self._columns, axis=2)[:, :inputs, :outputs]


class MOfNPattern:
    """At most m nonzero weights among every n consecutive inputs of an output, as in 2:4 sparsity.

    Args:
        m: int.
        n: int.
    """

    def __init__(self, m, n):
        self._m, self._n = m, n

    @property
    def sparsity(self):
        """The share of zeros."""
        return 1 - self._m / self._n

    def fits(self, inputs, outputs):
        """Whether matrices of this size have n inputs."""
        return self._n <= inputs

    def masks(self, kernels, sparsity):
        """Chooses the weights to keep; arguments and result as in `BlockPattern.masks`.

        A sparsity below that of the pattern, as early in a schedule, keeps more than m of every n.
        """
        kept = max(self._m, round(self._n * (1 - sparsity)))
        return [self._mask(np.abs(kernel), kept) for kernel in kernels]

    def _mask(self, scores, kept):
        stack, inputs, outputs = scores.shape
        padded = np.pad(scores, ((0, 0), (0, -inputs % self._n), (0, 0)), constant_values=-1)
        groups = padded.reshape(stack, -1, self._n, outputs)
        ranks = np.argsort(np.argsort(-groups, axis=2, kind="stable"), axis=2)
        return (ranks < kept).reshape(padded.shape)[:, :inputs]


def pattern_of(pattern, scope):
    """The pattern that the arguments `pattern` and `scope` of `prune` mean.

    Returns:
        `BlockPattern` or `MOfNPattern`.

    Raises:
        InputError: one of them is unknown, or they cannot be combined.
    """
    if scope not in ("layer", "global"):
        raise InputError(f"scope has to be 'layer' or 'global'; received {scope!r}")
    match pattern:
        case "weight":
            return BlockPattern(1, 1, scope == "global")
        case [int(rows), int(columns)] if rows > 0 and columns > 0:
            return BlockPattern(rows, columns, scope == "global")
        case str() if found := re.fullmatch(r"(\d+):(\d+)", pattern):
            m, n = int(found[1]), int(found[2])
            if 0 < m < n and scope == "layer":
                return MOfNPattern(m, n)
            if 0 < m < n:
                raise InputError(f"pattern {pattern!r} is the same in all layers: scope has to be 'layer'")
    raise InputError(
        "pattern has to be 'weight', a block (rows, columns), or 'm:n' with m < n, such as '2:4'; "
        f"received {pattern!r}"
    )


def _lamp_scores(scores):
    """LAMP scores (https://arxiv.org/abs/2010.07611), which can be compared between kernels.

    The square of each score, divided by the sum of all squares of the kernel that are at least as large.
    Magnitudes themselves cannot be compared: where normalization follows, the scale of a kernel has no
    effect, and one threshold on magnitudes would set whole layers to zero. The largest weight of each kernel
    gets the highest possible score, 1, so that no kernel becomes zero.
    """
    descending = np.argsort(-scores.ravel(), kind="stable")
    squares = np.square(scores.ravel()[descending], dtype="float64")
    relative = np.empty_like(squares)
    relative[descending] = squares / np.maximum(np.cumsum(squares), np.finfo("float64").tiny)
    relative[descending[0]] = 1.0
    return relative.reshape(scores.shape)


def _largest_of(arrays, sparsity):
    """Bool arrays that are True for the largest numbers over all arrays, at least one for each array."""
    numbers = np.concatenate([array.ravel() for array in arrays])
    # Computed in float32 and rounded half to even, as tensorflow-model-optimization does.
    count = int(np.round(numbers.size * (1 - np.float32(sparsity))))
    kept = _largest(numbers, max(count, len(arrays)))
    ends = np.cumsum([array.size for array in arrays])
    return [part.reshape(array.shape) for part, array in zip(np.split(kept, ends[:-1]), arrays, strict=True)]


def _largest(numbers, count):
    """A bool array that is True for the `count` largest numbers; among equal ones, for the first."""
    threshold = np.partition(numbers, -count)[-count]
    kept = numbers > threshold
    ties = np.flatnonzero(numbers == threshold)
    kept[ties[: count - np.count_nonzero(kept)]] = True
    return kept

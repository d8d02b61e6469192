"""Which weights to keep: the largest, one by one, in blocks, or m of every n."""

import re

import numpy as np

from hsvit_runtime.errors import InputError


class Blocks:
    """Blocks of weights that are kept or removed as a whole, by their mean magnitude.

    Args:
        rows: int, how many inputs.
        columns: int, how many outputs. Blocks at the edges may be cut off.
        over_all: bool, whether the kernels share one threshold, on magnitudes relative to each kernel.
    """

    def __init__(self, rows, columns, over_all):
        self._rows, self._columns, self._over_all = rows, columns, over_all

    def fits(self, inputs, outputs):
        """Whether matrices of this size hold a block."""
        return self._rows <= inputs and self._columns <= outputs

    def masks(self, kernels, sparsity):
        """What to keep.

        Args:
            kernels: list of arrays `(stack, inputs, outputs)`.
            sparsity: float, the share of blocks to remove.

        Returns:
            A list of bool arrays of the same shapes, True where a weight is kept.
        """
        scores = [self._pool(np.abs(kernel)) / self._pool(np.ones_like(kernel[:1])) for kernel in kernels]
        if self._over_all:
            kept = _largest_of([_relative(score) for score in scores], sparsity)
        else:
            kept = [_largest_of([score], sparsity)[0] for score in scores]
        return [self._spread(blocks, kernel.shape) for blocks, kernel in zip(kept, kernels, strict=True)]

    def _pool(self, matrices):
        _, inputs, outputs = matrices.shape
        rows = np.add.reduceat(matrices, range(0, inputs, self._rows), axis=1)
        return np.add.reduceat(rows, range(0, outputs, self._columns), axis=2)

    def _spread(self, blocks, shape):
        _, inputs, outputs = shape
        return blocks.repeat(self._rows, axis=1).repeat(self._columns, axis=2)[:, :inputs, :outputs]


class SomeOfEach:
    """At most m weights other than zero in every n that lie behind each other along the inputs.

    Args:
        most: int, m.
        of: int, n.
    """

    def __init__(self, most, of):
        self._most, self._of = most, of

    @property
    def sparsity(self):
        """The share of zeros."""
        return 1 - self._most / self._of

    def fits(self, inputs, outputs):
        """Whether matrices of this size hold n inputs."""
        return self._of <= inputs

    def masks(self, kernels, sparsity):
        """As `Blocks.masks`; a sparsity on the way to that of the pattern removes fewer of each n."""
        kept = max(self._most, round(self._of * (1 - sparsity)))
        return [self._mask(np.abs(kernel), kept) for kernel in kernels]

    def _mask(self, scores, kept):
        stack, inputs, outputs = scores.shape
        padded = np.pad(scores, ((0, 0), (0, -inputs % self._of), (0, 0)), constant_values=-1)
        groups = padded.reshape(stack, -1, self._of, outputs)
        ranks = np.argsort(np.argsort(-groups, axis=2, kind="stable"), axis=2)
        return (ranks < kept).reshape(padded.shape)[:, :inputs]


def masking(pattern, scope):
    """What the arguments `pattern` and `scope` of `prune` stand for.

    Returns:
        `Blocks` or `SomeOfEach`.

    Raises:
        ValueError: one of them is unknown, or they do not go together.
    """
    if scope not in ("layer", "global"):
        raise InputError(f"scope has to be 'layer' or 'global'; received {scope!r}")
    match pattern:
        case "weight":
            return Blocks(1, 1, scope == "global")
        case [int(rows), int(columns)] if rows > 0 and columns > 0:
            return Blocks(rows, columns, scope == "global")
        case str() if found := re.fullmatch(r"(\d+):(\d+)", pattern):
            most, of = int(found[1]), int(found[2])
            if 0 < most < of and scope == "layer":
                return SomeOfEach(most, of)
            if 0 < most < of:
                raise InputError(f"pattern {pattern!r} is the same in all layers: scope has to be 'layer'")
    raise InputError(
        "pattern has to be 'weight', a block (rows, columns), or 'm:n' with m < n, such as '2:4'; "
        f"received {pattern!r}"
    )


def _relative(scores):
    """Scores that compare between kernels: squared, over the sum of those in the kernel that are as large.

    These are the LAMP scores of https://arxiv.org/abs/2010.07611. The scale of a kernel says nothing where
    a normalization follows; one threshold on the weights themselves empties whole layers. Here the largest
    weight of each kernel counts 1, so that it stays.
    """
    falling = np.argsort(-scores.ravel(), kind="stable")
    squares = np.square(scores.ravel()[falling], dtype="float64")
    relative = np.empty_like(squares)
    relative[falling] = squares / np.maximum(np.cumsum(squares), np.finfo("float64").tiny)
    relative[falling[0]] = 1.0
    return relative.reshape(scores.shape)


def _largest_of(arrays, sparsity):
    """Marks the largest numbers over several arrays, as many as these at least."""
    numbers = np.concatenate([array.ravel() for array in arrays])
    # In float32 and to the even number, as tensorflow-model-optimization rounds.
    count = int(np.round(numbers.size * (1 - np.float32(sparsity))))
    kept = _largest(numbers, max(count, len(arrays)))
    ends = np.cumsum([array.size for array in arrays])
    return [part.reshape(array.shape) for part, array in zip(np.split(kept, ends[:-1]), arrays, strict=True)]


def _largest(numbers, count):
    """Marks the `count` largest; of equal ones, those that come first."""
    threshold = np.partition(numbers, -count)[-count]
    kept = numbers > threshold
    ties = np.flatnonzero(numbers == threshold)
    kept[ties[: count - np.count_nonzero(kept)]] = True
    return kept

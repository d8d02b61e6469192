"""The core of multi-scale deformable attention; its projections are layers of their own in the graph."""

import itertools
import math

import keras
import numpy as np
from keras import ops

from hsvit_keras.layers.bilinear_sampling import cheaper_form, sum_by_gathers, sum_by_hat_functions
from hsvit_keras.layers.heads import check_heads
from hsvit_runtime.errors import InputError

SAMPLING = ("auto", "gathers", "hat_functions")


@keras.saving.register_keras_serializable("hsvit_keras")
class DeformableAttention(keras.layers.Layer):
    """Each head of a query reads a few points of each map, near a reference, and weighs them by a softmax.

    Args:
        num_heads: int; has to divide `dim`.
        num_points: int, points that a head reads of each map.
        map_sizes: sequence of (height, width), one a level. The tokens of `value` are those of the maps in
            turn, row by row.
        valid_sizes: for each image of the batch a sequence of (height, width), one a level: the part of each
            map, at the top left, that is no padding. Padding is read as zeros. None if there is none.
        sampling: str, how points are read: `"gathers"`, `"hat_functions"`, or `"auto"`, the cheaper form for
            the size of each map, see bilinear_sampling.py.

    Call arguments:
        value: Tensor of shape `(batch, tokens, dim)`.
        offsets: Tensor of shape `(batch, queries, levels * 2 * num_heads * num_points)` in this order, x
            before y: what is added to a reference, in pixels of the level; for a reference that is a box in
            halves of its width and height over `num_points`.
        scores: Tensor of shape `(batch, queries, num_heads * levels * num_points)` in this order.
        reference: Tensor of shape `(batch, queries, 2)` for points x, y or `(batch, queries, 4)` for boxes
            of center x, y, width, height, all relative to the image without padding; or with an axis of
            levels before the last, relative to each padded map. None where the queries are the tokens of
            `value`, whose references are their pixels' centers.

    Returns:
        Tensor of shape `(batch, queries, dim)`.

    Raises:
        ValueError: the shapes of the inputs do not fit the arguments.

    References:
        - [Deformable DETR](https://arxiv.org/abs/2010.04159), section 4.1, equation 3
    """

    def __init__(self, num_heads, num_points, map_sizes, valid_sizes=None, sampling="auto", **kwargs):
        super().__init__(**{"autocast": False, **kwargs})  # places stay exact in half precision
        if sampling not in SAMPLING:
            raise InputError(f"sampling has to be one of {', '.join(SAMPLING)}; received {sampling!r}")
        self.num_heads = num_heads
        self.num_points = num_points
        self.map_sizes = tuple(map(tuple, map_sizes))
        self.valid_sizes = None if valid_sizes is None else _as_tuples(valid_sizes)
        self.sampling = sampling

    def build(self, value_shape, offsets_shape, scores_shape, reference_shape=None):
        check_heads(self.num_heads, value_shape[-1])
        levels, points = len(self.map_sizes), self.num_heads * self.num_points
        tokens = sum(map(math.prod, self.map_sizes))
        right = {"value": tokens, "offsets": 2 * levels * points, "scores": levels * points}
        found = {"value": value_shape[1], "offsets": offsets_shape[-1], "scores": scores_shape[-1]}
        if found != right:
            raise InputError(
                f"{levels} maps of the sizes {self.map_sizes} with {self.num_heads} heads of "
                f"{self.num_points} points need {right['value']} tokens of value, {right['offsets']} offsets "
                f"and {right['scores']} scores a query; received {', '.join(map(str, found.values()))}"
            )
        self.built = True

    def forms(self, dim):
        """The form in which each level is sampled, a list of `"gathers"` and `"hat_functions"`.

        Args:
            dim: int, length of a token.
        """
        if self.sampling != "auto":
            return [self.sampling] * len(self.map_sizes)
        return [cheaper_form(size, self.num_points, dim // self.num_heads) for size in self.map_sizes]

    def call(self, value, offsets, scores, reference=None):
        value = ops.cast(value, self.compute_dtype)
        if self.valid_sizes is not None:
            value = value * ops.cast(self._mask(), value.dtype)
        heads, dim = self.num_heads, value.shape[-1]
        weights, forms = self._weights(ops.cast(scores, "float32")), self.forms(dim)
        reference = self._pixel_centers() if reference is None else ops.cast(reference, "float32")
        places = self._places(ops.cast(offsets, "float32"), reference)
        starts = [0, *itertools.accumulate(map(math.prod, self.map_sizes))]
        samples = [
            (*place, weight, size, start)
            for place, weight, size, start in zip(places, weights, self.map_sizes, starts, strict=False)
        ]
        of_heads = None
        if "hat_functions" in forms:
            of_heads = ops.reshape(value, (-1, value.shape[1], heads, dim // heads))
            of_heads = ops.transpose(of_heads, (0, 2, 1, 3))
        sums = [
            sum_by_hat_functions(of_heads[:, :, start : start + math.prod(size)], x, y, weight, size)
            for (x, y, weight, size, start), form in zip(samples, forms, strict=True)
            if form == "hat_functions"
        ]
        gathered = [sample for sample, form in zip(samples, forms, strict=True) if form == "gathers"]
        if gathered:
            sums.append(sum_by_gathers(value, heads, gathered))
        read = sum(sums[1:], sums[0])
        return ops.reshape(ops.transpose(read, (0, 2, 1, 3)), (-1, offsets.shape[1], dim))

    def _weights(self, scores):
        """Attention weights of each level, tensors (batch, heads, queries, points)."""
        levels, points = len(self.map_sizes), self.num_points
        scores = ops.reshape(scores, (-1, scores.shape[1], self.num_heads, levels * points))
        weights = ops.transpose(ops.softmax(scores), (0, 2, 1, 3))
        return [weights[..., i * points : (i + 1) * points] for i in range(levels)]

    def _places(self, offsets, reference):
        """Pairs x, y of each level in pixels, tensors (batch, heads, queries, points)."""
        heads, levels = self.num_heads, len(self.map_sizes)
        offsets = ops.reshape(offsets, (-1, offsets.shape[1], levels * 2 * heads, self.num_points))
        offsets = ops.transpose(offsets, (0, 2, 1, 3))
        for level, size in enumerate(self.map_sizes):
            centre, extent = self._reference_at(level, reference)
            place = []
            for axis, side in enumerate((size[1], size[0])):  # x, then y
                start = (2 * level + axis) * heads
                offset = offsets[:, start : start + heads]
                if extent is not None:
                    offset = offset * (extent[axis] * (0.5 * side / self.num_points))
                place.append(offset + (centre[axis] * side - 0.5))
            yield place

    def _reference_at(self, level, reference):
        """References in a level's map: pairs x, y of centers and of sizes, if any, (batch, 1, queries, 1)."""
        of_levels = len(reference.shape) == 4
        reference = reference[:, :, level] if of_levels else reference
        parts = [reference[:, :, i : i + 1] for i in range(reference.shape[-1])]
        if self.valid_sizes is not None and not of_levels:
            ratios = self._valid_sizes_at(level) / np.asarray(self.map_sizes[level], "float32")
            # x and width by that of the columns, y and height by that of the rows
            parts = [part * ratios[:, np.newaxis, 1 - i % 2, np.newaxis] for i, part in enumerate(parts)]
        parts = [ops.expand_dims(part, 1) for part in parts]
        return parts[:2], parts[2:] or None

    def _pixel_centers(self):
        """x, y of all tokens, relative to the image without padding, (images or 1, tokens, 2)."""
        levels = []
        for level, (height, width) in enumerate(self.map_sizes):
            valid = self._valid_sizes_at(level)[:, np.newaxis]
            rows, columns = np.divmod(np.arange(height * width), width)
            levels.append((np.stack([columns, rows], -1) + 0.5) / valid[..., ::-1])
        return np.concatenate(levels, axis=1).astype("float32")

    def _valid_sizes_at(self, level):
        """(height, width) of each image's part of a level's map, (images or 1, 2)."""
        if self.valid_sizes is None:
            return np.asarray([self.map_sizes[level]], "float32")
        return np.asarray([sizes[level] for sizes in self.valid_sizes], "float32")

    def _mask(self):
        """1 for tokens of images, 0 for those of padding, (images, tokens, 1)."""
        levels = []
        for level, (height, width) in enumerate(self.map_sizes):
            valid = self._valid_sizes_at(level)[:, np.newaxis]
            pixels = np.stack(np.divmod(np.arange(height * width), width), -1)
            levels.append((pixels < valid).all(-1, keepdims=True))
        return np.concatenate(levels, axis=1).astype("float32")

    def compute_output_shape(self, value_shape, offsets_shape, scores_shape, reference_shape=None):
        return (offsets_shape[0], offsets_shape[1], value_shape[-1])

    def get_config(self):
        return {
            **super().get_config(),
            "num_heads": self.num_heads,
            "num_points": self.num_points,
            "map_sizes": self.map_sizes,
            "valid_sizes": self.valid_sizes,
            "sampling": self.sampling,
        }


@keras.saving.register_keras_serializable("hsvit_keras")
class SamplingRays(keras.initializers.Initializer):
    """The first offsets: each head looks in a direction of its own, its points 1, 2, ... pixels away.

    Args:
        num_heads: int.
        num_levels: int.
        num_points: int.

    References:
        - [Deformable DETR](https://arxiv.org/abs/2010.04159), appendix A.2
    """

    def __init__(self, num_heads, num_levels, num_points):
        self.num_heads = num_heads
        self.num_levels = num_levels
        self.num_points = num_points

    def __call__(self, shape, dtype=None):
        angles = 2 * np.pi * np.arange(self.num_heads) / self.num_heads
        directions = np.stack([np.cos(angles), np.sin(angles)])
        directions /= np.abs(directions).max(0)  # to the edge of a square
        rays = directions[:, :, np.newaxis] * np.arange(1, self.num_points + 1)
        rays = np.broadcast_to(rays, (self.num_levels, *rays.shape))
        return ops.convert_to_tensor(rays.reshape(shape), dtype)

    def get_config(self):
        return {
            "num_heads": self.num_heads, "num_levels": self.num_levels, "num_points": self.num_points,
        }  # fmt: skip


def _as_tuples(valid_sizes):
    return tuple(tuple(map(tuple, sizes)) for sizes in valid_sizes)

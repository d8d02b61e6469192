"""Deformable attention by the formula of its paper, in loops; in both forms of sampling."""

import keras
import numpy as np
import pytest

from hsvit_keras.layers import DeformableAttention, SinePositionEmbedding
from hsvit_keras.layers.bilinear_sampling import cheaper_form
from hsvit_keras.layers.deformable_attention import SamplingRays

HEADS, POINTS, DIM, QUERIES = 2, 3, 8, 5
SIZES = ((3, 5), (2, 2))
TOKENS = sum(height * width for height, width in SIZES)


def numpy(tensor):
    return keras.ops.convert_to_numpy(tensor)


def inputs(seed=0, reference_dim=2):
    rng = np.random.default_rng(seed)
    count = HEADS * len(SIZES) * POINTS
    shapes = (2, TOKENS, DIM), (2, QUERIES, 2 * count), (2, QUERIES, count)
    value, offsets, scores = (rng.normal(size=shape).astype("float32") for shape in shapes)
    return value, 2 * offsets, scores, rng.uniform(0, 1, (2, QUERIES, reference_dim)).astype("float32")


def pixel(level, row, column):
    """A pixel of a map `(height, width, dim)`, zero outside."""
    height, width, dim = level.shape
    inside = 0 <= row < height and 0 <= column < width
    return level[row, column] if inside else np.zeros(dim)


def sample(level, x, y):
    """Bilinear interpolation between the centers of four pixels."""
    left, top = int(np.floor(x)), int(np.floor(y))
    right, down = x - left, y - top
    upper = (1 - right) * pixel(level, top, left) + right * pixel(level, top, left + 1)
    lower = (1 - right) * pixel(level, top + 1, left) + right * pixel(level, top + 1, left + 1)
    return (1 - down) * upper + down * lower


def expected(value, offsets, scores, reference):
    """Equation 3, one image, query, head, level and point after the other."""
    levels, dim = len(SIZES), DIM // HEADS
    offsets = offsets.reshape(2, QUERIES, levels, 2, HEADS, POINTS)
    weights = np.exp(scores.astype("float64")).reshape(2, QUERIES, HEADS, levels * POINTS)
    weights = (weights / weights.sum(-1, keepdims=True)).reshape(2, QUERIES, HEADS, levels, POINTS)
    result = np.zeros((2, QUERIES, HEADS, dim))
    for image, query, head, level, point in np.ndindex(*result.shape[:3], levels, POINTS):
        height, width = SIZES[level]
        start = sum(rows * columns for rows, columns in SIZES[:level])
        maps = value[image, start : start + height * width].reshape(height, width, HEADS, dim)[:, :, head]
        shift = offsets[image, query, level, :, head, point]
        x, y, *extent = reference[image, query]
        if extent:
            x, y = (x, y) + shift / POINTS * extent / 2
        else:
            x, y = x + shift[0] / width, y + shift[1] / height
        read = sample(maps, x * width - 0.5, y * height - 0.5)
        result[image, query, head] += weights[image, query, head, level, point] * read
    return result.reshape(2, QUERIES, DIM)


@pytest.mark.parametrize("reference_dim", [2, 4], ids=["points", "boxes"])
@pytest.mark.parametrize("sampling", ["gathers", "hat_functions"])
def test_equation_3(sampling, reference_dim):
    given = inputs(reference_dim=reference_dim)
    layer = DeformableAttention(HEADS, POINTS, SIZES, sampling=sampling)
    np.testing.assert_allclose(numpy(layer(*given)), expected(*given), rtol=1e-5, atol=1e-5)


@pytest.mark.once
def test_forms_can_be_mixed(monkeypatch):
    given = inputs()
    layer = DeformableAttention(HEADS, POINTS, SIZES)
    monkeypatch.setattr(layer, "forms", lambda dim: ["gathers", "hat_functions"])
    np.testing.assert_allclose(numpy(layer(*given)), expected(*given), rtol=1e-5, atol=1e-5)


@pytest.mark.once
def test_small_maps_are_read_by_hat_functions():
    """As measured: 100 queries of 8 heads, 4 points and 32 numbers are even at a side of 16 to 20."""
    assert cheaper_form((16, 16), 4, 32) == "hat_functions"
    assert cheaper_form((20, 20), 4, 32) == "gathers"


def test_queries_of_pixels_stand_at_their_centers():
    """Without offsets and with a single level, each pixel reads itself."""
    size, tokens = (3, 4), 12
    value = np.random.default_rng(0).normal(size=(2, tokens, DIM)).astype("float32")
    zeros = np.zeros((2, tokens, 2 * HEADS * POINTS), "float32")
    layer = DeformableAttention(HEADS, POINTS, [size])
    np.testing.assert_allclose(numpy(layer(value, zeros, zeros[..., ::2])), value, atol=1e-6)


@pytest.mark.once
def test_gradients_of_both_forms_agree():
    if keras.backend.backend() != "tensorflow":
        pytest.skip("gradients are asked of TensorFlow")
    import tensorflow as tf

    given = [tf.constant(array) for array in inputs(reference_dim=4)]
    found = []
    for sampling in ("gathers", "hat_functions"):
        layer = DeformableAttention(HEADS, POINTS, SIZES, sampling=sampling)
        with tf.GradientTape() as tape:
            tape.watch(given)
            loss = tf.reduce_sum(layer(*given) ** 2)
        found.append(tape.gradient(loss, given))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)
        assert np.abs(one).max() > 0.01


@pytest.mark.once
def test_first_offsets_are_rays():
    """Four heads look right, down, left and up, their points 1 and 2 pixels away, in each of two levels."""
    bias = numpy(SamplingRays(4, 2, 2)((2 * 2 * 4 * 2,), "float32")).reshape(2, 2, 4, 2)
    for level in bias:
        np.testing.assert_allclose(level[0], [[1, 2], [0, 0], [-1, -2], [0, 0]], atol=1e-6)
        np.testing.assert_allclose(level[1], [[0, 0], [1, 2], [0, 0], [-1, -2]], atol=1e-6)
    diagonal = numpy(SamplingRays(8, 1, 1)((16,), "float32")).reshape(2, 8)
    np.testing.assert_allclose(diagonal[:, 1], [1, 1], atol=1e-6)


@pytest.mark.once
def test_what_does_not_fit_is_named():
    value, offsets, scores, reference = inputs()
    with pytest.raises(ValueError, match=r"need 19 tokens of value, 24 offsets and 12 scores.*received 18"):
        DeformableAttention(HEADS, POINTS, SIZES)(value[:, 1:], offsets, scores, reference)
    with pytest.raises(ValueError, match="sampling has to be one of auto, gathers, hat_functions"):
        DeformableAttention(HEADS, POINTS, SIZES, sampling="nearest")


def test_sine_positions():
    """The formula of the paper, number by number, and one embedding for each level."""
    layer = SinePositionEmbedding(SIZES)
    tokens = np.zeros((2, TOKENS, DIM), "float32")
    layer(tokens)
    embedding = np.random.default_rng(0).normal(size=(2, DIM)).astype("float32")
    layer.set_weights([embedding])
    found, start = numpy(layer(tokens)), 0
    for level, (height, width) in enumerate(SIZES):
        for row, column in np.ndindex(height, width):
            places = (row + 0.5) / height, (column + 0.5) / width
            numbers = []
            for place in places:
                for k in range(DIM // 2):
                    angle = 2 * np.pi * place / 10000 ** (2 * (k // 2) / (DIM // 2))
                    numbers.append(np.cos(angle) if k % 2 else np.sin(angle))
            np.testing.assert_allclose(
                found[:, start], [numbers + embedding[level]] * 2, rtol=1e-4, atol=1e-4
            )
            start += 1

"""Significance scores and the tokens that they keep, against NumPy."""

import keras
import numpy as np
import pytest

from hsvit_keras import layers

RNG = np.random.default_rng(0)
QUERY, KEY, VALUE = RNG.normal(size=(3, 2, 5, 12)).astype("float32")
TOKENS = RNG.normal(size=(2, 5, 12)).astype("float32")
SCORES = np.array([[0.0, 3.0, 1.0, 2.0, 4.0], [0.0, 1.0, 5.0, 3.0, 2.0]], "float32")


def numpy(tensor):
    return keras.ops.convert_to_numpy(keras.ops.cast(tensor, "float32"))


def weights():
    """Attention weights (batch, heads, queries, tokens) of four heads."""
    heads = [x.reshape(2, 5, 4, 3).transpose(0, 2, 1, 3).astype("float64") for x in (QUERY, KEY)]
    scores = np.exp(heads[0] @ heads[1].transpose(0, 1, 3, 2) / np.sqrt(3))
    return scores / scores.sum(-1, keepdims=True)


def test_scores_are_the_attention_that_a_token_receives():
    mixed, scores = layers.ScoredAttention(4)(QUERY, KEY, VALUE)
    np.testing.assert_allclose(numpy(scores), weights().sum((1, 2)), rtol=1e-5)
    np.testing.assert_allclose(numpy(scores).sum(-1), 4 * 5, rtol=1e-5)  # one for each query and head
    plain = layers.SoftmaxAttention(4)(QUERY, KEY, VALUE)
    np.testing.assert_array_equal(numpy(mixed), numpy(plain))


def test_scores_of_half_precision_are_sums_of_float32():
    mixed, scores = layers.ScoredAttention(4, dtype="mixed_bfloat16")(QUERY, KEY, VALUE)
    assert keras.backend.standardize_dtype(mixed.dtype) == "bfloat16"
    assert keras.backend.standardize_dtype(scores.dtype) == "float32"
    np.testing.assert_allclose(numpy(scores), weights().sum((1, 2)), rtol=0.02)


@pytest.mark.parametrize(
    ("num_kept", "num_first", "expected"),
    [
        (3, 1, [[0, 4, 1], [0, 2, 3]]),
        (4, 2, [[0, 1, 4, 3], [0, 1, 2, 3]]),
        (1, 1, [[0], [0]]),
        (5, 1, [[0, 4, 1, 3, 2], [0, 2, 3, 4, 1]]),
    ],
)
def test_first_tokens_and_those_of_the_largest_scores_are_kept(num_kept, num_first, expected):
    kept = layers.TokenElimination(num_kept, num_first)(TOKENS, SCORES)
    np.testing.assert_array_equal(numpy(kept), np.take_along_axis(TOKENS, np.array(expected)[..., None], 1))


@pytest.mark.once
def test_models_of_both_are_saved(tmp_path):
    given = keras.Input((5, 12))
    mixed, scores = layers.ScoredAttention(4)(given, given, given)
    model = keras.Model(given, layers.TokenElimination(3, 2)(mixed, scores))
    assert model.output.shape == (None, 3, 12)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(numpy(loaded(TOKENS)), numpy(model(TOKENS)))


@pytest.mark.once
@pytest.mark.parametrize(("num_kept", "num_first"), [(6, 1), (1, 2)])
def test_a_number_that_does_not_fit_is_named(num_kept, num_first):
    with pytest.raises(ValueError, match=f"received num_kept={num_kept}"):
        layers.TokenElimination(num_kept, num_first)(TOKENS, SCORES)

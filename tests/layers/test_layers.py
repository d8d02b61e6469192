"""Every layer: its values from first principles, its shapes, its config, its precision."""

import keras
import numpy as np
import pytest

from hsvit_keras import layers

RNG = np.random.default_rng(0)
TOKENS = RNG.normal(size=(2, 5, 12)).astype("float32")
GROUPED = RNG.normal(size=(2, 5, 3, 12)).astype("float32")
MAPS = np.random.default_rng(1).normal(size=(2, 3, 4, 5)).astype("float32")
EVEN_MAPS = np.random.default_rng(2).normal(size=(2, 6, 4, 5)).astype("float32")
# Patches of 2 x 2 in rows, and in each patch its pixels in rows.
PIXELS = EVEN_MAPS.reshape(2, 3, 2, 2, 2, 5).transpose(0, 1, 3, 2, 4, 5).reshape(2, 6, 4, 5)

# layer, its inputs
LAYERS = {
    "class_token": (layers.ClassToken(), [TOKENS]),
    "class_token_of_groups": (layers.ClassToken(), [GROUPED]),
    "two_class_tokens": (layers.ClassToken(2), [TOKENS]),
    "edge_padding": (layers.EdgePadding2D(((1, 2), (0, 1))), [MAPS]),
    "for_each_sample": (layers.ForEachSample(), [TOKENS[:1], GROUPED]),
    "join_tokens": (layers.JoinTokens(), [TOKENS, 2 * TOKENS[:, :3]]),
    "token_range": (layers.TokenRange(1, 3), [TOKENS]),
    "token_range_to_the_end": (layers.TokenRange(2), [GROUPED]),
    "position_embedding": (layers.PositionEmbedding(), [TOKENS]),
    "position_embedding_of_groups": (layers.PositionEmbedding(), [GROUPED]),
    "first_token": (layers.FirstToken(), [TOKENS]),
    "first_token_of_groups": (layers.FirstToken(), [GROUPED]),
    "group_dropout": (layers.GroupDropout(0.5), [TOKENS]),
    "tile_tokens": (layers.TileTokens(13), [TOKENS]),
    "unfold_patches": (layers.UnfoldPatches(2), [EVEN_MAPS]),
    "additive_attention": (layers.AdditiveAttention(), [TOKENS, TOKENS[::-1].copy()]),
    "additive_attention_of_maps": (layers.AdditiveAttention(weighted=False), [MAPS, 2 * MAPS]),
    "grid_attention": (layers.GridAttention(4, (1, 5), 0.1), [TOKENS, TOKENS[::-1].copy(), 2 * TOKENS]),
    "separable_attention": (layers.SeparableAttention(), [TOKENS[..., :1], TOKENS, 2 * TOKENS]),
    "separable_attention_of_groups": (layers.SeparableAttention(), [GROUPED[..., :1], GROUPED, -GROUPED]),
    "layer_scale": (layers.LayerScale(0.5), [MAPS]),
    "fold_patches": (layers.FoldPatches((6, 4), 2), [PIXELS]),
    "nearest_upsampling": (layers.NearestUpsampling(3), [MAPS]),
    "group_layer_normalization": (layers.GroupLayerNormalization(epsilon=1e-4), [GROUPED]),
    "sine_position_embedding": (layers.SinePositionEmbedding([(1, 3), (2, 1)]), [TOKENS]),
    "stop_gradient": (layers.StopGradient(), [TOKENS]),
    "deformable_attention": (
        layers.DeformableAttention(2, 1, [(1, 3), (2, 1)], sampling="gathers"),
        [TOKENS, TOKENS[..., :8], TOKENS[..., :4], np.abs(TOKENS[..., :4]) / 3],
    ),
    "deformable_attention_of_pixels": (
        layers.DeformableAttention(2, 1, [(1, 3), (2, 1)], [[(1, 2), (2, 1)]] * 2),
        [TOKENS, TOKENS[..., :8], TOKENS[..., :4]],
    ),
    "softmax_attention": (layers.SoftmaxAttention(4, 0.1), [TOKENS, TOKENS[::-1].copy(), 2 * TOKENS]),
    "softmax_attention_of_groups": (layers.SoftmaxAttention(3), [GROUPED[:, :1], GROUPED, 2 * GROUPED]),
}


def numpy(tensor):
    return keras.ops.convert_to_numpy(tensor)


@pytest.mark.parametrize("name", LAYERS)
def test_symbolic_and_real_shapes_agree(name):
    layer, inputs = LAYERS[name]
    symbolic = layer(*[keras.KerasTensor((None, *x.shape[1:])) for x in inputs])
    assert tuple(symbolic.shape[1:]) == layer(*inputs).shape[1:]
    assert symbolic.shape[0] is None


@pytest.mark.parametrize("name", LAYERS)
def test_fixed_batch_gives_the_same(name):
    layer, inputs = LAYERS[name]
    fixed = [keras.Input(batch_shape=x.shape) for x in inputs]
    model = keras.Model(fixed, layer(*fixed))
    np.testing.assert_allclose(numpy(model(inputs)), numpy(layer(*inputs)), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", LAYERS)
def test_config_holds_every_argument(name):
    layer, inputs = LAYERS[name]
    copy = type(layer).from_config(layer.get_config())
    copy(*inputs)
    copy.set_weights(layer.get_weights() if layer.built else copy.get_weights())
    layer(*inputs)
    copy.set_weights(layer.get_weights())
    np.testing.assert_array_equal(numpy(copy(*inputs)), numpy(layer(*inputs)))


@pytest.mark.parametrize("policy", ["float32", "mixed_bfloat16", "mixed_float16"])
@pytest.mark.parametrize("name", LAYERS)
def test_precision(name, policy):
    layer, inputs = LAYERS[name]
    reference = numpy(layer(*inputs))
    low = type(layer).from_config({**layer.get_config(), "dtype": policy})
    low.build(*[x.shape for x in inputs])
    low.set_weights(layer.get_weights())
    result = low(*inputs)
    assert keras.backend.standardize_dtype(result.dtype) == low.compute_dtype
    tolerance = {"float32": 1e-6, "mixed_bfloat16": 0.04, "mixed_float16": 0.005}[policy]
    np.testing.assert_allclose(
        numpy(keras.ops.cast(result, "float32")), reference, atol=tolerance * np.abs(reference).max()
    )
    assert all(weight.dtype == "float32" for weight in low.weights)


@pytest.mark.parametrize("tokens", [TOKENS, GROUPED], ids=["plain", "groups"])
def test_class_token_comes_first_and_leaves_the_others(tokens):
    layer = layers.ClassToken()
    layer.build(tokens.shape)
    learned = RNG.normal(size=(1, *tokens.shape[2:])).astype("float32")
    layer.set_weights([learned])
    expected = np.concatenate([np.broadcast_to(learned, (2, 1, *tokens.shape[2:])), tokens], axis=1)
    np.testing.assert_array_equal(numpy(layer(tokens)), expected)


@pytest.mark.parametrize("tokens", [TOKENS, GROUPED], ids=["plain", "groups"])
def test_position_embedding_adds_one_vector_a_token(tokens):
    layer = layers.PositionEmbedding()
    layer.build(tokens.shape)
    learned = RNG.normal(size=tokens.shape[1:]).astype("float32")
    layer.set_weights([learned])
    np.testing.assert_array_equal(numpy(layer(tokens)), tokens + learned)


@pytest.mark.parametrize("tokens", [TOKENS, GROUPED], ids=["plain", "groups"])
def test_first_token(tokens):
    np.testing.assert_array_equal(numpy(layers.FirstToken()(tokens)), tokens[:, :1])


@pytest.mark.parametrize(("start", "stop"), [(0, 2), (1, 5), (2, None)])
@pytest.mark.parametrize("tokens", [TOKENS, GROUPED], ids=["plain", "groups"])
def test_token_range(tokens, start, stop):
    np.testing.assert_array_equal(numpy(layers.TokenRange(start, stop)(tokens)), tokens[:, start:stop])


@pytest.mark.parametrize("size", [2, 3])
def test_nearest_upsampling_repeats_pixels(size):
    expected = MAPS.repeat(size, axis=1).repeat(size, axis=2)
    np.testing.assert_array_equal(numpy(layers.NearestUpsampling(size)(MAPS)), expected)
    np.testing.assert_array_equal(numpy(keras.layers.UpSampling2D(size)(MAPS)), expected)


@pytest.mark.parametrize("padding", [((1, 2), (0, 1)), ((0, 0), (2, 0)), ((0, 0), (0, 0))])
def test_edge_padding_repeats_the_pixels_at_the_edges(padding):
    expected = np.pad(MAPS, ((0, 0), *padding, (0, 0)), mode="edge")
    np.testing.assert_array_equal(numpy(layers.EdgePadding2D(padding)(MAPS)), expected)


def test_for_each_sample():
    token = RNG.normal(size=(1, 1, 12)).astype("float32")
    repeated = numpy(layers.ForEachSample()(token, TOKENS))
    np.testing.assert_array_equal(repeated, np.broadcast_to(token, (2, 1, 12)))


def test_own_weight():
    layer = layers.OwnWeight((3, 4), name="scale", dtype="mixed_bfloat16")
    image = keras.Input((2,))
    model = keras.Model(image, layer(image))
    assert model.output.shape == (3, 4) and model.output.dtype == "bfloat16"
    weight = RNG.normal(size=(3, 4)).astype("float32")
    layer.set_weights([weight])
    np.testing.assert_allclose(numpy(keras.ops.cast(model(TOKENS[:, 0, :2]), "float32")), weight, rtol=0.01)
    copy = layers.OwnWeight.from_config(layer.get_config())
    assert (copy.shape, copy.weight_dtype) == ((3, 4), "float32")


def test_patches_are_unfolded_and_folded():
    np.testing.assert_array_equal(numpy(layers.UnfoldPatches(2)(EVEN_MAPS)), PIXELS)
    np.testing.assert_array_equal(numpy(layers.FoldPatches((6, 4), 2)(PIXELS)), EVEN_MAPS)
    with pytest.raises(ValueError, match=r"patch_size=2, shape \(2, 3, 4, 5\)"):
        layers.UnfoldPatches(2)(MAPS)


@pytest.mark.filterwarnings("error")
def test_attention_to_one_token_gives_its_value():
    result = layers.SoftmaxAttention(4)(TOKENS, TOKENS[:, :1], TOKENS[:, :1])
    np.testing.assert_array_equal(numpy(result), np.repeat(TOKENS[:, :1], 5, axis=1))


@pytest.mark.parametrize("inputs", [TOKENS, MAPS], ids=["tokens", "maps"])
@pytest.mark.parametrize("weighted", [True, False])
def test_additive_attention(weighted, inputs):
    layer = layers.AdditiveAttention(weighted)
    query, key = inputs, inputs[..., ::-1].copy()
    result = numpy(layer(query, key))
    tokens = query.reshape(2, -1, query.shape[-1]).astype("float64")
    scores = tokens @ numpy(layer.score)
    weights = scores / np.linalg.norm(scores, axis=1, keepdims=True) if weighted else np.ones_like(scores)
    expected = (weights * tokens).sum(1).reshape(2, *[1] * (query.ndim - 2), -1) * key
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


def test_grid_attention_adds_the_bias_of_each_offset():
    query, key, value = np.random.default_rng(3).normal(size=(3, 2, 6, 8)).astype("float32")
    layer = layers.GridAttention(2, (2, 3))
    layer.build(query.shape, key.shape, value.shape)
    bias = np.random.default_rng(4).normal(size=(2, 6)).astype("float32")
    layer.set_weights([bias])
    difference = numpy(layer.scores(query, key)) - numpy(layers.SoftmaxAttention(2).scores(query, key))
    for head in range(2):
        for i in range(6):
            for j in range(6):
                rows, columns = abs(i // 3 - j // 3), abs(i % 3 - j % 3)
                expected = bias[head, 3 * rows + columns]
                np.testing.assert_allclose(difference[:, head, i, j], expected, rtol=1e-5, atol=1e-6)


def test_scale_of_the_scores():
    plain, scaled = layers.SoftmaxAttention(4), layers.SoftmaxAttention(4, scale=0.1)
    expected = numpy(plain.scores(TOKENS, TOKENS)) * 0.1 * 3**0.5
    np.testing.assert_allclose(numpy(scaled.scores(TOKENS, TOKENS)), expected, rtol=1e-5, atol=1e-6)


def test_two_class_tokens_keep_their_order():
    layer = layers.ClassToken(2)
    layer.build(TOKENS.shape)
    learned = RNG.normal(size=(2, 12)).astype("float32")
    layer.set_weights([learned])
    result = numpy(layer(TOKENS))
    np.testing.assert_array_equal(result[:, :2], np.broadcast_to(learned, (2, 2, 12)))
    np.testing.assert_array_equal(result[:, 2:], TOKENS)


def test_join_tokens():
    front, back = TOKENS[:, :2], 3 * TOKENS
    result = numpy(layers.JoinTokens()(front, back))
    np.testing.assert_array_equal(result, np.concatenate([front, back], axis=1))


def test_joined_tokens_have_the_same_dim():
    with pytest.raises(ValueError, match=r"\(2, 5, 12\) and \(2, 5, 6\)"):
        layers.JoinTokens()(TOKENS, TOKENS[:, :, :6])


@pytest.mark.parametrize(
    ("count", "order"), [(3, [0, 1, 2]), (5, [0, 1, 2, 3, 4]), (7, [0, 1, 2, 3, 4, 0, 1])]
)
def test_tile_tokens_goes_round(count, order):
    np.testing.assert_array_equal(numpy(layers.TileTokens(count)(TOKENS)), TOKENS[:, order])


def test_group_layer_normalization():
    layer = layers.GroupLayerNormalization(epsilon=0.5)
    layer.build(GROUPED.shape)
    gamma, beta = RNG.normal(size=(2, 3, 12)).astype("float32")
    layer.set_weights([gamma, beta])
    double = GROUPED.astype("float64")
    centred = double - double.mean(-1, keepdims=True)
    expected = centred / np.sqrt(double.var(-1, keepdims=True) + 0.5) * gamma + beta
    np.testing.assert_allclose(numpy(layer(GROUPED)), expected, rtol=1e-5, atol=1e-5)


def test_group_layer_normalization_is_stable_in_half_precision():
    """A mean far from zero would swallow the variance if it were computed in bfloat16."""
    layer = layers.GroupLayerNormalization(dtype="mixed_float16")
    result = numpy(layer(1000 + GROUPED.astype("float32"))).astype("float32")
    centred = GROUPED - GROUPED.mean(-1, keepdims=True)
    assert np.corrcoef(result.ravel(), centred.ravel())[0, 1] > 0.9


def attention(query, key, value, num_heads):
    """Equation 1 of Attention Is All You Need, a head at a time, in float64."""
    size = query.shape[-1] // num_heads
    heads = []
    for head in range(num_heads):
        part = slice(head * size, (head + 1) * size)
        q, k, v = (x.astype("float64")[..., part] for x in (query, key, value))
        scores = q @ k.T / np.sqrt(size)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        heads.append(weights / weights.sum(-1, keepdims=True) @ v)
    return np.concatenate(heads, axis=-1)


def test_softmax_attention():
    query, key, value = RNG.normal(size=(3, 2, 5, 12)).astype("float32")
    result = numpy(layers.SoftmaxAttention(4)(query, key, value))
    for i in range(2):
        np.testing.assert_allclose(result[i], attention(query[i], key[i], value[i], 4), atol=1e-6)


def test_softmax_attention_keeps_groups_apart():
    query = RNG.normal(size=(2, 2, 3, 12)).astype("float32")
    key, value = RNG.normal(size=(2, 2, 5, 3, 12)).astype("float32")
    result = numpy(layers.SoftmaxAttention(2)(query, key, value))
    for i in range(2):
        for group in range(3):
            expected = attention(query[i, :, group], key[i, :, group], value[i, :, group], 2)
            np.testing.assert_allclose(result[i, :, group], expected, atol=1e-6)


def test_attention_weights_are_what_the_values_are_mixed_with():
    layer = layers.SoftmaxAttention(2)
    weights = numpy(layer.attention_weights(GROUPED, 2 * GROUPED))
    assert weights.shape == (2, 6, 5, 5)
    np.testing.assert_allclose(weights.sum(-1), 1, rtol=1e-6)
    values = GROUPED.reshape(2, 5, 6, 6).transpose(0, 2, 1, 3)
    mixed = (weights @ values).transpose(0, 2, 1, 3).reshape(GROUPED.shape)
    np.testing.assert_allclose(numpy(layer(GROUPED, 2 * GROUPED, GROUPED)), mixed, atol=1e-6)


def test_attention_dropout_is_for_training_alone():
    layer = layers.SoftmaxAttention(4, dropout_rate=0.5)
    still = [numpy(layer(TOKENS, TOKENS, TOKENS, training=False)) for _ in range(2)]
    np.testing.assert_array_equal(*still)
    assert np.abs(numpy(layer(TOKENS, TOKENS, TOKENS, training=True)) - still[0]).max() > 0.01


def test_heads_have_to_divide_the_dim():
    with pytest.raises(ValueError, match="num_heads=5, dim=12"):
        layers.SoftmaxAttention(5)(TOKENS, TOKENS, TOKENS)


@pytest.mark.parametrize("tokens", [TOKENS, GROUPED], ids=["plain", "groups"])
def test_separable_attention(tokens):
    """The context is the mean of the keys, weighted by the softmax over the tokens, of each group apart."""
    scores, values = 3 * tokens[..., -1:], np.cos(tokens)
    weights = np.exp(scores.astype("float64"))
    context = (weights * tokens).sum(1, keepdims=True) / weights.sum(1, keepdims=True)
    found = numpy(layers.SeparableAttention()(scores, tokens, values))
    np.testing.assert_allclose(found, context * values, atol=1e-6)


def test_separable_attention_to_a_single_token_is_the_product():
    """Without a warning: the softmax of one score is 1."""
    one = TOKENS[:, :1]
    np.testing.assert_array_equal(numpy(layers.SeparableAttention()(one[..., :1], one, 2 * one)), 2 * one**2)


def groups_left(rate, images=4000, groups=3):
    """Which groups of ones are left while training, `(images, groups)`, and the values of those."""
    answers = np.ones((images, groups, 2), "float32")
    result = numpy(layers.GroupDropout(rate, seed=1)(answers, training=True))
    np.testing.assert_array_equal(result[..., 0], result[..., 1])
    return result[..., 0] != 0, result[..., 0]


@pytest.mark.parametrize("rate", [0.0, 0.3, 0.5, 0.99])
def test_group_dropout_keeps_a_subset_whose_mean_is_the_mean(rate):
    left, values = groups_left(rate)
    assert left.any(axis=1).all()
    np.testing.assert_allclose(values.mean(axis=1), 1, rtol=1e-6)
    # A group stays for itself, or as the largest of three that all would go.
    chance = (1 - rate) + rate**3 / 3
    deviation = np.sqrt(chance * (1 - chance) / len(left))
    np.testing.assert_allclose(left.mean(axis=0), chance, atol=4 * deviation)


def test_group_dropout_leaves_every_subset_to_some_image():
    left, _ = groups_left(0.5)
    assert len({tuple(row) for row in left.tolist()}) == 2**3 - 1


def test_group_dropout_scales_what_it_keeps():
    answers = RNG.normal(size=(50, 3, 12)).astype("float32")
    result = numpy(layers.GroupDropout(0.5)(answers, training=True))
    for before, after in zip(answers, result, strict=True):
        left = after.any(axis=1)
        np.testing.assert_allclose(after[left], before[left] * 3 / left.sum(), rtol=1e-6)
        np.testing.assert_allclose(after.mean(axis=0), before[left].mean(axis=0), rtol=1e-5, atol=1e-6)


def test_group_dropout_is_for_training_alone():
    layer = layers.GroupDropout(0.9)
    np.testing.assert_array_equal(numpy(layer(TOKENS)), TOKENS)
    np.testing.assert_array_equal(numpy(layer(TOKENS, training=False)), TOKENS)


def test_group_dropout_with_a_seed_can_be_repeated():
    first, second = (numpy(layers.GroupDropout(0.5, seed=3)(TOKENS, training=True)) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    layer = layers.GroupDropout(0.5, seed=3)
    draws = [numpy(layer(np.ones((20, 3, 1), "float32"), training=True)) for _ in range(2)]
    assert not np.array_equal(*draws)


def test_group_dropout_in_half_precision():
    answers = np.ones((200, 3, 1), "float32")
    result = layers.GroupDropout(0.5, dtype="mixed_bfloat16")(answers, training=True)
    values = set(numpy(keras.ops.cast(result, "float32")).ravel().tolist())
    assert values == {0, 1, 1.5, 3}


@pytest.mark.parametrize("rate", [-0.1, 1.0])
def test_group_dropout_keeps_something(rate):
    with pytest.raises(ValueError, match=rf"rate has to be in \[0, 1\); received rate={rate}"):
        layers.GroupDropout(rate)

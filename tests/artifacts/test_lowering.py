"""The inference form computes what the model does, and has the form that phones compute fast."""

import itertools

import keras
import numpy as np
import pytest
from keras import layers

import hsvit_keras
from hsvit_keras.layers import FirstToken, JoinTokens, TokenRange
from tests.models.small import small_model
from tests.parameters import slow_but

pytestmark = pytest.mark.tensorflow
lowering = (
    pytest.importorskip("hsvit_keras.artifacts.lowering") if keras.backend.backend() == "tensorflow" else None
)

RNG = np.random.default_rng(0)


def trained(name, side=32, channels=3, **arguments):
    """A model whose weights are far from their initial zeros and ones."""
    return with_other_weights(
        hsvit_keras.create_model(name, input_shape=(side, side, channels), num_classes=10, **arguments)
    )


def with_other_weights(model):
    for layer in model.layers:
        weights = [weight * RNG.uniform(0.8, 1.2, weight.shape) for weight in layer.get_weights()]
        if weights and layer.weights[-1].name == "bias":
            weights[-1] = RNG.normal(0, 0.3, weights[-1].shape)
        layer.set_weights(weights)
    return model


def images(model, count=4):
    return RNG.normal(size=(count, *model.input_shape[1:])).astype("float32")


def outputs(model, inputs):
    return np.asarray(model(inputs, training=False))


def one_by_one(model, inputs):
    return np.concatenate([outputs(model, image[None]) for image in inputs])


SHAPES = {
    "as it is": {},
    "one block": {"depth": 1},
    "without attention": {"attention_groups": 0},
    "without convolution": {"use_convolution": False, "hidden_dim": 1024, "num_heads": 4},
    "pooling with gaps": {"pool_strides": (4, 2)},
    "pooling without a window": {"kernel_sizes": 1, "pool_strides": (3, 2)},
    "even kernels": {"kernel_sizes": (2, 4), "pool_strides": (3, 3)},
    "one group": {"attention_groups": 1},
    "half precision": {"dtype": "mixed_bfloat16"},
}


@pytest.mark.parametrize(
    "shape", slow_but(["as it is", "pooling with gaps", "one group", "half precision"], SHAPES)
)
def test_same_outputs(shape):
    model = trained("hsvit_tiny", **SHAPES[shape])
    inputs = images(model)
    expected = outputs(model, inputs)
    lowered = lowering.lower(model)
    assert lowered.input_shape == (1, 32, 32, 3)
    if shape == "half precision":  # the inference form is float32: closer to the truth than the model
        precise = trained("hsvit_tiny")
        precise.set_weights(model.get_weights())
        expected = outputs(precise, inputs)
    tolerance = 1e-5 * max(1, np.abs(expected).max())
    np.testing.assert_allclose(one_by_one(lowered, inputs), expected, atol=tolerance)


def test_batch():
    model = trained("hsvit_tiny", pool_strides=(4, 2))
    inputs = images(model, 3)
    lowered = lowering.lower(model, batch_size=3)
    assert lowered.input_shape == (3, 32, 32, 3)
    np.testing.assert_allclose(outputs(lowered, inputs), outputs(model, inputs), atol=1e-4)


def test_leaves_the_original_alone():
    model = trained("hsvit_tiny")
    inputs, weights = images(model), model.get_weights()
    before = outputs(model, inputs)
    lowering.lower(model)
    np.testing.assert_array_equal(outputs(model, inputs), before)
    for old, new in zip(weights, model.get_weights(), strict=True):
        np.testing.assert_array_equal(old, new)


def test_last_block_computes_the_class_token_alone():
    lowered = lowering.lower(trained("hsvit_tiny", depth=2))
    tokens = {layer.name: layer.output.shape[1] for layer in lowered.layers if layer.name.startswith("block")}
    assert tokens["block0_attention_query"] == tokens["block0_add"] == 9
    assert tokens["block1_norm"] == tokens["block1_attention_key"] == tokens["block1_attention_value"] == 9
    assert tokens["block1_attention_query"] == tokens["block1_attention"] == 1
    assert tokens["block1_attention_output"] == tokens["block1_add"] == 1
    assert "class_tokens" not in tokens


def test_tokens_that_are_read_elsewhere_are_kept():
    """A second output made of all tokens needs them all."""
    model = trained("hsvit_tiny")
    tokens = model.get_layer("block1_add").output
    both = keras.Model(model.input, [model.output, tokens])
    lowered = lowering.lower(both)
    assert lowered.get_layer("block1_attention_query").output.shape[1] == 9
    image = images(model, 1)
    for output, expected in zip(lowered(image), both(image), strict=True):
        np.testing.assert_allclose(np.asarray(output), np.asarray(expected), atol=1e-4)


def test_groups_become_grouped_convolutions_without_key_bias():
    lowered = lowering.lower(trained("hsvit_tiny"))
    projections = [layer for layer in lowered.layers if isinstance(layer, lowering.GroupedProjection)]
    assert len(projections) == 8
    assert not any(
        isinstance(layer, layers.EinsumDense | layers.BatchNormalization) for layer in lowered.layers
    )
    for layer in projections:
        assert layer.use_bias == (not layer.name.endswith("_key"))


def test_key_bias_stays_where_the_key_is_read_as_a_value_too():
    inputs = keras.Input((5, 2, 8))
    make = hsvit_keras.models.blocks.group_dense
    shared = make(2, 8)("shared")
    query, key = make(2, 8)("query")(inputs), shared(inputs)
    model = keras.Model(inputs, hsvit_keras.layers.SoftmaxAttention(2)(query, key, key))
    shared.set_weights([shared.get_weights()[0], RNG.normal(size=(2, 8))])
    tokens = RNG.normal(size=(1, 5, 2, 8)).astype("float32")
    lowered = lowering.lower(model)
    assert lowered.get_layer("shared").use_bias
    np.testing.assert_allclose(outputs(lowered, tokens), outputs(model, tokens), atol=1e-5)


@pytest.mark.parametrize(
    ("size", "stride"), [(size, stride) for size in (1, 2, 3) for stride in (2, 3, 4, 5) if stride >= size]
)
@pytest.mark.parametrize("side", [7, 8, 9, 10, 11, 12])
def test_pooling_with_gaps(size, stride, side):
    maps = RNG.normal(size=(2, side, side + 1, 3)).astype("float32")
    layer = lowering.SkippingMaxPooling2D((size, size), (stride, stride))
    expected = layers.MaxPooling2D(size, stride)(maps)
    assert layer.compute_output_shape(maps.shape) == tuple(expected.shape)
    np.testing.assert_array_equal(np.asarray(layer(maps)), np.asarray(expected))


TOKENWISE = {
    "dense": lambda: layers.Dense(8),
    "einsum": lambda: layers.EinsumDense("bti,io->bto", (None, 8), bias_axes="o"),
    "einsum of any rank": lambda: layers.EinsumDense("...i,io->...o", 8, bias_axes="o"),
    "layer normalization": lambda: layers.LayerNormalization(),
    "channel normalization": lambda: hsvit_keras.layers.ChannelNormalization(),
    "rotary positions": lambda: hsvit_keras.layers.RotaryEmbedding(2, start=3),
    "gelu": lambda: layers.Activation("gelu"),
    "softmax of features": lambda: layers.Activation("softmax"),
}
MIXING = {
    "einsum along tokens": lambda: layers.EinsumDense("btd,ts->bsd", (6, 8)),
    "einsum with a bias a token": lambda: layers.EinsumDense("bti,io->bto", (6, 8), bias_axes="to"),
    "normalization along tokens": lambda: layers.LayerNormalization(axis=-2),
    "normalization of the image": lambda: layers.LayerNormalization(axis=(1, 2)),
    "pooling of neighbours": lambda: layers.AveragePooling1D(3, 1, "same"),
}


@pytest.mark.parametrize("name", [*TOKENWISE, *MIXING])
@pytest.mark.parametrize("count", [1, 2])
def test_first_tokens_are_picked_in_front_of_tokenwise_layers(name, count):
    """Outputs stay; the layer sees the first tokens alone just where it treats each token alone."""
    inputs = keras.Input((6, 8))
    layer = {**TOKENWISE, **MIXING}[name]()
    picked = FirstToken() if count == 1 else TokenRange(0, 2)
    model = with_other_weights(keras.Model(inputs, layers.Flatten()(picked(layer(inputs)))))
    lowered = lowering.lower(model)
    assert lowered.get_layer(layer.name).input.shape[1] == (count if name in TOKENWISE else 6)
    image = RNG.normal(size=(1, 6, 8)).astype("float32")
    np.testing.assert_allclose(outputs(lowered, image), outputs(model, image), atol=1e-5)


@pytest.mark.parametrize("merge", [layers.Add, layers.Average, layers.Multiply])
def test_first_tokens_are_picked_in_front_of_merges(merge):
    """A single token that all share stays what it is."""
    inputs = keras.Input((6, 8))
    left, right = layers.Dense(8, name="left")(inputs), layers.Dense(8, name="right")(inputs)
    shared = layers.Dense(8, name="shared")(TokenRange(5, 6)(inputs))
    merged = merge(name="merged")([left, right, shared])
    model = keras.Model(inputs, layers.Flatten()(TokenRange(0, 2)(merged)))
    lowered = lowering.lower(model)
    shapes = [lowered.get_layer(name).output.shape[1] for name in ("left", "right", "shared", "merged")]
    assert shapes == [2, 2, 1, 2]
    image = RNG.normal(size=(1, 6, 8)).astype("float32")
    np.testing.assert_allclose(outputs(lowered, image), outputs(model, image), atol=1e-5)


def test_as_many_first_tokens_as_any_reader_takes():
    """One reader takes the first token, one the second and third, one more layer all of its own."""
    inputs = keras.Input((6, 8))
    tokens = layers.Dense(8, name="tokens")(inputs)
    first = FirstToken()(layers.Dense(8, name="for_first")(tokens))
    third = TokenRange(1, 3)(layers.Dense(8, name="for_third")(tokens))
    model = keras.Model(inputs, [first, third])
    lowered = lowering.lower(model)
    shapes = [lowered.get_layer(name).output.shape[1] for name in ("for_first", "for_third", "tokens")]
    assert shapes == [1, 3, 3]
    image = RNG.normal(size=(1, 6, 8)).astype("float32")
    for output, expected in zip(lowered(image), model(image), strict=True):
        np.testing.assert_allclose(np.asarray(output), np.asarray(expected), atol=1e-5)


def test_all_tokens_are_computed_where_somebody_reads_to_the_end():
    inputs = keras.Input((6, 8))
    tokens = layers.Dense(8, name="tokens")(inputs)
    model = keras.Model(inputs, [FirstToken()(tokens), TokenRange(2)(tokens)])
    assert lowering.lower(model).get_layer("tokens").output.shape[1] == 6


@pytest.mark.parametrize("count", [1, 2, 3])
def test_joined_tokens_that_nobody_reads_are_not_joined(count):
    """Two tokens in front: the first two need no join, three do."""
    inputs = keras.Input((6, 8))
    front = layers.Dense(8, name="front")(TokenRange(0, 2)(inputs))
    back = layers.Dense(8, name="back")(TokenRange(2)(inputs))
    joined = JoinTokens(name="join")(front, back)
    model = keras.Model(inputs, layers.Flatten()(TokenRange(0, count)(joined)))
    lowered = lowering.lower(model)
    names = {layer.name for layer in lowered.layers}
    assert names.isdisjoint({"join", "back"}) == (count < 3)
    assert lowered.get_layer("front").output.shape[1] == min(count, 2)
    image = RNG.normal(size=(1, 6, 8)).astype("float32")
    np.testing.assert_allclose(outputs(lowered, image), outputs(model, image), atol=1e-5)


@pytest.mark.parametrize("count", [1, 2])
def test_attention_of_the_first_queries_alone(count):
    inputs = keras.Input((6, 8))
    query, key, value = (layers.Dense(8, name=name)(inputs) for name in ("query", "key", "value"))
    mixed = hsvit_keras.layers.SoftmaxAttention(2, name="attention")(query, key, value)
    model = keras.Model(inputs, layers.Flatten()(TokenRange(0, count)(mixed)))
    lowered = lowering.lower(model)
    shapes = [lowered.get_layer(name).output.shape[1] for name in ("query", "key", "value", "attention")]
    assert shapes == [count, 6, 6, count]
    image = RNG.normal(size=(1, 6, 8)).astype("float32")
    np.testing.assert_allclose(outputs(lowered, image), outputs(model, image), atol=1e-5)


def test_attention_to_itself_keeps_all_tokens():
    """The same tokens are queries, keys and values."""
    inputs = keras.Input((6, 8))
    tokens = layers.Dense(8, name="tokens")(inputs)
    mixed = hsvit_keras.layers.SoftmaxAttention(2)(tokens, tokens, tokens)
    model = keras.Model(inputs, FirstToken()(mixed))
    lowered = lowering.lower(model)
    assert lowered.get_layer("tokens").output.shape[1] == 6
    image = RNG.normal(size=(1, 6, 8)).astype("float32")
    np.testing.assert_allclose(outputs(lowered, image), outputs(model, image), atol=1e-5)


@pytest.mark.parametrize("class_tokens", [1, 2])
def test_multiply_adds_that_are_saved(class_tokens):
    """Of the last block, all but keys and values is computed for the class tokens alone: counted by hand."""
    from hsvit_keras.artifacts.tflite_conversion import convert

    dim, mlp, classes, patches = 16, 32, 5, 16
    name = "deit_base" if class_tokens == 1 else "deit_base_distilled"
    model = small_model(name, depth=2, hidden_dim=dim, mlp_dim=mlp, input_shape=(16, 16, 3), patch_size=4)
    tokens = patches + class_tokens

    def block(queries):
        projections = 2 * tokens * dim**2 + 2 * queries * dim**2
        return projections + 2 * queries * tokens * dim + 2 * queries * dim * mlp

    embedding, heads = patches * 4 * 4 * 3 * dim, class_tokens * dim * classes
    found = hsvit_keras.inspect_tflite(convert(lowering.lower(model), "float32"))
    assert found["total_macs"] == embedding + block(tokens) + block(class_tokens) + heads


NORMALIZATIONS = {
    "one group": (layers.GroupNormalization(1, epsilon=0.1), (3, 4, 6), True),
    "some groups": (layers.GroupNormalization(3), (3, 4, 6), True),
    "tokens": (layers.GroupNormalization(2, center=False), (5, 6), True),
    "features alone": (layers.GroupNormalization(2, scale=False), (6,), True),
    "channels first": (layers.GroupNormalization(3, axis=1), (6, 4), False),
}


@pytest.mark.parametrize("batch_size", [2, None])
@pytest.mark.parametrize("name", NORMALIZATIONS)
def test_group_normalization_without_another_axis(name, batch_size):
    layer, shape, is_flat = NORMALIZATIONS[name]
    model = with_other_weights(keras.Sequential([keras.Input(shape), layer]))
    inputs = 3 + images(model, 2)
    lowered = lowering.lower(model, batch_size)
    np.testing.assert_allclose(outputs(lowered, inputs), outputs(model, inputs), atol=1e-5)
    flat = type(lowered.layers[-1])
    assert (flat is not layers.GroupNormalization) == is_flat
    assert flat.from_config(lowered.layers[-1].get_config()).get_config() == lowered.layers[-1].get_config()


def test_models_in_lowered_form_can_be_saved(tmp_path):
    lowered = lowering.lower(trained("hsvit_tiny", pool_strides=(4, 2)))
    lowered.save(tmp_path / "lowered.keras")
    loaded = keras.models.load_model(tmp_path / "lowered.keras")
    image = images(lowered, 1)
    np.testing.assert_array_equal(outputs(loaded, image), outputs(lowered, image))


def test_a_layer_name_twice_is_no_problem_for_the_slices():
    names = [layer.name for layer in lowering.lower(trained("hsvit_tiny", depth=3)).layers]
    assert [name for name, group in itertools.groupby(sorted(names)) if len(list(group)) > 1] == []


@pytest.mark.parametrize(("queries", "tokens", "groups"), [(5, 5, (3,)), (1, 5, (3,)), (4, 6, ())], ids=str)
def test_attention_of_few_tokens_for_older_runtimes(queries, tokens, groups):
    """Without BATCH_MATMUL it computes what NumPy does, head by head."""
    inputs = [keras.Input((count, *groups, 8), batch_size=1) for count in (queries, tokens, tokens)]
    attention = hsvit_keras.layers.SoftmaxAttention(2)
    lowered = lowering.lower(keras.Model(inputs, attention(*inputs)), for_older_runtime=True)
    arrays = [RNG.normal(size=x.shape).astype("float32") for x in inputs]
    split = [array.reshape(array.shape[1], -1, 4) for array in arrays]
    scores = np.exp(np.einsum("qhd,khd->hqk", split[0], split[1]) / 2)
    weights = scores / scores.sum(-1, keepdims=True)
    expected = np.einsum("hqk,khd->qhd", weights, split[2]).reshape(arrays[0].shape)
    np.testing.assert_allclose(np.asarray(lowered(arrays)), expected, atol=1e-5)


@pytest.mark.slow
def test_an_hsvit_for_older_runtimes_is_one_partition(tmp_path):
    from hsvit_runtime.litert import tflite_file

    model = trained("hsvit_tiny")
    report = hsvit_keras.to_tflite(model, tmp_path / "m.tflite", preset="float32", runtime="2.16")
    assert report["delegation"]["2.16"]["fully_delegated"]
    assert report["fully_delegated"] and "BATCH_MATMUL" not in report["ops"]
    kinds = [op.kind for op in tflite_file.read((tmp_path / "m.tflite").read_bytes(), "m").subgraphs[0].ops]
    assert not {"RSQRT", "GELU"} & set(kinds)
    today = hsvit_keras.to_tflite(model, tmp_path / "today.tflite", preset="float32")
    assert (today["fully_delegated"], today["delegation"]["2.16"]["fully_delegated"]) == (True, False)
    assert today["delegation"]["2.16"]["partitions"] == 14

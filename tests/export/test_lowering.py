"""The inference form answers as the model does, and has the form that phones compute fast."""

import itertools

import keras
import numpy as np
import pytest
from keras import layers

import hsvit_keras
from hsvit_keras.layers import FirstToken
from tests.models.small import MODELS, small_model

pytestmark = pytest.mark.tensorflow
lowering = pytest.importorskip("export.lowering") if keras.backend.backend() == "tensorflow" else None

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


def answers(model, inputs):
    return np.asarray(model(inputs, training=False))


def one_by_one(model, inputs):
    return np.concatenate([answers(model, image[None]) for image in inputs])


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


@pytest.mark.parametrize("shape", SHAPES)
def test_same_answers(shape):
    model = trained("hsvit_tiny", **SHAPES[shape])
    inputs = images(model)
    expected = answers(model, inputs)
    lowered = lowering.lower(model)
    assert lowered.input_shape == (1, 32, 32, 3)
    if shape == "half precision":  # the inference form is float32: closer to the truth than the model
        precise = trained("hsvit_tiny")
        precise.set_weights(model.get_weights())
        expected = answers(precise, inputs)
    tolerance = 1e-5 * max(1, np.abs(expected).max())
    np.testing.assert_allclose(one_by_one(lowered, inputs), expected, atol=tolerance)


@pytest.mark.parametrize("name", MODELS)
def test_every_model(name):
    model = with_other_weights(small_model(name))
    inputs = images(model, 2)
    expected = answers(model, inputs)
    tolerance = 2e-5 * max(1, np.abs(expected).max())
    np.testing.assert_allclose(one_by_one(lowering.lower(model), inputs), expected, atol=tolerance)


def test_batch():
    model = trained("hsvit_tiny", pool_strides=(4, 2))
    inputs = images(model, 3)
    lowered = lowering.lower(model, batch_size=3)
    assert lowered.input_shape == (3, 32, 32, 3)
    np.testing.assert_allclose(answers(lowered, inputs), answers(model, inputs), atol=1e-4)


def test_leaves_the_original_alone():
    model = trained("hsvit_tiny")
    inputs, weights = images(model), model.get_weights()
    before = answers(model, inputs)
    lowering.lower(model)
    np.testing.assert_array_equal(answers(model, inputs), before)
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
    """A second answer made of all tokens needs them all."""
    model = trained("hsvit_tiny")
    tokens = model.get_layer("block1_add").output
    both = keras.Model(model.input, [model.output, tokens])
    lowered = lowering.lower(both)
    assert lowered.get_layer("block1_attention_query").output.shape[1] == 9
    image = images(model, 1)
    for answer, expected in zip(lowered(image), both(image), strict=True):
        np.testing.assert_allclose(np.asarray(answer), np.asarray(expected), atol=1e-4)


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
    np.testing.assert_allclose(answers(lowered, tokens), answers(model, tokens), atol=1e-5)


def test_pixels_are_normalized_inside():
    model = trained("hsvit_tiny")
    pixels = RNG.integers(0, 256, (1, 32, 32, 3)).astype("float32")
    mean, std = np.array([0.5, 0.4, 0.3]), np.array([0.2, 0.3, 0.4])
    expected = answers(model, ((pixels / 255 - mean) / std).astype("float32"))
    lowered = lowering.lower(model, mean=mean.tolist(), std=std.tolist())
    np.testing.assert_allclose(answers(lowered, pixels), expected, atol=2e-5 * np.abs(expected).max())
    one_number = lowering.lower(model, mean=0.5, std=0.25)
    expected = answers(model, ((pixels / 255 - 0.5) / 0.25).astype("float32"))
    np.testing.assert_allclose(answers(one_number, pixels), expected, atol=2e-5 * np.abs(expected).max())


def test_pixels_are_normalized_once_for_all_readers():
    inputs = keras.Input((4, 4, 3))
    model = keras.Model(inputs, layers.Add()([layers.ReLU()(inputs), layers.Rescaling(2.0)(inputs)]))
    lowered = lowering.lower(model, mean=0.5, std=0.5)
    pixels = RNG.integers(0, 256, (1, 4, 4, 3)).astype("float32")
    normalized = (pixels / 255 - 0.5) / 0.5
    expected = np.maximum(normalized, 0) + 2 * normalized
    np.testing.assert_allclose(answers(lowered, pixels), expected, atol=1e-5)
    assert sum(isinstance(layer, layers.Rescaling) for layer in lowered.layers) == 2


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


def test_first_token_moves_through_a_plain_transformer():
    """Tokens without groups, Dense projections: the vision transformers to come."""
    inputs = keras.Input((6, 8))
    normalized = layers.LayerNormalization()(inputs)
    query, key, value = (layers.Dense(8, name=name)(normalized) for name in ("query", "key", "value"))
    mixed = hsvit_keras.layers.SoftmaxAttention(2, name="attention")(query, key, value)
    tokens = layers.Add()([inputs, layers.Dense(8)(mixed)])
    model = keras.Model(inputs, layers.Dense(3)(layers.Flatten()(FirstToken()(tokens))))
    lowered = lowering.lower(model)
    assert lowered.get_layer("query").output.shape == (1, 1, 8)
    assert lowered.get_layer("key").output.shape == (1, 6, 8)
    image = RNG.normal(size=(1, 6, 8)).astype("float32")
    np.testing.assert_allclose(answers(lowered, image), answers(model, image), atol=1e-5)


def test_models_in_lowered_form_can_be_saved(tmp_path):
    lowered = lowering.lower(trained("hsvit_tiny", pool_strides=(4, 2)))
    lowered.save(tmp_path / "lowered.keras")
    loaded = keras.models.load_model(tmp_path / "lowered.keras")
    image = images(lowered, 1)
    np.testing.assert_array_equal(answers(loaded, image), answers(lowered, image))


def test_a_layer_name_twice_is_no_problem_for_the_slices():
    names = [layer.name for layer in lowering.lower(trained("hsvit_tiny", depth=3)).layers]
    assert [name for name, group in itertools.groupby(sorted(names)) if len(list(group)) > 1] == []

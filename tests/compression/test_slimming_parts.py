"""Which parts are found in graphs of many kinds of layers, and that removing them equals zeroing them."""

import keras
import numpy as np
import pytest
from keras import layers

import hsvit_keras
from hsvit_keras.layers import NystromAttention, PerformerAttention, SoftmaxAttention
from tests.compression.test_slimming import (
    assert_equal_outputs,
    random_choice,
    with_random_weights,
    zeroed,
)
from tests.models.small import small_model


def graph_of(shape, build):
    inputs = keras.Input(shape, name="inputs")
    return with_random_weights(keras.Model(inputs, build(inputs)))


def chain(shape, *stack):
    def build(x):
        for layer in stack:
            x = layer(x)
        return x

    return graph_of(shape, build)


def dense(units, name, **settings):
    return layers.Dense(units, name=name, **settings)


def conv(filters, name, **settings):
    return layers.Conv2D(filters, 3, padding="same", name=name, **settings)


def squeeze_and_excite(x):
    """A factor for each channel, computed from the means of all channels."""
    maps = conv(4, "conv")(x)
    weights = dense(4, "excite")(dense(3, "squeeze")(layers.GlobalAveragePooling2D()(maps)))
    maps = layers.Multiply()([maps, layers.Reshape((1, 1, 4))(weights)])
    return dense(2, "head")(layers.GlobalAveragePooling2D()(maps))


def two_readers(x):
    hidden = dense(4, "hidden")(x)
    return layers.Add(name="add")([dense(3, "one")(hidden), dense(3, "two")(layers.ReLU()(hidden))])


def two_sources(x):
    total = layers.Add(name="add")([dense(4, "one")(x), dense(4, "two")(x)])
    return dense(2, "head")(total)


def nested_residuals(x):
    """`x + f(x)`, where f contains a residual; only the outer one is a block."""
    inner = dense(4, "hidden")(x)
    inner = layers.Add(name="inner")([layers.ReLU()(inner), inner])
    return layers.Add(name="outer")([dense(4, "output")(inner), x])


def branch_read_twice(x):
    hidden = dense(4, "hidden")(x)
    return dense(3, "head")(layers.Concatenate()([layers.Add(name="add")([x, hidden]), hidden]))


def widened(x):
    """The shortcut is broadcast, so its shape is not that of the sum."""
    wide = dense(4, "wide")(layers.Reshape((4, 1))(x))
    return layers.Add(name="add")([x, wide])


def repeated(x):
    """A shortcut that is broadcast and has as many axes as the sum."""
    token = layers.Reshape((1, 4))(x)
    return layers.Add(name="add")([token, layers.UpSampling1D(3)(token)])


def shared_reader(x):
    """The reader of the features is called on other features, too, so its kernel has to keep all rows."""
    reader = dense(4, "reader")
    return layers.Concatenate()([reader(dense(4, "hidden")(x)), reader(x)])


def shared_dropout(x):
    """Called in front of the features that it passes on in its other call."""
    dropout = layers.Dropout(0.5)
    hidden = dense(4, "hidden")(dropout(dense(4, "first")(x)))
    return dense(3, "head")(dropout(hidden))


def shared(x):
    layer = dense(4, "shared")
    return dense(3, "head")(layer(layer(x)))


def bare_operation(x):
    return dense(3, "head")(keras.ops.relu(dense(4, "hidden")(x)) + 1)


def single_projection(x):
    """Query, key and value are one projection, whose features are removed as whole heads only."""
    tokens = dense(6, "project")(x)
    return dense(3, "head")(SoftmaxAttention(3, name="attention")(tokens, tokens, tokens))


def without_projection(x):
    return dense(3, "head")(SoftmaxAttention(2, name="attention")(x, x, dense(4, "value")(x)))


NOTHING = {"groups": 0, "heads": {}, "mlp_units": {}, "kernels": {}, "blocks": []}

FOUND = {
    "dense": ((5,), [dense(4, "hidden", activation="relu"), dense(3, "head")], {"mlp_units": {"hidden": 4}}),
    "three": (
        (5,),
        [dense(4, "one"), layers.BatchNormalization(), layers.LeakyReLU(), dense(6, "two"), dense(3, "head")],
        {"mlp_units": {"one": 4, "two": 6}},
    ),
    "flattened maps": (
        (6, 4, 3),
        [conv(4, "conv"), layers.MaxPooling2D(), layers.Flatten(), dense(3, "head")],
        {"kernels": {"conv": 4}},
    ),
    "mean of maps": (
        (6, 4, 3),
        [conv(4, "conv"), layers.ZeroPadding2D(), layers.GlobalAveragePooling2D(), dense(3, "head")],
        {"kernels": {"conv": 4}},
    ),
    "kept dimensions": (
        (6, 4, 3),
        [
            conv(4, "conv"), layers.GlobalAveragePooling2D(keepdims=True), layers.Reshape((-1,)),
            dense(3, "head"),
        ],
        {"kernels": {"conv": 4}},
    ),
    "depthwise with multiplier": (
        (6, 4, 3),
        [
            conv(4, "conv"), layers.DepthwiseConv2D(3, depth_multiplier=2), layers.BatchNormalization(),
            layers.AveragePooling2D(2), conv(2, "last"), layers.Flatten(),
        ],
        {"kernels": {"conv": 4}},
    ),
    "convolutions of sequences": (
        (6, 3),
        [
            layers.Conv1D(4, 3, name="conv"), layers.MaxPooling1D(2), layers.Conv1D(5, 1, name="next"),
            layers.GlobalAveragePooling1D(), dense(3, "head"),
        ],
        {"kernels": {"conv": 4, "next": 5}},
    ),
    "tokens of maps": (
        (6, 3, 3),
        [
            conv(4, "conv"), layers.Reshape((18, 4)), layers.Permute((2, 1)), dense(5, "tokens"),
            layers.LayerNormalization(), layers.Reshape((4, 1, -1)), layers.Permute((3, 1, 2)),
            layers.Flatten(), dense(3, "head"),
        ],
        {"kernels": {"conv": 4}},
    ),
    "einsum": (
        (6, 4),
        [
            dense(4, "hidden"),
            layers.EinsumDense("bni,io->bon", (5, 6), bias_axes="o", name="einsum"),
            dense(3, "head"),
        ],
        {"mlp_units": {"hidden": 4}},
    ),
    "tokens cut in two": (
        (6, 4, 3),
        [
            conv(4, "conv"), layers.Reshape((24, 4)), layers.Permute((2, 1)), layers.Reshape((2, 2, -1)),
            layers.Flatten(), dense(3, "head"),
        ],
        {},
    ),
    "softmax within": (
        (5,), [dense(4, "hidden"), dense(3, "mixed", activation="softmax"), dense(3, "head")],
        {"mlp_units": {"hidden": 4}},
    ),
    "softmax behind": ((5,), [dense(4, "hidden"), layers.Activation("softmax"), dense(3, "head")], {}),
    "softmax layer": ((5,), [dense(4, "hidden"), layers.Softmax(), dense(3, "head")], {}),
    "layer normalization": ((5,), [dense(4, "hidden"), layers.LayerNormalization(), dense(3, "head")], {}),
    "normalization of rows": (
        (6, 4, 3),
        [conv(4, "conv"), layers.BatchNormalization(axis=1), layers.Flatten(), dense(3, "head")],
        {"kernels": {"conv": 4}},
    ),
    "model output": ((5,), [dense(4, "hidden"), layers.ReLU()], {}),
    "grouped convolution": (
        (6, 4, 4), [conv(4, "conv"), conv(4, "grouped", groups=2), conv(2, "last"), layers.Flatten()], {}
    ),
    "mean over the parts": (
        (6, 4, 3),
        [
            conv(4, "conv"), layers.Reshape((24, 4)), layers.Permute((2, 1)),
            layers.GlobalAveragePooling1D(), dense(3, "head"),
        ],
        {},
    ),
    "squeeze and excite": (
        (6, 4, 3), squeeze_and_excite, {"mlp_units": {"squeeze": 3}, "kernels": {"conv": 4}}
    ),
    "two readers": ((5,), two_readers, {"mlp_units": {"hidden": 4}}),
    "two sources": ((5,), two_sources, {}),
    "nested residuals": ((4,), nested_residuals, {"mlp_units": {"hidden": 4}, "blocks": ["outer"]}),
    "branch read twice": ((4,), branch_read_twice, {}),
    "widened": ((4,), widened, {}),
    "repeated": ((4,), repeated, {}),
    "shared": ((4,), shared, {}),
    "shared dropout": ((4,), shared_dropout, {}),
    "shared reader": ((4,), shared_reader, {}),
    "bare operation": ((4,), bare_operation, {"mlp_units": {"hidden": 4}}),
    "single projection": ((5, 4), single_projection, {"heads": {"attention": 3}}),
    "no projection": ((5, 4), without_projection, {}),
}  # fmt: skip


@pytest.mark.once
@pytest.mark.parametrize("name", FOUND)
def test_parts_of_graphs(name):
    shape, build, expected = FOUND[name]
    if isinstance(build, list):
        model = chain(shape, *(type(layer).from_config(layer.get_config()) for layer in build))
    else:
        model = graph_of(shape, build)
    parts = hsvit_keras.slimmable_parts(model)
    assert parts == {**NOTHING, **expected}
    kept = {**random_choice(parts), "blocks": []}
    slimmed = hsvit_keras.slim(model, **{kind: keep for kind, keep in kept.items() if keep})
    assert_equal_outputs(slimmed, zeroed(model, {**parts, "blocks": []}, kept))


def test_all_blocks_may_be_kept():
    model = graph_of((4,), nested_residuals)
    assert_equal_outputs(hsvit_keras.slim(model, blocks=["outer"]), model)


def test_parts_of_hsvit():
    """Kernels of the last convolution are not listed: they are tokens and are removed with their group."""
    assert hsvit_keras.slimmable_parts(small_model("hsvit_c2a2")) == {
        "groups": 4,
        "heads": {"block0_attention": 4, "block1_attention": 4},
        "mlp_units": {},
        "kernels": {"stage0_conv0": 8, "stage0_conv1": 8, "stage1_conv0": 16},
        "blocks": ["block0_add", "block1_add"],
    }


def test_ablations_of_hsvit_have_no_groups():
    """Without attention there are no groups; without convolutions no kernels compute their tokens."""
    plain = small_model("hsvit_c2a2", attention_groups=0)
    assert hsvit_keras.slimmable_parts(plain) == {
        **NOTHING, "kernels": {"stage0_conv0": 8, "stage0_conv1": 8, "stage1_conv0": 16}
    }  # fmt: skip
    tiles = small_model("hsvit_c2a2", use_convolution=False, hidden_dim=256, attention_groups=4)
    assert hsvit_keras.slimmable_parts(tiles)["groups"] == 0
    assert hsvit_keras.slimmable_parts(tiles)["heads"] == {"block0_attention": 4, "block1_attention": 4}


def attention_of(kind, **settings):
    """Projections of query, key and value, and an attention layer with four heads."""

    def build(x):
        projected = [dense(16, name)(x) for name in ("query", "key", "value")]
        return dense(3, "head")(kind(4, name="attention", **settings)(*projected))

    return graph_of((8, 5), build)


def test_heads_of_relu_performer_are_independent():
    """The ReLU kernel needs no maximum over all heads."""
    model = attention_of(PerformerAttention, kernel="relu")
    parts = hsvit_keras.slimmable_parts(model)
    kept = {**random_choice(parts), "heads": {"attention": [0, 2]}, "blocks": []}
    slimmed = hsvit_keras.slim(model, heads=[0, 2])
    assert_equal_outputs(slimmed, zeroed(model, parts, kept))


@pytest.mark.parametrize(("kept", "local"), [([0, 1], 0), ([1, 2], 1), ([0, 2, 3], 2)])
def test_local_heads_remain_the_last_heads(kept, local):
    model = attention_of(PerformerAttention, kernel="relu", local_heads=2, window_size=4, num_features=5)
    slimmed = hsvit_keras.slim(model, heads={"attention": kept})
    assert slimmed.get_layer("attention").local_heads == local
    parts = {**NOTHING, "heads": {"attention": 4}}
    assert_equal_outputs(slimmed, zeroed(model, parts, {**NOTHING, "heads": {"attention": kept}}))


def test_a_head_that_is_not_local_has_to_be_kept():
    model = attention_of(PerformerAttention, local_heads=2, window_size=4)
    with pytest.raises(ValueError, match="local_heads=2, num_heads=2"):
        hsvit_keras.slim(model, heads=[2, 3])


def test_kernels_of_the_nystrom_convolution_are_removed_with_their_heads():
    model = attention_of(NystromAttention, num_landmarks=4, residual_kernel=3)
    slimmed = hsvit_keras.slim(model, heads=[3])
    residual = model.get_layer("attention").get_weights()[0]
    np.testing.assert_array_equal(slimmed.get_layer("attention").get_weights()[0], residual[:, :, 3:])
    parts = {**NOTHING, "heads": {"attention": 4}}
    assert_equal_outputs(slimmed, zeroed(model, parts, {**NOTHING, "heads": {"attention": [3]}}))


def test_half_precision_is_kept():
    slimmed = hsvit_keras.slim(small_model("hsvit_c2a2", dtype="mixed_bfloat16"), groups=2)
    assert {layer.compute_dtype for layer in slimmed.layers if layer.weights} == {"bfloat16"}

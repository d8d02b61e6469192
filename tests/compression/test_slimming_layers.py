"""Parts are removed through layers and operations of many kinds.

Where all that stands behind the parts turns zeros into zeros, the outputs are those of the model whose source
computes zeros for the removed parts.
"""

import keras
import numpy as np
import pytest
from keras import layers, ops

import hsvit_keras
from hsvit_keras.compression.graph import Graph
from tests.compression.test_slimming import assert_equal_outputs
from tests.compression.test_slimming_parts import conv, dense, graph_of

pytestmark = pytest.mark.slow_on_jax

MAPS, SEQUENCE, VOLUME, FEATURES = (6, 4, 3), (8, 3), (4, 4, 2, 3), (5,)


def gap(x):
    return layers.GlobalAveragePooling2D()(x)


def between(*stack, source=None, reader=None):
    """A source of four kernels, layers and a reader."""

    def build(x):
        x = (source or conv(4, "source"))(x)
        for layer in stack:
            x = layer(x)
        return layers.Flatten()((reader or conv(2, "reader"))(x))

    return build


def of_sequence(*stack, **ends):
    ends = {
        "source": layers.Conv1D(4, 3, name="source"),
        "reader": layers.Conv1D(2, 1, name="reader"),
        **ends,
    }
    return between(*stack, **ends)


def of_volume(*stack):
    return between(
        *stack,
        source=layers.Conv3D(4, 1, name="source"),
        reader=layers.Conv3D(2, 1, name="reader"),
    )


def of_features(function):
    return lambda x: dense(3, "head")(function(dense(4, "source")(x)))


def with_other_maps(merge, order=1):
    """Features of the source and of other kernels, along one axis."""

    def build(x):
        maps = [conv(4, "source")(x), conv(3, "other")(x)]
        return layers.Flatten()(conv(2, "reader")(merge(maps[::order])))

    return build


def twice(merge):
    """Two inputs that are computed of each feature alone."""
    return between(lambda x: merge([x, layers.ReLU()(x)]))


def excited(x):
    """Squeeze-and-excite by Dense layers and, behind it, by convolutions, as in MobileNetV3."""
    maps = conv(4, "source", activation="relu")(x)
    factors = dense(4, "excite", activation="sigmoid")(dense(3, "squeeze")(gap(maps)))
    maps = layers.Multiply()([maps, layers.Reshape((1, 1, 4))(factors)])
    maps = layers.DepthwiseConv2D(3, name="depthwise", use_bias=False)(maps)
    means = layers.GlobalAveragePooling2D(keepdims=True)(maps)
    squeezed = layers.Conv2D(3, 1, activation="relu", name="squeeze2")(means)
    factors = layers.Conv2D(4, 1, activation="hard_sigmoid", name="excite2")(squeezed)
    return dense(2, "head")(gap(layers.Multiply()([factors, maps])))


def of_lower_rank(x):
    """Keras' merging layers add axes behind that of the batch."""
    maps = conv(4, "source")(x)
    return dense(2, "head")(gap(layers.Multiply()([maps, layers.GlobalMaxPooling2D()(maps)])))


def one_factor_of_all(x):
    factor = layers.Conv2D(1, 1, activation="sigmoid", name="mask")(x)
    return dense(2, "head")(gap(layers.Multiply()([conv(4, "source")(x), factor])))


def gated(x):
    """Factors that other units compute."""
    return dense(3, "head")(layers.Multiply()([dense(4, "source")(x), dense(4, "gate")(x)]))


def plain_operations(x):
    y = dense(4, "source")(x)
    y = ops.relu(y * 2 - y / 3) + ops.maximum(y, 0.5 * ops.tanh(y))
    return dense(3, "head")(ops.concatenate([y, x, ops.gelu(y)], axis=-1))


def moved(x):
    """A map to tokens, by operations."""
    maps = conv(4, "source")(x)
    tokens = ops.transpose(ops.reshape(maps, (-1, 24, 4)), (0, 2, 1))
    tokens = ops.squeeze(ops.expand_dims(tokens, 1), 1)
    means = ops.mean(ops.transpose(tokens, (0, 2, 1)), axis=1) + ops.max(maps, axis=(1, 2))
    return dense(3, "head")(means)


def operations_on_maps(x):
    maps = ops.reshape(conv(4, "source")(x), (-1, 4, 6, 4))
    return dense(3, "head")(gap(maps * ops.mean(maps, axis=(1, 2), keepdims=True)))


def separable_attention(x):
    """Keys are removed with the values that they multiply."""
    value = layers.ReLU()(dense(4, "source")(x))
    mixed = hsvit_keras.layers.SeparableAttention()(dense(1, "query")(x), dense(4, "key")(x), value)
    return dense(3, "head")(mixed)


FOLLOWED = {
    "Concatenate": (MAPS, with_other_maps(layers.Concatenate())),
    "Concatenate of others first": (MAPS, with_other_maps(layers.Concatenate(), -1)),
    "Concatenate with itself": (MAPS, twice(layers.Concatenate())),
    "Concatenate of rows": (MAPS, twice(layers.Concatenate(axis=1))),
    "Concatenate, depthwise": (
        MAPS,
        with_other_maps(
            lambda maps: layers.DepthwiseConv2D(3, use_bias=False)(layers.Concatenate()(maps))
        ),
    ),
    "Concatenate, flattened": (
        MAPS,
        lambda x: dense(2, "head")(layers.Flatten()(layers.Concatenate()([conv(4, "source")(x), x]))),
    ),
    "Multiply": (MAPS, twice(layers.Multiply())),
    "Add": (MAPS, twice(layers.Add())),
    "Subtract": (MAPS, twice(layers.Subtract())),
    "Average": (MAPS, twice(layers.Average())),
    "Maximum": (MAPS, twice(layers.Maximum())),
    "Minimum": (MAPS, twice(layers.Minimum())),
    "squeeze-and-excite": (MAPS, excited),
    "Multiply of lower rank": (MAPS, of_lower_rank),
    "Multiply by one factor": (MAPS, one_factor_of_all),
    "gate": (FEATURES, gated),
    "PReLU": (MAPS, between(layers.PReLU())),
    "PReLU of channels": (MAPS, between(layers.PReLU(shared_axes=(1, 2)))),
    "PReLU of all": (MAPS, between(layers.PReLU(shared_axes=(1, 2, 3)))),
    "PReLU of features": (FEATURES, of_features(layers.PReLU())),
    "GroupNormalization": (MAPS, between(layers.GroupNormalization(-1, center=False))),
    "SpatialDropout2D": (MAPS, between(layers.SpatialDropout2D(0.5))),
    "Dropout and noise": (
        MAPS,
        between(layers.GaussianNoise(0.5), layers.GaussianDropout(0.5), layers.AlphaDropout(0.5)),
    ),
    "UpSampling2D": (MAPS, between(layers.UpSampling2D(2, interpolation="bilinear"))),
    "Cropping2D": (MAPS, between(layers.Cropping2D(((1, 0), (0, 1))))),
    "Rescaling": (MAPS, between(layers.Rescaling(0.3))),
    "GlobalMaxPooling2D": (
        MAPS,
        lambda x: dense(2, "head")(layers.GlobalMaxPooling2D()(conv(4, "source")(x))),
    ),
    "sequences": (
        SEQUENCE,
        of_sequence(
            layers.ZeroPadding1D(1), layers.Cropping1D((1, 0)), layers.UpSampling1D(2),
            layers.DepthwiseConv1D(3, depth_multiplier=2, use_bias=False), layers.SpatialDropout1D(0.5),
        ),
    ),
    "GlobalMaxPooling1D": (
        SEQUENCE, of_sequence(layers.GlobalMaxPooling1D(), reader=dense(2, "reader"))
    ),
    "volumes": (
        VOLUME,
        of_volume(
            layers.MaxPooling3D(2), layers.ZeroPadding3D(1), layers.Cropping3D(1), layers.UpSampling3D(2),
            layers.AveragePooling3D(2), layers.SpatialDropout3D(0.5),
        ),
    ),
    "read by SeparableConv2D": (
        MAPS, between(reader=layers.SeparableConv2D(2, 3, depth_multiplier=2, name="reader"))
    ),
    "SeparableConv2D": (MAPS, between(source=layers.SeparableConv2D(4, 3, name="source"))),
    "SeparableConv1D": (SEQUENCE, of_sequence(source=layers.SeparableConv1D(4, 3, name="source"))),
    "read by SeparableConv1D": (SEQUENCE, of_sequence(reader=layers.SeparableConv1D(4, 3, name="reader"))),
    "Conv2DTranspose": (MAPS, between(source=layers.Conv2DTranspose(4, 3, strides=2, name="source"))),
    "read by Conv2DTranspose": (MAPS, between(reader=layers.Conv2DTranspose(2, 3, name="reader"))),
    "Conv1DTranspose": (
        SEQUENCE,
        of_sequence(
            source=layers.Conv1DTranspose(4, 3, name="source"),
            reader=layers.Conv1DTranspose(2, 3, name="reader"),
        ),
    ),
    "separable attention": (SEQUENCE, separable_attention),
    "operations": (FEATURES, plain_operations),
    "operations that move": (MAPS, moved),
    "operations on maps": (MAPS, operations_on_maps),
}  # fmt: skip


def with_zeros(model, source, removed):
    """The model whose source computes zeros for the removed parts."""
    layer = next(layer for layer in Graph(model).layers if layer.name == source)
    weights = layer.get_weights()
    features = layer.output.shape[-1]
    for weight in weights[1:] if "Separable" in type(layer).__name__ else weights:
        axes = [axis for axis, size in enumerate(weight.shape) if size == features]
        is_transposed = "Transpose" in type(layer).__name__ and weight.ndim > 1
        np.moveaxis(weight, axes[0] if is_transposed else -1, 0)[removed] = 0
    layer.set_weights(weights)
    return model


@pytest.mark.slow_on_jax
@pytest.mark.parametrize("name", FOLLOWED)
def test_followed(name):
    model = graph_of(*FOLLOWED[name])
    parts = hsvit_keras.slimmable_parts(model)
    kind = "mlp_units" if "source" in parts["mlp_units"] else "kernels"
    assert parts[kind]["source"] == 4
    slimmed = hsvit_keras.slim(model, **{kind: {"source": [0, 2]}})
    assert slimmed.get_layer("source").output.shape[-1] == 2
    assert slimmed.count_params() < model.count_params()
    assert_equal_outputs(slimmed, with_zeros(model, "source", [1, 3]))


def test_a_model_inside_reads_less():
    """Parts that a model inside reads are removed from its input, and its own go to a model behind it."""
    inside = keras.Model(x := keras.Input((None, None, 4)), conv(6, "inner")(layers.ReLU()(x)), name="inside")
    behind = keras.Sequential([keras.Input((6, 4, 6)), conv(2, "reader")], name="behind")
    model = graph_of(MAPS, lambda x: layers.Flatten()(behind(inside(conv(4, "source")(x)))))
    assert hsvit_keras.slimmable_parts(model)["kernels"] == {"source": 4, "inside/inner": 6}
    slimmed = hsvit_keras.slim(model, kernels={"source": [0, 2], "inside/inner": [1, 2, 5]})
    assert slimmed.get_layer("inside").input.shape == (None, None, None, 2)
    assert slimmed.get_layer("behind").input.shape == (None, 6, 4, 3)
    expected = with_zeros(with_zeros(model, "source", [1, 3]), "inner", [0, 3, 4])
    assert_equal_outputs(slimmed, expected)


def test_factors_are_removed_with_what_they_multiply():
    model = graph_of(*FOLLOWED["squeeze-and-excite"])
    assert hsvit_keras.slimmable_parts(model)["mlp_units"] == {"squeeze": 3}
    assert hsvit_keras.slimmable_parts(model)["kernels"] == {"source": 4, "squeeze2": 3}
    slimmed = hsvit_keras.slim(model, kernels={"source": [3]})
    for name in ("excite", "excite2", "depthwise"):
        assert slimmed.get_layer(name).output.shape[-1] == 1
    np.testing.assert_array_equal(
        slimmed.get_layer("excite").get_weights()[0], model.get_layer("excite").get_weights()[0][:, 3:]
    )


def test_scores_leave_out_what_belongs_to_no_part():
    """Rows of a reader that read other features do not count."""
    model = graph_of(*FOLLOWED["Concatenate"])
    for layer in model.layers:
        layer.set_weights([np.zeros_like(weight) for weight in layer.get_weights()])
    kernel = np.zeros((3, 3, 7, 2))
    kernel[:, :, 2], kernel[:, :, 4:] = 1, 5
    model.get_layer("reader").set_weights([kernel, np.zeros(2)])
    slimmed = hsvit_keras.slim(model, kernels={"source": 1, "other": 3})
    np.testing.assert_array_equal(slimmed.get_layer("reader").get_weights()[0], kernel[:, :, [2, 4, 5, 6]])


def whole_groups(x):
    """Attention groups cover the groups of a normalization."""
    maps = layers.GroupNormalization(4, name="norm")(conv(8, "source")(x))
    tokens = layers.Reshape((24, 2, 4))(maps)
    q, k, v = (layers.EinsumDense("bngi,gio->bngo", (24, 2, 4), name=name)(tokens) for name in "qkv")
    return layers.Flatten()(hsvit_keras.layers.SoftmaxAttention(2, name="attention")(q, k, v))


def test_parts_of_whole_groups_of_a_normalization():
    model = graph_of(MAPS, lambda x: dense(2, "head")(whole_groups(x)))
    assert hsvit_keras.slimmable_parts(model)["groups"] == 2
    slimmed = hsvit_keras.slim(model, groups=[1])
    assert slimmed.get_layer("norm").groups == 2
    head = model.get_layer("head")
    kernel, bias = head.get_weights()
    kernel.reshape(24, 2, 4, 2)[:, 0] = 0
    head.set_weights([kernel, bias])
    assert_equal_outputs(slimmed, model)


def own_activation(x):
    return x / (1 + ops.sum(ops.abs(x), axis=-1, keepdims=True))


def added_factors(x):
    return dense(3, "head")(layers.Add()([dense(4, "source")(x), dense(4, "other")(x)]))


def tokens_of_features(x):
    """Each feature is a token, whose score counts for all."""
    tokens = layers.Permute((2, 1))(dense(4, "source")(x))
    mixed = hsvit_keras.layers.SeparableAttention()(dense(1, "query")(tokens), tokens, tokens)
    return dense(3, "head")(layers.Flatten()(mixed))


KEPT = {
    "tokens of separable attention": (SEQUENCE, tokens_of_features),
    "GroupNormalization": (MAPS, between(layers.GroupNormalization(2))),
    "Rescaling of channels": (MAPS, between(layers.Rescaling([1.0, 2.0, 3.0, 4.0]))),
    "other values added": (FEATURES, added_factors),
    "own activation": (
        FEATURES,
        lambda x: dense(3, "head")(dense(4, "source", activation=own_activation)(x)),
    ),
    "constants": (FEATURES, of_features(lambda x: x * np.arange(4, dtype="float32"))),
    "constants added": (FEATURES, of_features(lambda x: x + np.arange(4, dtype="float32"))),
    "softmax": (FEATURES, of_features(ops.softmax)),
    "sum": (FEATURES, of_features(lambda x: x * ops.sum(x, axis=-1, keepdims=True))),
    "batch": (MAPS, of_features(lambda x: ops.reshape(x, (-1, 4)))),
    "transposed batch": (FEATURES, of_features(lambda x: ops.transpose(ops.transpose(x)))),
    "slices": (FEATURES, of_features(lambda x: x[:, 1:])),
    "Dot": (FEATURES, of_features(lambda x: layers.Dot(axes=1)([x, x]))),
    "UnitNormalization": (FEATURES, of_features(layers.UnitNormalization())),
}


@pytest.mark.once
@pytest.mark.parametrize("name", KEPT)
def test_kept_whole(name):
    parts = hsvit_keras.slimmable_parts(graph_of(*KEPT[name]))
    assert "source" not in {**parts["mlp_units"], **parts["kernels"]}


def test_one_value_for_all_features():
    """Constants that are broadcast over the features stay."""
    rows = np.arange(6, dtype="float32").reshape(6, 1, 1)
    model = graph_of(MAPS, between(lambda x: (x * rows + 0) / keras.ops.ones((1, 1))))
    slimmed = hsvit_keras.slim(model, kernels={"source": [0, 3]})
    assert_equal_outputs(slimmed, with_zeros(model, "source", [1, 2]))

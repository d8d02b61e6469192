"""Operations and separable convolutions become plain layers that compute the same."""

import keras
import numpy as np
import pytest
from keras import layers, ops

import hsvit_keras
from hsvit_keras.compression.counting import count_multiply_adds
from hsvit_keras.compression.graph import Graph
from hsvit_keras.compression.opening import open_layers
from hsvit_runtime.errors import InputError
from tests.models.running import ON_JAX, outputs

GAIN = np.array([1.0, 2.0, 3.0], "float32")


def maps():
    return keras.Input((4, 6, 3))


def rows():
    return keras.Input((5, 3))


OPERATIONS = {
    "sum": (maps, lambda x: x + ops.flip(x, 1), {"Add"}),
    "difference": (maps, lambda x: x - ops.flip(x, 1), {"Subtract"}),
    "product": (maps, lambda x: x * ops.flip(x, 1), {"Multiply"}),
    "maximum": (maps, lambda x: ops.maximum(x, ops.flip(x, 1)), {"Maximum"}),
    "product with itself": (maps, lambda x: x * x, {"Multiply"}),
    "broadcast product": (
        maps, lambda x: x * ops.mean(x, (1, 2), keepdims=True), {"Multiply", "GlobalAveragePooling2D"},
    ),
    "number added": (maps, lambda x: 3 + x, {"Rescaling"}),
    "number subtracted": (maps, lambda x: x - 3, {"Rescaling"}),
    "subtracted from a number": (maps, lambda x: 3 - x, {"Rescaling"}),
    "numbers of channels": (maps, lambda x: x * GAIN, {"Rescaling"}),
    "divided": (maps, lambda x: x / 7, {"Rescaling"}),
    "negative": (maps, lambda x: -x, {"Rescaling"}),
    "reshape": (maps, lambda x: ops.reshape(x, (-1, 24, 3)), {"Reshape"}),
    "expand_dims": (rows, lambda x: ops.expand_dims(x, 1), {"Reshape"}),
    "squeeze": (rows, lambda x: ops.squeeze(layers.Conv1D(2, 5)(x), 1), {"Reshape", "Conv1D"}),
    "transpose": (maps, lambda x: ops.transpose(x, (0, 3, 1, 2)), {"Permute"}),
    "swapaxes": (maps, lambda x: ops.swapaxes(x, 1, -1), {"Permute"}),
    "concatenate": (maps, lambda x: ops.concatenate([x, ops.flip(x, 1)], axis=2), {"Concatenate"}),
    "mean": (maps, lambda x: ops.mean(x, axis=(1, 2)), {"GlobalAveragePooling2D"}),
    "mean of rows": (rows, lambda x: ops.mean(x, axis=-2), {"GlobalAveragePooling1D"}),
    "max": (maps, lambda x: ops.max(x, axis=[1, 2], keepdims=True), {"GlobalMaxPooling2D"}),
    "relu": (maps, ops.relu, {"ReLU"}),
    "relu6": (maps, lambda x: ops.relu6(4 * x), {"ReLU", "Rescaling"}),
    "leaky_relu": (maps, lambda x: ops.leaky_relu(x, 0.3), {"LeakyReLU"}),
    "silu": (maps, ops.silu, {"Activation"}),
    "sigmoid": (maps, ops.sigmoid, {"Activation"}),
    "tanh": (maps, ops.tanh, {"Activation"}),
    "hard_silu": (maps, ops.hard_silu, {"Activation"}),
    "gelu": (maps, lambda x: ops.gelu(x, approximate=False), {"Activation"}),
    "elu": (maps, lambda x: ops.elu(x, 0.5), {"ELU"}),
    "softmax": (maps, lambda x: ops.softmax(x, axis=1), {"Softmax"}),
}  # fmt: skip
# No layer computes it, or one of another batch would.
KEPT = {
    "array of positions": (maps, lambda x: x + np.ones((6, 3), "float32")),
    "maximum of a number": (maps, lambda x: ops.maximum(x, 0.5)),
    "approximate gelu": (maps, ops.gelu),
    "batch transposed": (maps, lambda x: ops.transpose(x, (1, 0, 2, 3))),
    "batch reshaped": (maps, lambda x: ops.reshape(x, (-1, 3))),
    "mean of all": (maps, lambda x: ops.mean(x, axis=(1, 2, 3))),
    "mean of channels": (maps, lambda x: ops.mean(x, axis=-1)),
    "divided by a tensor": (maps, lambda x: ops.flip(x, 1) / (x * x + 1)),
    "other rank": (maps, lambda x: x + ops.flip(x, 1)[0]),
}


def made(make_input, computation):
    given = make_input()
    return keras.Model(given, computation(given))


def numbers(model):
    return np.random.default_rng(0).normal(size=(2, *model.input_shape[1:])).astype("float32")


def classes(model):
    graph = Graph(model)
    return {type(layer).__name__ for layer in graph.layers} - {"InputLayer"}


@pytest.mark.slow_on_jax
@pytest.mark.parametrize("form", OPERATIONS)
def test_operations_become_layers(form):
    make_input, computation, expected = OPERATIONS[form]
    model = made(make_input, computation)
    opened = open_layers(model)
    assert classes(opened) == expected
    given = numbers(model)
    np.testing.assert_allclose(outputs(opened, given), outputs(model, given), rtol=1e-6, atol=1e-6)


@pytest.mark.slow_on_jax
@pytest.mark.parametrize("form", KEPT)
def test_other_operations_are_kept(form):
    model = made(*KEPT[form])
    opened = open_layers(model)
    last = keras.tree.flatten(opened.outputs)[0]._keras_history.operation
    assert not isinstance(last, keras.Layer)
    np.testing.assert_allclose(
        outputs(opened, numbers(model)), outputs(model, numbers(model)), rtol=1e-6, atol=1e-6
    )


def of_the_backend(name):
    if ON_JAX:
        import jax

        return getattr(jax.nn, name)
    import tensorflow as tf

    return getattr(tf.nn, name)


@pytest.mark.parametrize("name", ["relu", "relu6", "swish", "sigmoid", "softplus"])
def test_activations_of_the_backend(name):
    """As an argument and as a layer; passes then know them, and models can be saved."""
    function = of_the_backend(name)
    given = keras.Input((3,))
    model = keras.Model(given, layers.Activation(function)(layers.Dense(4, activation=function)(given)))
    opened = open_layers(model)
    found = {layer.activation for layer in opened.layers[1:]}
    assert found == {keras.activations.get(name)}
    np.testing.assert_allclose(outputs(opened, numbers(model)), outputs(model, numbers(model)), atol=1e-6)


@pytest.mark.slow_on_jax
@pytest.mark.parametrize(
    "convolution", [layers.Conv2D, layers.DepthwiseConv2D, layers.SeparableConv2D, layers.Conv2DTranspose]
)
def test_layers_as_activations(convolution, tmp_path):
    """They stand in the graph then; with weights, Keras itself would lose those when it saves the model."""
    size = {} if convolution is layers.DepthwiseConv2D else {"filters": 5}
    slopes = layers.PReLU(shared_axes=(1, 2), alpha_initializer="random_uniform")
    given = keras.Input((6, 6, 3))
    leaky = layers.Conv2D(4, 1, activation=layers.LeakyReLU(0.1), name="leaky")(given)
    model = keras.Model(given, convolution(kernel_size=3, activation=slopes, name="sloped", **size)(leaky))
    slopes.trainable = False
    opened = open_layers(model)
    assert {"LeakyReLU", "PReLU"} <= classes(opened)
    assert not opened.get_layer("sloped_activation").trainable and opened.get_layer("sloped").trainable
    quantized = hsvit_keras.calibrate(model, [images := numbers(model)])
    assert {type(layer) for layer in quantized.layers} >= {layers.LeakyReLU, layers.PReLU}
    expected = outputs(model, images)
    opened.save(tmp_path / "opened.keras")
    for copy in (opened, keras.models.load_model(tmp_path / "opened.keras")):
        np.testing.assert_allclose(outputs(copy, images), expected, atol=1e-6)
    removed = hsvit_keras.remove_quantization(quantized)
    np.testing.assert_allclose(outputs(removed, images), expected, atol=1e-6)


def test_copies_do_not_share_activations():
    slopes = layers.PReLU(alpha_initializer="ones")
    model = keras.Sequential(
        [keras.Input((3,)), layers.Dense(4, activation=slopes), layers.Dense(2), layers.BatchNormalization()]
    )
    copy = hsvit_keras.fold_batch_norm(model)
    expected = outputs(copy, numbers(model))
    slopes.set_weights([np.zeros(4)])
    np.testing.assert_array_equal(outputs(copy, numbers(model)), expected)


class NamelessActivation(layers.Layer):
    """Its own config does not fit it."""

    def __init__(self):
        super().__init__()

    def call(self, x):
        return layers.ReLU(6.0)(x)


def test_activations_that_cannot_be_made_again_are_refused():
    given = keras.Input((3,))
    hidden = layers.Dense(4, activation=NamelessActivation(), name="nameless")(given)
    model = keras.Model(given, layers.BatchNormalization()(layers.Dense(2)(hidden)))
    with pytest.raises(InputError, match=r"'nameless' of class Dense cannot be copied.*NamelessActivation"):
        hsvit_keras.fold_batch_norm(model)


def test_functions_of_ones_own_are_kept():
    def relu(x):
        return ops.maximum(x, 0.0) + 1.0

    given = keras.Input((3,))
    model = keras.Model(given, layers.Dense(4, activation=relu)(given))
    assert open_layers(model) is model


def test_integers_are_left_alone():
    given = keras.Input((3,), dtype="int32")
    model = keras.Model(given, given + 1)
    assert open_layers(model) is model


def test_operations_keep_their_names_and_their_precision():
    given = keras.Input((3,), dtype="bfloat16")
    opened = open_layers(keras.Model(given, 2 * given))
    (layer,) = opened.layers[1:]
    assert layer.name.startswith("multiply") and layer.compute_dtype == "bfloat16"


def test_operations_inside_of_a_model():
    inside = keras.Model(x := maps(), ops.relu(x) + 1, name="inside")
    model = keras.Model(x := maps(), inside(inside(x)))
    opened = open_layers(model)
    assert classes(opened) == {"ReLU", "Rescaling"}
    np.testing.assert_allclose(outputs(opened, numbers(model)), outputs(model, numbers(model)), atol=1e-6)


SEPARABLE = {
    "maps": (maps, layers.SeparableConv2D(5, 3, 2, "same", depth_multiplier=2, activation="relu")),
    "rows": (rows, layers.SeparableConv1D(5, 3, dilation_rate=2, use_bias=False)),
}


@pytest.mark.parametrize("kind", SEPARABLE)
def test_separable_convolutions(kind):
    make_input, layer = SEPARABLE[kind]
    layer = type(layer).from_config({**layer.get_config(), "name": "separable"})
    model = made(make_input, layer)
    layer.trainable = False
    opened = open_layers(model)
    rank = 1 if kind == "rows" else 2
    assert classes(opened) == {f"DepthwiseConv{rank}D", f"Conv{rank}D"}
    assert [layer.name for layer in opened.layers[1:]] == ["separable_depthwise", "separable"]
    assert opened.trainable_weights == []
    given = numbers(model)
    np.testing.assert_allclose(outputs(opened, given), outputs(model, given), atol=1e-6)
    assert open_layers(model, keep=["separable"]) is model


def test_multiply_adds_of_a_separable_convolution():
    """At each of 4 x 6 pixels: 9 for each of 6 channels, then 6 for each of 5."""
    model = made(maps, layers.SeparableConv2D(5, 3, padding="same", depth_multiplier=2))
    assert count_multiply_adds(open_layers(model)) == 4 * 6 * (9 * 6 + 6 * 5)

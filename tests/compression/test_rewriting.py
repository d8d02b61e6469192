"""`Graph` and `rewrite`: connections between layers, copies, replaced layers and calls."""

import keras
import numpy as np
import pytest
from keras import layers

from hsvit_keras.compression import fold_batch_norm, slim
from hsvit_keras.compression.graph import Graph
from hsvit_keras.compression.rewriting import rewrite

IMAGES = np.random.default_rng(0).normal(size=(2, 8)).astype("float32")


def diamond():
    """inputs -> a -> (b, c) -> sum(b, c)"""
    inputs = keras.Input((8,), name="inputs")
    a = layers.Dense(4, name="a")(inputs)
    total = layers.Add(name="sum")([layers.Dense(4, name="b")(a), layers.Dense(4, name="c")(a)])
    return keras.Model(inputs, total)


def outputs(model):
    return keras.ops.convert_to_numpy(model(IMAGES))


def names(found):
    return [layer.name for layer in found]


def test_graph():
    model = diamond()
    graph = Graph(model)
    assert names(graph.producers(model.get_layer("sum"))) == ["b", "c"]
    assert names(graph.producers(model.get_layer("a"))) == ["inputs"]
    assert sorted(names(graph.consumers(model.get_layer("a")))) == ["b", "c"]
    assert graph.consumers(model.get_layer("sum")) == []
    assert graph.is_output(model.get_layer("sum"))
    assert not graph.is_output(model.get_layer("b"))
    assert all(graph.is_called_once(layer) for layer in graph.layers[1:])
    assert names(graph.layers) == ["inputs", "a", "b", "c", "sum"]


def test_graph_ignores_other_models_with_the_same_layers():
    model = diamond()
    layers.Dense(3, name="elsewhere")(model.get_layer("b").output)
    model.get_layer("a")(keras.Input((8,)))
    assert names(Graph(model).consumers(model.get_layer("b"))) == ["sum"]
    assert Graph(model).is_called_once(model.get_layer("a"))


def test_graph_detects_shared_layers():
    inputs = keras.Input((8,))
    shared = layers.Dense(8, name="shared")
    model = keras.Model(inputs, shared(shared(inputs)))
    assert not Graph(model).is_called_once(model.get_layer("shared"))


def test_a_copy_has_weights_of_its_own():
    model = diamond()
    copy = rewrite(model)
    np.testing.assert_array_equal(outputs(copy), outputs(model))
    copy.get_layer("a").set_weights([2 * weight for weight in copy.get_layer("a").get_weights()])
    assert np.abs(outputs(copy) - outputs(model)).max() > 1e-3


def test_a_replaced_layer_gets_the_weights():
    model = diamond()

    def replace(path, layer):
        return layers.Dense(4, activation="relu", name="b") if path == "b" else None

    kernel, bias = model.get_layer("a").get_weights()
    hidden = IMAGES @ kernel + bias
    b, c = (hidden @ layer.get_weights()[0] for layer in (model.get_layer("b"), model.get_layer("c")))
    np.testing.assert_allclose(outputs(rewrite(model, replace)), np.maximum(b, 0) + c, atol=1e-5)


def test_a_replaced_layer_with_other_weights():
    model = diamond()

    def replace(path, layer):
        if path != "c":
            return None
        return layers.Dense(4, use_bias=False, name="c"), [np.zeros((4, 4), "float32")]

    b = keras.Model(model.input, model.get_layer("b").output)
    np.testing.assert_allclose(outputs(rewrite(model, replace)), outputs(b), atol=1e-6)


def test_call_may_leave_out_and_insert_layers():
    model = diamond()

    def call(path, layer, *args, **kwargs):
        if path == "a":
            args = (layers.Rescaling(3.0, name="before")(args[0]),)
        result = layer(*args, **kwargs)
        return args[0] if path == "c" else result

    rewritten = rewrite(model, call=call)
    assert "c" not in names(rewritten.layers)
    a = keras.Model(model.input, model.get_layer("a").output)
    b = keras.Model(model.input, model.get_layer("b").output)
    expected = np.asarray(a(3 * IMAGES)) + np.asarray(b(3 * IMAGES))
    np.testing.assert_allclose(outputs(rewritten), expected, atol=1e-5)


def test_fixed_batch_size():
    model = rewrite(diamond(), batch_size=2)
    assert model.input_shape == (2, 8)
    assert model.output_shape == (2, 4)


def test_several_inputs_and_outputs_keep_their_structure():
    left, right = keras.Input((8,), name="left"), keras.Input((8,), name="right")
    model = keras.Model(
        {"left": left, "right": right},
        {"sum": layers.Add()([left, right]), "twice": layers.Rescaling(2.0)(left)},
    )
    copy = rewrite(model)
    result = copy({"left": IMAGES, "right": 3 * IMAGES})
    np.testing.assert_allclose(np.asarray(result["sum"]), 4 * IMAGES, rtol=1e-6)
    np.testing.assert_allclose(np.asarray(result["twice"]), 2 * IMAGES, rtol=1e-6)


@pytest.mark.parametrize("given", [lambda image: image, lambda image: [image]], ids=["bare", "list"])
def test_a_nested_model_declares_its_one_input_as_a_list(given):
    """Keras takes it either way; a warning about it would be an error here."""
    image = keras.Input((8,), name="image")
    inside = keras.Model([image], layers.Dense(4, name="dense")(image), name="inside")
    outer = keras.Input((8,), name="outer")
    copy = rewrite(keras.Model(outer, inside(given(outer))))
    kernel, _ = inside.get_layer("dense").get_weights()
    np.testing.assert_allclose(outputs(copy), IMAGES @ kernel, atol=1e-5)


def halved(x):
    return x / 2


def test_activation_functions_of_ones_own_are_kept():
    """No registry knows them, so they cannot be found by their name."""
    inputs = keras.Input((8,))
    hidden = layers.BatchNormalization()(layers.Dense(4, activation=halved)(inputs))
    model = keras.Model(inputs, layers.Dense(3, activation=halved)(hidden))
    for copy in (rewrite(model), fold_batch_norm(model), slim(model)):
        np.testing.assert_allclose(outputs(copy), outputs(model), rtol=1e-5)

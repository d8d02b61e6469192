"""Opened layers compute what Keras' own do, and passes then see what is inside of them."""

import keras
import numpy as np
import pytest
from keras import layers, ops

import hsvit_keras
from hsvit_keras.compression.counting import count_multiply_adds
from hsvit_keras.compression.graph import Graph
from hsvit_keras.compression.opening import open_layers
from hsvit_keras.compression.quantized_layers import QuantizedConv2D, QuantizedDense
from hsvit_keras.layers import SoftmaxAttention
from hsvit_runtime.errors import InputError

RNG = np.random.default_rng(0)

pytestmark = pytest.mark.slow_on_jax


def tokens(count=7, dim=6, name=None):
    return keras.Input((count, dim), name=name)


def self_attention(layer):
    x = tokens()
    return keras.Model(x, layer(x, x))


def cross_attention(layer):
    query, value, key = tokens(5, 8, "query"), tokens(7, 8, "value"), tokens(7, 4, "key")
    return keras.Model([query, value, key], layer(query, value=value, key=key))


def shared_attention(layer):
    query, value = tokens(5, 6, "query"), tokens(7, 6, "value")
    return keras.Model([query, value], [layer(query, value), layer(value, query, training=False)])


def in_a_model(layer):
    inside = keras.Model(x := tokens(), layer(x, x), name="inside")
    return keras.Model(x := tokens(), layers.LayerNormalization(name="norm")(inside(x)), name="outside")


def with_biases(model):
    """The model with weights far from their initial zeros."""
    model.set_weights([RNG.normal(0, 0.4, weight.shape) for weight in model.get_weights()])
    return model


def inputs_of(model, count=3):
    return keras.tree.map_structure(
        lambda x: RNG.normal(size=(count, *x.shape[1:])).astype("float32"), model.input
    )


def assert_equal_outputs(found, expected):
    inputs = inputs_of(expected)
    for pair in zip(*(keras.tree.flatten(m(inputs)) for m in (found, expected)), strict=True):
        one, other = map(ops.convert_to_numpy, pair)
        np.testing.assert_allclose(one, other, atol=2e-6 * max(1, np.abs(other).max()))  # float32 rounding


def classes_of(model):
    return {type(operation) for operation in Graph(model).operations}


# With dropout, for Keras computes narrow values without it on TensorFlow alone.
NARROW = {"value_dim": 2, "dropout": 0.1}
WIRINGS = (self_attention, cross_attention, shared_attention, in_a_model)
ATTENTION = {
    "plain": lambda: layers.MultiHeadAttention(3, 4, name="mha"),
    "narrow values": lambda: layers.MultiHeadAttention(3, 4, **NARROW, name="mha"),
    "without bias": lambda: layers.MultiHeadAttention(2, 5, use_bias=False, name="mha"),
    "another width": lambda: layers.MultiHeadAttention(2, 4, output_shape=6, name="mha"),
    "dropout": lambda: layers.MultiHeadAttention(2, 4, dropout=0.5, name="mha"),
    "grouped": lambda: layers.GroupQueryAttention(4, 6, 2, name="mha"),
    "grouped without bias": lambda: layers.GroupQueryAttention(4, 3, 1, use_bias=False, name="mha"),
}


@pytest.mark.slow_on_jax
@pytest.mark.parametrize("wiring", WIRINGS)
@pytest.mark.parametrize("kind", ATTENTION)
def test_attention(kind, wiring):
    model = with_biases(wiring(ATTENTION[kind]()))
    opened = open_layers(model)
    assert_equal_outputs(opened, model)
    assert classes_of(opened) <= {
        layers.InputLayer, layers.Dense, SoftmaxAttention, layers.LayerNormalization,
    }  # fmt: skip
    names = {Graph(opened).path(layer).rpartition("/")[2] for layer in Graph(opened).layers}
    assert {"mha_query", "mha_key", "mha_value", "mha", "mha_output"} <= names


def test_several_axes_of_outputs():
    model = with_biases(self_attention(layers.MultiHeadAttention(2, 4, output_shape=(3, 5))))
    opened = open_layers(model)
    assert opened.output_shape == model.output_shape == (None, 7, 3, 5)
    assert_equal_outputs(opened, model)


def test_heads_of_keys_and_values_are_repeated():
    layer = layers.GroupQueryAttention(4, 6, 2, name="gqa")
    model = with_biases(self_attention(layer))
    kernel = ops.convert_to_numpy(open_layers(model).get_layer("gqa_key").kernel).reshape(6, 6, 4)
    original = ops.convert_to_numpy(layer._key_dense.kernel)
    for head in range(6):
        np.testing.assert_array_equal(kernel[:, head], original[:, head // 3])


def masked():
    x = tokens()
    y = layers.Masking()(x)
    return keras.Model(x, layers.MultiHeadAttention(2, 4)(y, y))


def masked_outside():
    """A mask passes into a model inside, where no tensor of the graph shows it."""
    inside = self_attention(layers.MultiHeadAttention(2, 4))
    return keras.Model(x := tokens(), inside(layers.Masking()(x)))


def with_attention_mask():
    x, mask = tokens(), keras.Input((7, 7), dtype="bool")
    return keras.Model([x, mask], layers.MultiHeadAttention(2, 4)(x, x, attention_mask=mask))


def of_any_length():
    x = tokens(None)
    return keras.Model(x, layers.MultiHeadAttention(2, 4)(x, x))


def of_maps():
    x = keras.Input((3, 4, 6))
    return keras.Model(x, layers.MultiHeadAttention(2, 4, attention_axes=(2,))(x, x))


def with_scores():
    x = tokens()
    return keras.Model(x, layers.MultiHeadAttention(2, 4)(x, x, return_attention_scores=True))


def called(**arguments):
    x = tokens()
    return keras.Model(x, layers.MultiHeadAttention(2, 4)(x, x, **arguments))


KEPT = {
    "implicit mask": masked,
    "mask from outside": masked_outside,
    "attention mask": with_attention_mask,
    "causal": lambda: called(use_causal_mask=True),
    "scores": with_scores,
    "any length": of_any_length,
    "maps": of_maps,
    "gate": lambda: self_attention(layers.MultiHeadAttention(2, 4, use_gate=True)),
    "window": lambda: self_attention(layers.MultiHeadAttention(2, 4, sliding_window=2)),
    "constraint": lambda: self_attention(layers.MultiHeadAttention(2, 4, kernel_constraint="max_norm")),
    "subclass": lambda: self_attention(type("Mine", (layers.MultiHeadAttention,), {})(2, 4)),
    "nothing to open": lambda: keras.Sequential([tokens(), layers.Dense(3)]),
}


@pytest.mark.once
@pytest.mark.filterwarnings("ignore:.*with a mask attached")  # the mask of the outer model ends there
@pytest.mark.parametrize("case", KEPT)
def test_what_is_kept(case):
    model = KEPT[case]()
    assert open_layers(model) is model


def test_keep_names_layers_and_models():
    model = in_a_model(layers.MultiHeadAttention(2, 4, name="mha"))
    assert open_layers(model, keep=["inside/mha"]) is open_layers(model, keep=["inside"]) is model
    assert open_layers(model, keep=["mha"]) is not model


def test_dropout_of_weights_is_kept_for_training():
    model = self_attention(layers.MultiHeadAttention(2, 4, dropout=0.5, name="mha"))
    opened = open_layers(model)
    assert opened.get_layer("mha").dropout_rate == 0.5
    inputs = inputs_of(model)
    first, second = (ops.convert_to_numpy(opened(inputs, training=True)) for _ in range(2))
    assert not np.allclose(first, second)


def test_frozen_layers_stay_frozen_and_regularizers_are_carried():
    x = tokens()
    frozen = layers.MultiHeadAttention(2, 4, name="frozen")
    free = layers.MultiHeadAttention(2, 4, kernel_regularizer=keras.regularizers.L2(0.1), name="free")
    model = keras.Model(x, free(frozen(x, x), x))
    frozen.trainable = False
    free.query_dense.trainable = False
    opened = open_layers(model)
    trained = {layer.name for layer in opened.layers if layer.trainable_weights}
    assert trained == {"free_key", "free_value", "free_output"}
    np.testing.assert_allclose(float(sum(opened.losses)), float(sum(model.losses)), rtol=1e-5)


def test_names_that_are_taken():
    x = tokens()
    y = layers.Dense(6, name="mha_query")(x)
    opened = open_layers(keras.Model(x, layers.MultiHeadAttention(2, 4, name="mha")(y, y)))
    assert {"mha_query", "mha_query_1"} <= {layer.name for layer in opened.layers}


def test_half_precision():
    layer = layers.MultiHeadAttention(2, 4, dtype="mixed_bfloat16", name="mha")
    opened = open_layers(with_biases(self_attention(layer)))
    assert {opened.get_layer(name).compute_dtype for name in ("mha", "mha_query")} == {"bfloat16"}


def test_saved_and_loaded(tmp_path):
    opened = open_layers(with_biases(self_attention(ATTENTION["narrow values"]())))
    opened.save(tmp_path / "model.keras")
    assert_equal_outputs(keras.models.load_model(tmp_path / "model.keras"), opened)


# ---- patches ---------------------------------------------------------------------------------------
def patches(then, size=4, **arguments):
    image = keras.Input((12, 8, 3))
    return with_biases(keras.Model(image, then(ops.image.extract_patches(image, size, **arguments))))


def by_operation(x):
    return ops.reshape(x, (-1, 6, 48))


DENSE = {
    "reshape": lambda x: layers.Dense(5, name="dense")(by_operation(x)),
    "reshape layer": lambda x: layers.Dense(5, "gelu", name="dense")(layers.Reshape((6, 48))(x)),
    "no reshape": lambda x: layers.Dense(5, use_bias=False, name="dense")(x),
}


@pytest.mark.parametrize("form", DENSE)
def test_projected_patches_are_a_convolution(form):
    model = patches(DENSE[form])
    opened = open_layers(model)
    assert_equal_outputs(opened, model)
    assert classes_of(opened) <= {layers.InputLayer, layers.Conv2D, layers.Reshape}
    assert opened.get_layer("dense").strides == (4, 4)
    assert opened.get_layer("dense").trainable
    assert opened.count_params() == model.count_params()


def twice(x):
    x = by_operation(x)
    return layers.Concatenate()([layers.Dense(5)(x), layers.Dense(4)(x)])


COPIED = {
    "no Dense": by_operation,
    "two readers": twice,
    "parts of patches": lambda x: layers.Dense(5)(layers.Reshape((24, 12))(x)),
    "normalized": lambda x: layers.Dense(5)(layers.LayerNormalization()(by_operation(x))),
    "output": lambda x: x,
}


@pytest.mark.once
@pytest.mark.parametrize("form", COPIED)
def test_other_patches_are_copied_by_a_convolution(form):
    model = patches(COPIED[form])
    opened = open_layers(model)
    (convolution,) = [layer for layer in opened.layers if isinstance(layer, layers.Conv2D)]
    assert not convolution.trainable
    image = np.arange(12 * 8 * 3, dtype="float32").reshape(1, 12, 8, 3) / 288
    np.testing.assert_allclose(
        ops.convert_to_numpy(opened(image)), ops.convert_to_numpy(model(image)), atol=2e-6
    )
    assert len(opened.trainable_weights) == len(model.trainable_weights)


@pytest.mark.once
@pytest.mark.parametrize(
    "arguments",
    [{"strides": 2}, {"padding": "same", "size": 5}, {"strides": 1, "dilation_rate": 2}, {"size": (3, 2)}],
    ids=str,
)
@pytest.mark.parametrize("then", [lambda x: x, lambda x: layers.Dense(5)(x)], ids=["copied", "projected"])
def test_windows_of_patches(arguments, then):
    model = patches(then, **arguments)
    opened = open_layers(model)
    assert any(isinstance(layer, layers.Conv2D) for layer in opened.layers)
    assert_equal_outputs(opened, model)


# ---- passes ----------------------------------------------------------------------------------------
def block(x, i):
    y = layers.LayerNormalization(name=f"norm{i}")(x)
    y = layers.MultiHeadAttention(4, 4, dropout=0.1, name=f"attention{i}")(y, y)
    x = layers.Add(name=f"attention_add{i}")([x, y])
    y = layers.Dense(32, "gelu", name=f"hidden{i}")(layers.LayerNormalization(name=f"mlp_norm{i}")(x))
    return layers.Add(name=f"mlp_add{i}")([x, layers.Dense(16, name=f"output{i}")(y)])


def vision_transformer():
    """Of Keras' example of image classification, small."""
    image = keras.Input((16, 16, 3), name="image")
    x = ops.reshape(ops.image.extract_patches(image, 4), (-1, 16, 48))
    x = layers.Dense(16, name="projection")(x)
    x = hsvit_keras.layers.PositionEmbedding(name="position")(x)
    x = layers.LayerNormalization(name="norm")(block(block(x, 0), 1))
    x = layers.Dense(24, "gelu", name="head_hidden")(layers.Flatten(name="flatten")(x))
    return with_biases(keras.Model(image, layers.Dense(5, name="head")(x), name="vit"))


def inside_another():
    image = keras.Input((16, 16, 3))
    return keras.Model(image, layers.Softmax(name="softmax")(vision_transformer()(image)), name="outer")


@pytest.mark.once
@pytest.mark.parametrize(("make", "prefix"), [(vision_transformer, ""), (inside_another, "vit/")])
def test_quantization_sees_the_projections(make, prefix):
    quantized = hsvit_keras.quantize_aware(make())
    graph = Graph(quantized)
    classes = {graph.path(layer): type(layer) for layer in graph.layers}
    assert classes[f"{prefix}projection"] is QuantizedConv2D
    for part in ("query", "key", "value", "output"):
        assert classes[f"{prefix}attention0_{part}"] is QuantizedDense
    float_again = hsvit_keras.remove_quantization(quantized)
    assert type(Graph(float_again).layers[1]) in (layers.Conv2D, layers.Dense)


def test_skip_of_what_is_opened():
    model = vision_transformer()
    with pytest.warns(UserWarning, match=r"attention0 \(MultiHeadAttention\)"):
        quantized = hsvit_keras.quantize_aware(model, skip=["attention0"])
    assert type(quantized.get_layer("attention0")) is layers.MultiHeadAttention
    quantized = hsvit_keras.quantize_aware(model, skip=["attention0_query", "projection"])
    assert type(quantized.get_layer("attention0_query")) is layers.Dense
    assert type(quantized.get_layer("attention0_key")) is QuantizedDense
    assert type(quantized.get_layer("projection")) is layers.Conv2D
    with pytest.raises(InputError, match="attention2"):
        hsvit_keras.quantize_aware(model, skip=["attention2"])


@pytest.mark.once
@pytest.mark.parametrize(("make", "prefix"), [(vision_transformer, ""), (inside_another, "vit/")])
def test_slimming_removes_heads(make, prefix):
    model = make()
    assert hsvit_keras.slimmable_parts(model)["heads"] == {
        f"{prefix}attention0": 4, f"{prefix}attention1": 4,
    }  # fmt: skip
    slimmed = hsvit_keras.slim(model, heads={f"{prefix}attention0": [1, 3]})
    # By hand: a head is removed where the rows of the output's kernel that read it are zero.
    expected = make()
    expected.set_weights(model.get_weights())
    attention = next(layer for layer in Graph(expected).layers if layer.name == "attention0")
    kernel = ops.convert_to_numpy(attention.output_dense.kernel).copy()
    kernel[[0, 2]] = 0
    attention.output_dense.kernel.assign(kernel)
    assert_equal_outputs(slimmed, expected)
    # Two heads of four features: three projections to them and one back, of dim 16.
    assert model.count_params() - slimmed.count_params() == 4 * 16 * 8 + 3 * 8


@pytest.mark.once
def test_slimming_of_narrow_values():
    model = with_biases(self_attention(layers.MultiHeadAttention(3, 4, **NARROW, name="mha")))
    slimmed = hsvit_keras.slim(model, heads={"mha": [2]})
    widths = {layer.name: layer.output.shape[-1] for layer in slimmed.layers}
    assert [widths[f"mha_{part}"] for part in ("query", "key", "value", "output")] == [4, 4, 2, 6]
    kernel = ops.convert_to_numpy(model.get_layer("mha").output_dense.kernel).copy()
    kernel[:2] = 0
    model.get_layer("mha").output_dense.kernel.assign(kernel)
    assert_equal_outputs(slimmed, model)


def test_multiply_adds_are_those_of_the_projections():
    model = vision_transformer()
    assert count_multiply_adds(open_layers(model)) == count_multiply_adds(model)


def test_layers_that_keras_quantized():
    model = self_attention(layers.MultiHeadAttention(2, 4, name="mha"))
    model.get_layer("mha").query_dense.quantize("int8")
    for use in (hsvit_keras.quantize_aware, hsvit_keras.slimmable_parts):
        with pytest.raises(InputError, match="'mha' was quantized by Keras"):
            use(model)

"""Opened blocks compute what their code computes, in training, too, or stay closed."""

import keras
import numpy as np
import pytest
from keras import layers, ops

import hsvit_keras
from hsvit_keras.compression.counting import count_multiply_adds
from hsvit_keras.compression.graph import Graph
from hsvit_keras.compression.opening import open_layers
from hsvit_keras.layers import EdgePadding2D
from hsvit_runtime.errors import InputError
from tests.compression.test_opening import assert_equal_outputs, inputs_of, with_biases

RNG = np.random.default_rng(0)

pytestmark = pytest.mark.slow_on_jax


class MLP(layers.Layer):
    """Two layers of one name and one Dropout for both."""

    def __init__(self, dim, **kwargs):
        super().__init__(**kwargs)
        self.hidden = layers.Dense(2 * dim, "gelu", name="dense")
        self.outer = layers.Dense(dim, name="dense")
        self.dropout = layers.Dropout(0.3, name="dropout")

    def build(self, input_shape):
        self.hidden.build(input_shape)
        self.outer.build((*input_shape[:-1], self.hidden.units))

    def call(self, tokens):
        return self.dropout(self.outer(self.dropout(self.hidden(tokens))))


class EncoderBlock(layers.Layer):
    """A block in a block, attention, a scale of its own and sums by operators."""

    def __init__(self, dim, **kwargs):
        super().__init__(**kwargs)
        self.norm = layers.LayerNormalization(name="norm")
        self.attention = layers.MultiHeadAttention(2, 4, name="attention")
        self.mlp = MLP(dim, name="mlp")

    def build(self, input_shape):
        self.scale = self.add_weight(shape=input_shape[-1:], initializer="ones", name="scale")
        self.norm.build(input_shape)
        self.attention.build(input_shape, input_shape)
        self.mlp.build(input_shape)

    def call(self, tokens, training=None):
        normalized = self.norm(tokens)
        tokens = tokens + self.scale * self.attention(normalized, normalized, training=training)
        return tokens + self.mlp(tokens)


class Embedding(layers.Layer):
    """Patches, a class token repeated for the batch, and positions looked up anew in each call."""

    def __init__(self, dim, count, **kwargs):
        super().__init__(**kwargs)
        self.patches = layers.Conv2D(dim, 4, 4, name="patches")
        self.position = layers.Embedding(count + 1, dim, name="position")
        self.numbers = ops.arange(count + 1)

    def build(self, input_shape):
        self.patches.build(input_shape)
        self.position.build()
        self.token = self.add_weight(shape=(1, 1, self.patches.filters), name="token")

    def call(self, image):
        tokens = self.patches(image)
        batch, *_, dim = ops.shape(tokens)
        tokens = ops.reshape(tokens, (batch, -1, dim))
        return ops.concatenate([ops.tile(self.token, (batch, 1, 1)), tokens], axis=1) + self.position(
            self.numbers
        )


class ConvBlock(layers.Layer):
    def __init__(self, filters, **kwargs):
        super().__init__(**kwargs)
        self.conv = layers.Conv2D(filters, 3, padding="same", use_bias=False, name="conv")
        self.norm = layers.BatchNormalization(name="norm")

    def build(self, input_shape):
        self.conv.build(input_shape)
        self.norm.build((*input_shape[:-1], self.conv.filters))

    def call(self, maps, training=None):
        return ops.relu(self.norm(self.conv(maps), training=training))


def vision_transformer():
    image = keras.Input((8, 8, 3), name="image")
    tokens = Embedding(8, 4, name="embedding")(image)
    for i in range(2):
        tokens = EncoderBlock(8, name=f"block{i}")(tokens)
    return with_biases(keras.Model(image, layers.Dense(3, name="head")(tokens[:, 0]), name="vit"))


def convolutional():
    image = keras.Input((8, 8, 3), name="image")
    maps = ConvBlock(4, name="block")(ConvBlock(4, name="stem")(image))
    return with_statistics(keras.Model(image, layers.Dense(3)(layers.GlobalAveragePooling2D()(maps))))


def with_statistics(model):
    for layer in model._flatten_layers():
        if isinstance(layer, layers.BatchNormalization):
            layer.set_weights(
                [np.random.default_rng(0).uniform(0.5, 1.5, w.shape) for w in layer.get_weights()]
            )
    return model


def classes_of(model):
    graph = Graph(model)
    return {graph.path(layer): type(layer).__name__ for layer in graph.layers}


MODELS = {"vision transformer": vision_transformer, "convolutional": convolutional}


@pytest.mark.parametrize("name", MODELS)
def test_opened_blocks_compute_the_same(name, tmp_path):
    model = MODELS[name]()
    weights, calls = model.get_weights(), [len(layer._inbound_nodes) for layer in model._flatten_layers()]
    opened = open_layers(model, check=False)
    assert_equal_outputs(opened, model)
    assert opened.count_params() == model.count_params()
    assert len(opened.trainable_weights) == len(model.trainable_weights)
    assert not {"Embedding", "EncoderBlock", "MLP", "ConvBlock"} & set(classes_of(opened).values())
    for before, after in zip(weights, model.get_weights(), strict=True):
        np.testing.assert_array_equal(before, after)
    assert [len(layer._inbound_nodes) for layer in model._flatten_layers()] == calls
    # None of the classes of the blocks is registered, and none is needed.
    opened.save(tmp_path / "model.keras")
    assert_equal_outputs(keras.models.load_model(tmp_path / "model.keras"), model)


def test_names_are_paths():
    found = classes_of(open_layers(vision_transformer()))
    assert found["embedding/patches"] == "Conv2D"
    assert found["embedding/token"] == found["block0/scale"] == "OwnWeight"
    assert found["embedding/tile"] == "ForEachSample"
    assert found["embedding/reshape"] == "Reshape"
    assert found["block1/attention"] == "SoftmaxAttention"
    assert found["block1/attention_query"] == found["block1/mlp/dense_1"] == "Dense"
    assert found["block1/add"] == found["block1/add_1"] == "Add"
    assert found["block1/mlp/dropout_call0"] == found["block1/mlp/dropout_call1"] == "Dropout"


def test_training_is_the_same():
    """The same mean and variance are observed, and dropout drops."""
    model = convolutional()
    opened = open_layers(model)
    images = inputs_of(model)
    for each in (model, opened):
        each(images, training=True)
    for expected, found in zip(model.get_weights(), opened.get_weights(), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    opened = open_layers(vision_transformer())
    images = inputs_of(opened)
    first, second = (ops.convert_to_numpy(opened(images, training=True)) for _ in range(2))
    assert not np.allclose(first, second)


def test_frozen_parts_stay_frozen():
    model = vision_transformer()
    model.get_layer("block0").trainable = False
    model.get_layer("block1").mlp.hidden.trainable = False
    opened = open_layers(model)
    assert len(opened.trainable_weights) == len(model.trainable_weights)
    assert not opened.get_layer("block0").trainable_weights
    assert not opened.get_layer("block1").get_layer("mlp").get_layer("dense").trainable


def test_half_precision():
    image = keras.Input((8, 8, 3), name="image")
    block = ConvBlock(4, name="block")
    for part in (block, block.conv, block.norm):
        part.dtype_policy = keras.DTypePolicy("mixed_bfloat16")
    model = with_statistics(keras.Model(image, block(image)))
    opened = open_layers(model)
    assert opened.get_layer("block").get_layer("conv").compute_dtype == "bfloat16"
    assert keras.backend.standardize_dtype(opened.output.dtype) == "bfloat16"


class Shared(layers.Layer):
    def __init__(self):
        super().__init__(name="shared")
        self.dense = layers.Dense(6, name="dense")

    def build(self, one_shape, other_shape):
        self.dense.build(one_shape)

    def call(self, one, other, factor=1.0):
        return {"sum": self.dense(one) + factor * other, "first": one}


def test_several_inputs_and_outputs_and_calls():
    one, other, shared = keras.Input((5, 6)), keras.Input((5, 6)), Shared()
    first = shared(one, other=other, factor=2.0)
    second = shared(first["sum"], other=first["first"], factor=2.0)
    model = with_biases(keras.Model([one, other], [second["sum"], first["sum"]]))
    opened = open_layers(model)
    assert classes_of(opened)["shared/dense"] == "Dense"
    assert_equal_outputs(opened, model)


def test_calls_of_two_forms_are_kept():
    one, other, shared = keras.Input((5, 6)), keras.Input((5, 6)), Shared()
    output = shared(shared(one, other=other)["sum"], other=other, factor=2.0)["sum"]
    model = keras.Model([one, other], output)
    assert open_layers(model) is model


# ---- what is kept ----------------------------------------------------------------------------------
def block_of(call, **attributes):
    """A model of one block with a Dense layer, whose code is `call`."""

    class Block(layers.Layer):
        def __init__(self):
            super().__init__(name="block")
            self.dense = layers.Dense(6, name="dense")
            for name, make in attributes.items():
                setattr(self, name, make())

        def build(self, input_shape):
            self.dense.build(input_shape)

    Block.call = call
    tokens = keras.Input((7, 6))
    return keras.Model(tokens, Block()(tokens))


def other_in_training(self, tokens, training=None):
    return self.dense(tokens) * (0.5 if training else 1.0)


def noise_in_training(self, tokens, training=None):
    tokens = self.dense(tokens)
    return tokens + keras.random.normal(ops.shape(tokens), seed=self.seed) if training else tokens


def fixed_mode(self, tokens):
    return self.norm(self.dense(tokens), training=False)


def kernel_of_another(self, tokens):
    return ops.matmul(self.dense(tokens), self.dense.kernel)


def size_of_the_batch(self, tokens):
    return self.dense(tokens) / ops.cast(ops.shape(tokens)[0], "float32")


def not_called(self, tokens):
    return tokens * 2.0


def values_decide(self, tokens):
    tokens = self.dense(tokens)
    return tokens if ops.sum(tokens) > 0 else -tokens


def built_norm():
    norm = layers.BatchNormalization()
    norm.build((None, 7, 6))
    return norm


KEPT = {
    "another computation in training": lambda: block_of(other_in_training),
    "random numbers in training": lambda: block_of(
        noise_in_training, seed=lambda: keras.random.SeedGenerator(0)
    ),
    "a fixed mode": lambda: block_of(fixed_mode, norm=built_norm),
    "the kernel of another layer": lambda: block_of(kernel_of_another),
    "the size of the batch": lambda: block_of(size_of_the_batch),
    "weights that are not read": lambda: block_of(not_called),
}


@pytest.mark.parametrize("case", KEPT)
def test_what_is_kept(case):
    model = KEPT[case]()
    assert open_layers(model) is model


def test_keep():
    model = vision_transformer()
    kept = classes_of(open_layers(model, keep=["block0"]))
    assert kept["block0"] == "EncoderBlock" and kept["block1/norm"] == "LayerNormalization"
    kept = classes_of(open_layers(model, keep=["block0/mlp", "block1/attention", "embedding"]))
    assert kept["block0/mlp"] == "MLP" and kept["block1/attention"] == "MultiHeadAttention"
    assert kept["block1/mlp/dense"] == "Dense" and kept["embedding"] == "Embedding"


# ---- passes ----------------------------------------------------------------------------------------
def test_batch_norm_inside_of_blocks_is_folded():
    model = convolutional()
    folded = hsvit_keras.fold_batch_norm(model)
    assert "BatchNormalization" not in classes_of(folded).values()
    assert_equal_outputs(folded, model)
    model = vision_transformer()
    assert hsvit_keras.fold_batch_norm(model) is model


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the scheme has no entry for")
def test_passes_see_what_is_inside():
    model = vision_transformer()
    quantized = hsvit_keras.calibrate(model, [inputs_of(model)])
    found = classes_of(quantized)
    assert found["embedding/patches"] == "QuantizedConv2D"
    assert found["block1/attention_query"] == found["block0/mlp/dense_1"] == "QuantizedDense"
    assert_equal_outputs(hsvit_keras.remove_quantization(quantized), model)
    parts = hsvit_keras.slimmable_parts(model)
    assert parts["heads"] == {"block0/attention": 2, "block1/attention": 2}
    assert parts["mlp_units"] == {"block0/mlp/dense": 16, "block1/mlp/dense": 16}
    slimmed = hsvit_keras.slim(model, heads=1, mlp_units=4)
    # A head of four features: three projections to it and one back, of dim 8; twelve hidden units.
    assert model.count_params() - slimmed.count_params() == 2 * (4 * 8 * 4 + 3 * 4 + 12 * (8 + 8 + 1))
    assert count_multiply_adds(open_layers(model)) == count_multiply_adds(model)


# ---- padding with minus infinity -------------------------------------------------------------------
def padded(widths=((1, 1), (1, 1)), size=3, **pooling):
    image = keras.Input((8, 8, 3))
    maps = layers.Conv2D(4, 3, name="conv")(image)
    maps = ops.pad(maps, ((0, 0), *widths, (0, 0)), constant_values=-np.inf)
    maps = layers.MaxPooling2D(size, 2, name="pool", **pooling)(maps)
    return with_biases(keras.Model(image, layers.Conv2D(5, 1, name="last")(maps)))


@pytest.mark.parametrize(("widths", "size"), [(((1, 1), (1, 1)), 3), (((0, 1), (2, 1)), 4)], ids=str)
def test_infinite_padding_in_front_of_max_pooling(widths, size):
    model = padded(widths, size)
    opened = open_layers(model)
    assert EdgePadding2D in {type(layer) for layer in opened.layers}
    assert_equal_outputs(opened, model)
    images = inputs_of(model, 8)
    calibrated = hsvit_keras.calibrate(model, [images])
    expected, found = (ops.convert_to_numpy(m(images)) for m in (model, calibrated))
    assert np.abs(found - expected).max() < 0.02 * np.abs(expected).max()


@pytest.mark.filterwarnings("ignore:the scheme has no entry for")
@pytest.mark.parametrize("arguments", [{"size": 3, "widths": ((2, 2), (1, 1))}, {"padding": "same"}], ids=str)
def test_other_infinite_padding_is_kept_and_not_calibrated(arguments):
    model = padded(**arguments)
    assert open_layers(model) is model
    with pytest.raises(InputError, match=r"'pad\w*' gives infinity or NaN for these batches"):
        hsvit_keras.calibrate(model, [inputs_of(model)])


def test_calibration_on_nan():
    model = convolutional()
    with pytest.raises(InputError, match="'image' gives infinity or NaN"):
        hsvit_keras.calibrate(model, [np.full((2, 8, 8, 3), np.nan, "float32")])

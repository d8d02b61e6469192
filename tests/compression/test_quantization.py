"""Quantization-aware models: which outputs have ranges, what is rounded, and how it is removed again."""

import dataclasses

import keras
import numpy as np
import pytest
from keras import layers

import hsvit_keras
from hsvit_keras import calibrate, quantize_aware, remove_quantization
from hsvit_keras.compression.quantized_layers import (
    RoundedConstant,
    RoundedKernel,
    RoundedWeights,
)
from hsvit_keras.compression.ranges import ranges_of
from hsvit_keras.compression.schemes import SCHEMES, kind_of
from tests.compression.dense import bounds, dense_model
from tests.models.running import ON_JAX, outputs, without_tracing
from tests.models.small import a_few, grown_model, small_model
from tests.parameters import slow_but


def images(model, count=8, seed=0):
    return np.random.default_rng(seed).normal(size=(count, *model.input_shape[1:])).astype("float32")


def cosine(one, other):
    return float(np.sum(one * other) / np.linalg.norm(one) / np.linalg.norm(other))


def ranges(model):
    """From the name of each layer with a range to whether the range is symmetric."""
    return {layer.name.removesuffix("_range"): layer.symmetric for layer in ranges_of(model)}


# ---- which outputs have ranges ----------------------------------------------------------------------
def test_the_ranges_of_hsvit():
    """Of convolutions with their ReLU, projections and residual adds; keys and values are symmetric."""
    model = hsvit_keras.HSViT(
        (8, 8, 1), 5, filters=(4,), pool_strides=(2,), attention_groups=2, depth=1, hidden_dim=8, num_heads=2
    )
    assert ranges(quantize_aware(model)) == {
        "image": False,
        "stage0_relu0": False,  # computed within the convolution, as batch normalization is
        "stage0_relu1": False,  # pooling, reshape and transpose have the same range
        "embedding_relu": False,
        "class_token": False,
        "position_embedding": False,  # the residual stream
        "block0_norm": False,  # normalization is float, the projections read integers
        "block0_attention_query": False,
        "block0_attention_key": True,
        "block0_attention_value": True,
        "block0_attention": False,
        "block0_attention_output": False,
        "block0_add": False,
        "mean_answer": False,
        "head_norm": False,
        "head": False,
    }


def test_a_convolution_with_two_readers_is_not_fused_with_its_relu():
    """Its output before the ReLU is read, too, so it needs a range of its own."""
    image = keras.Input((4, 4, 2))
    maps = layers.Conv2D(2, 1, name="conv")(image)
    relu = layers.ReLU(name="relu")(maps)
    joined = layers.Add(name="add")([maps, relu])
    assert ranges(quantize_aware(keras.Model(image, joined))).keys() >= {"conv", "relu", "add"}


@pytest.mark.parametrize(
    "activation, is_fused",
    [
        (layers.ReLU(), True),
        (layers.ReLU(6), True),
        (layers.Activation("relu"), True),
        (layers.ReLU(max_value=3), False),
        (layers.ReLU(negative_slope=0.1), False),
        (layers.Activation("gelu"), False),
    ],
)
def test_activations_that_are_fused_with_a_convolution(activation, is_fused):
    model = keras.Sequential([keras.Input((4, 4, 2)), layers.Conv2D(2, 1, name="conv"), activation])
    assert ("conv" in ranges(quantize_aware(model))) == (not is_fused)


def test_activations_of_layers_become_layers_unless_they_can_be_fused():
    model = keras.Sequential(
        [
            keras.Input((3,)),
            layers.Dense(4, "gelu", name="one"),
            layers.Dense(4, "relu", name="two"),
            layers.Dense(2, name="three"),
        ]
    )
    quantized = quantize_aware(model)
    assert [layer.name for layer in quantized.layers[1:]] == [
        quantized.layers[1].name, "one", "one_range", "one_activation", "one_activation_range",
        "two", "two_range", "three", "three_range",
    ]  # fmt: skip
    assert quantized.layers[1].name.endswith("_range")
    given = np.random.default_rng(0).normal(size=(8, 3)).astype("float32")
    np.testing.assert_allclose(
        outputs(remove_quantization(quantized), given), outputs(model, given), atol=1e-6
    )


# ---- rounded weights --------------------------------------------------------------------------------
def rounded(kernel, axes):
    """The kernel rounded with a scale for each output channel, where the largest magnitude is 127."""
    scale = np.abs(kernel).max(axis=axes, keepdims=True) / 127
    return np.round(kernel / scale) * scale


KERNELS = {
    "conv1d": (layers.Conv1D(3, 2), (5, 4), (0, 1)),
    "conv2d": (layers.Conv2D(3, 2), (5, 5, 4), (0, 1, 2)),
    "depthwise": (layers.DepthwiseConv2D(2, depth_multiplier=2), (5, 5, 4), (0, 1)),
    "dense": (layers.Dense(3), (4,), (0,)),
    "groups": (layers.EinsumDense("bngi,gio->bngo", (None, 2, 3), bias_axes="go"), (5, 2, 4), (1,)),
    "heads": (layers.EinsumDense("abc,cde->abde", (None, 2, 3), bias_axes="de"), (5, 4), (0,)),
    "contracting": (layers.EinsumDense("abcd,cde->abe", (None, 3), bias_axes="e"), (5, 2, 4), (0, 1)),
}


@pytest.mark.parametrize("kind", KERNELS)
def test_kernels_are_rounded_for_each_output_channel(kind):
    layer, shape, axes = KERNELS[kind]
    model = keras.Sequential([keras.Input(shape), layer.from_config(layer.get_config())])
    quantized = quantize_aware(model)
    kernel, bias = model.get_weights()
    bias = np.random.default_rng(0).normal(size=bias.shape).astype("float32")
    (quantized_layer,) = (layer for layer in quantized.layers if isinstance(layer, RoundedKernel))
    quantized_layer.set_weights([kernel, bias])
    model.set_weights([rounded(kernel, axes), bias])
    np.testing.assert_allclose(outputs(quantized, images(model)), outputs(model, images(model)), atol=2e-6)
    np.testing.assert_array_equal(quantized_layer.get_weights()[0], kernel)  # the variable is not rounded


def test_a_channel_of_zeros_is_not_changed():
    quantized = quantize_aware(
        keras.Sequential([keras.Input((3,)), layers.Dense(2, kernel_initializer="zeros")])
    )
    assert outputs(quantized, np.ones((1, 3), "float32")).tolist() == [[0, 0]]


def test_gradients_ignore_the_rounding_of_weights():
    """A step of SGD equals that of a float layer with the rounded kernel."""
    given, targets = np.random.default_rng(0).normal(size=(2, 8, 3)).astype("float32")
    model = keras.Sequential([keras.Input((3,)), layers.Dense(3)])
    quantized = quantize_aware(model)
    kernel, bias = model.get_weights()
    model.set_weights([rounded(kernel, (0,)), bias])
    dense = quantized.get_layer(model.layers[0].name)
    for trained in (model, quantized):
        for layer in ranges_of(trained):
            layer.frozen.assign(1.0)  # a range without observations does not round
        trained.compile(keras.optimizers.SGD(0.5), "mse", jit_compile=ON_JAX)
        trained.train_on_batch(given, targets)
    step = model.get_weights()[0] - rounded(kernel, (0,))
    np.testing.assert_allclose(dense.get_weights()[0] - kernel, step, atol=1e-6)


def test_constants_are_rounded_to_their_range():
    model = keras.Sequential([keras.Input((5, 4)), hsvit_keras.layers.PositionEmbedding()])
    position = np.random.default_rng(0).normal(size=(5, 4)).astype("float32")
    model.set_weights([position])
    quantized = quantize_aware(model)
    rounded_position = outputs(quantized, np.zeros((1, 5, 4), "float32"))[0]
    scale = (position.max() - position.min()) / 255
    assert np.abs(rounded_position - position).max() <= 0.5001 * scale
    np.testing.assert_allclose(rounded_position / scale, np.round(rounded_position / scale), atol=1e-3)


def test_bits_of_a_scheme():
    scheme = dataclasses.replace(hsvit_keras.SCHEMES["int8"], weight_bits=4, activation_bits=6, percent=99.0)
    quantized = quantize_aware(small_model("hsvit_tiny"), scheme)
    assert {layer.weight_bits for layer in quantized.layers if isinstance(layer, RoundedWeights)} == {4}
    assert {(layer.bits, layer.percent) for layer in ranges_of(quantized)} == {(6, 99.0)}
    with pytest.raises(ValueError, match="weight_bits has to be an integer from 2 to 16; received"):
        dataclasses.replace(scheme, weight_bits=1)


# ---- every family -----------------------------------------------------------------------------------
KERNEL_LAYERS = (layers.Conv1D, layers.Conv2D, layers.Dense, layers.EinsumDense)
SILU = (keras.activations.silu, keras.activations.sigmoid, layers.Multiply)


def classes_of(model):
    """Classes of the layers, but for SiLU, which integers compute as a product with the sigmoid."""
    return [type(layer) for layer in model.layers if kind_of(layer) not in SILU]


@pytest.mark.once
@pytest.mark.parametrize("name", a_few())
def test_every_family(name):
    model = grown_model(name)
    given = images(model, 16)
    float_outputs = outputs(model, given)
    with without_tracing():
        quantized = calibrate(model, [given[:8], given[8:]])
    assert cosine(outputs(quantized, given), float_outputs) > 0.99
    kernels = [layer for layer in quantized.layers if isinstance(layer, KERNEL_LAYERS)]
    assert kernels
    assert all(isinstance(layer, RoundedKernel) for layer in kernels)
    restored = remove_quantization(quantized)
    np.testing.assert_allclose(outputs(restored, given), float_outputs, rtol=1e-4, atol=1e-5)
    folded = hsvit_keras.fold_batch_norm(model)
    assert classes_of(restored) == classes_of(folded)


@pytest.mark.slow_on_jax
@pytest.mark.parametrize("name", slow_but(["hsvit_tiny"], ["cct", "deit_base_distilled", "hsvit_tiny"]))
def test_training_and_saving(name, tmp_path):
    """Training updates all weights and ranges, and a loaded model has the same outputs."""
    model = grown_model(name)
    given = images(model)
    with without_tracing():
        quantized = calibrate(model, [given])
    quantized.compile(
        keras.optimizers.SGD(0.01),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        jit_compile=ON_JAX,
        run_eagerly=not ON_JAX and name != "hsvit_tiny",  # one traced model is enough
    )
    before = quantized.get_weights()
    quantized.fit(given, np.arange(8) % 5, batch_size=4, epochs=1, verbose=0)
    unchanged = [
        weight.path
        for weight, old in zip(quantized.weights, before, strict=True)
        if weight.trainable and np.array_equal(np.asarray(weight), old)
    ]
    assert [path for path in unchanged if "key/bias" not in path] == []  # has no effect on the softmax
    assert {float(layer.observed_batches) for layer in ranges_of(quantized)} == {1 + 2}

    quantized.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(outputs(loaded, given), outputs(quantized, given))


# ---- layers that stay float, and errors -------------------------------------------------------------
def test_skipped_layers_stay_float():
    quantized = quantize_aware(small_model("hsvit_tiny"), skip=["head", "block0_attention_query"])
    assert type(quantized.get_layer("head")) is layers.Dense
    assert type(quantized.get_layer("block0_attention_query")) is layers.EinsumDense
    assert isinstance(quantized.get_layer("block0_attention_value"), RoundedKernel)
    names = ranges(quantized)
    assert "head" not in names and "head_norm" not in names and "block0_attention_query" not in names
    assert "block0_norm" in names  # other projections, which are quantized, read it


@keras.saving.register_keras_serializable("tests")
class Doubling(layers.Layer):
    def call(self, inputs):
        return 2 * inputs


def test_unknown_layers_stay_float_and_are_named_in_one_warning():
    model = keras.Sequential(
        [keras.Input((3,)), layers.Dense(3), Doubling(name="twice"), layers.Dense(3), Doubling(name="again")]
    )
    with pytest.warns(
        UserWarning, match=r"twice \(Doubling\), again \(Doubling\): they stay float"
    ) as warned:
        quantized = quantize_aware(model)
    assert len([warning for warning in warned if warning.category is UserWarning]) == 1
    assert type(quantized.get_layer("twice")) is Doubling
    scheme = hsvit_keras.SCHEMES["int8"]
    quantize_aware(model, dataclasses.replace(scheme, floating=(*scheme.floating, Doubling)))


def test_operations_that_no_layer_computes_stay_float():
    given = keras.Input((3,))
    model = keras.Model(given, layers.Dense(3)(keras.ops.square(layers.Dense(3)(given))))
    with pytest.warns(UserWarning, match="Square"):
        quantized = calibrate(model, [np.ones((2, 3), "float32")])
    assert cosine(outputs(quantized, np.ones((1, 3))), outputs(model, np.ones((1, 3)))) > 0.999


@keras.saving.register_keras_serializable("tests")
class QuantizedDoubling(RoundedConstant, Doubling):
    """A quantized class that is not in the package."""


def test_a_scheme_can_be_extended():
    scheme = hsvit_keras.SCHEMES["int8"]
    scheme = dataclasses.replace(scheme, integer={**scheme.integer, Doubling: QuantizedDoubling})
    model = keras.Sequential([keras.Input((3,)), Doubling(name="twice")])
    quantized = quantize_aware(model, scheme)
    assert type(quantized.get_layer("twice")) is QuantizedDoubling
    assert type(remove_quantization(quantized).get_layer("twice")) is Doubling


def test_a_layer_that_is_called_twice_has_one_range():
    given = keras.Input((3,))
    dense = layers.Dense(3, name="dense")
    quantized = quantize_aware(keras.Model(given, dense(dense(given))))
    assert list(ranges(quantized)).count("dense") == 1
    quantized.get_layer("dense").set_weights([3 * np.eye(3), np.zeros(3)])
    calibrate(quantized, [np.array([[-1.0, 0.5, 2.0]], "float32")])
    assert bounds(quantized, "dense") == [-9, 18]  # -3 to 6 in the first call, three times that in the second


def test_every_layer_of_the_package_is_in_one_table_of_the_scheme():
    scheme = SCHEMES["int8"]
    known = [*scheme.integer, *scheme.between, *scheme.transparent, *scheme.floating]
    assert len(set(known)) == len(known)
    assert {getattr(hsvit_keras.layers, name) for name in hsvit_keras.layers.__all__} <= set(known)


def test_errors():
    model = dense_model()
    with pytest.raises(ValueError, match="'two' is quantized already: remove_quantization returns"):
        quantize_aware(quantize_aware(model))
    with pytest.raises(ValueError, match="'two' is not quantized: there is nothing to remove"):
        remove_quantization(model)
    with pytest.raises(ValueError, match=r"skip names 'dens', .* did you mean 'dense'"):
        quantize_aware(model, skip=["dens"])
    with pytest.raises(ValueError, match=r"skip has to be a sequence .* received the string 'dense'"):
        quantize_aware(model, skip="dense")
    with pytest.raises(ValueError, match="'two' has no layer that the scheme quantizes"):
        quantize_aware(model, skip=["dense"])
    with pytest.raises(ValueError, match="scheme has to be a Scheme or one of 'int8'; received 'int7'"):
        quantize_aware(model, "int7")

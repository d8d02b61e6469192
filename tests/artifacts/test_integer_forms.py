"""Layers and operations of any Keras model between two convolutions: those that compute with integers."""

import keras
import numpy as np
import pytest
from keras import layers, ops

import hsvit_keras
from hsvit_keras.compression.graph import Graph
from hsvit_keras.compression.ranges import ranges_of

if keras.backend.backend() != "tensorflow":
    pytest.skip("conversion needs the TensorFlow backend", allow_module_level=True)

from hsvit_keras.artifacts.keras_model import predict
from hsvit_keras.artifacts.lowering import lower
from hsvit_keras.artifacts.tflite_conversion import convert
from hsvit_runtime.tflite_model import TFLiteModel
from tests.artifacts.running import outputs_of

pytestmark = pytest.mark.tensorflow

CHANNELS = 4


def grown(layer):
    """Called on maps, with statistics and weights of its own."""

    def call(maps):
        outputs = layer(maps)
        rng = np.random.default_rng(1)
        layer.set_weights([rng.uniform(0.2, 1, weight.shape) for weight in layer.get_weights()])
        if isinstance(layer, layers.Normalization):
            layer.finalize_state()  # computes with these
        return outputs

    return call


def beside(merge):
    """Called on maps and on what another convolution makes of them."""
    return lambda maps: merge(maps, layers.Conv2D(CHANNELS, 1)(maps))


def squeeze_and_excite(maps):
    squeezed = layers.GlobalAveragePooling2D(keepdims=True)(maps)
    hidden = layers.Conv2D(2, 1, activation="relu")(squeezed)
    return layers.Multiply()([maps, layers.Conv2D(CHANNELS, 1, activation="sigmoid")(hidden)])


def sequence(of_rows):
    """Called on the pixels of a map as one row of steps."""
    return lambda maps: of_rows(layers.Reshape((64, CHANNELS))(maps))


def halves(maps):
    first, second = ops.split(maps, 2, axis=-1)
    return ops.concatenate([second, first], axis=-1)


GAIN = np.array([0.5, 1.0, 1.5, 2.0], "float32")


def integer_layers():
    """Made anew for each model, since Keras numbers names of layers from where it was cleared last."""
    return {
        "add": beside(lambda x, y: layers.Add()([x, y])),
        "average_pooling": layers.AveragePooling2D(2),
        "average_pooling_1d": sequence(layers.AveragePooling1D(2)),
        "average_pooling_same": layers.AveragePooling2D(2, padding="same"),
        "batch_normalization": grown(layers.BatchNormalization()),
        "bilinear": layers.UpSampling2D(2, interpolation="bilinear"),
        "concatenate": beside(lambda x, y: layers.Concatenate()([x, y])),
        "conv_1d_transpose": sequence(layers.Conv1DTranspose(3, 2, 2)),
        "conv_2d_transpose": layers.Conv2DTranspose(3, 2, strides=2),
        "cropping": layers.Cropping2D(1),
        "cropping_1d": sequence(layers.Cropping1D(3)),
        "depthwise": layers.DepthwiseConv2D(3),
        "depthwise_1d": sequence(layers.DepthwiseConv1D(3)),
        "dropout": layers.GaussianDropout(0.3),
        "global_max": lambda maps: layers.GlobalMaxPooling2D(keepdims=True)(maps),
        "global_max_1d": sequence(layers.GlobalMaxPooling1D(keepdims=True)),
        "leaky_relu": layers.LeakyReLU(0.1),
        "max_pooling": layers.MaxPooling2D(2),
        "multiply": beside(lambda x, y: layers.Multiply()([x, y])),
        "nearest": layers.UpSampling2D((2, 3)),
        "normalization": grown(layers.Normalization()),
        "permute": lambda maps: ops.transpose(maps, (0, 2, 1, 3)),
        "reshape": lambda maps: ops.reshape(maps, (-1, 4, 16, CHANNELS)),
        "relu_behind_max_pooling": lambda maps: layers.ReLU()(layers.MaxPooling2D(2)(maps)),
        "rescaling": layers.Rescaling([0.5, 1.0, 1.5, 2.0], [1.0, 0.0, -1.0, 2.0]),
        "scaled_and_shifted": lambda maps: maps * 2 + 1,
        "scaled_channels": lambda maps: maps * GAIN,
        "separable": layers.SeparableConv2D(5, 3),
        "sigmoid": layers.Activation("sigmoid"),
        "silu": layers.Activation("silu"),
        "split": halves,
        "squeeze_and_excite": squeeze_and_excite,
        "subtract": beside(lambda x, y: x - y),
        "tanh": layers.Activation("tanh"),
        "zero_padding": layers.ZeroPadding2D(1),
        "zero_padding_1d": sequence(layers.ZeroPadding1D(1)),
    }


def between_convolutions(forms):
    """A model with an output for each of the forms, which are called on maps of their own."""
    given = keras.Input((8, 8, 3), name="given")
    outputs = {}
    for name, form in forms.items():
        maps = form(layers.Conv2D(CHANNELS, 1)(given))
        last = layers.Conv2D if len(maps.shape) == 4 else layers.Conv1D
        outputs[name] = last(5, 1, name=f"{name}_after")(maps)
    return keras.Model(given, outputs)


def quantized_and_its_artifact(model):
    """What is in the artifact, and the differences of each of its outputs in steps of the last range."""
    given = np.random.default_rng(0).normal(size=(8, 8, 8, 3)).astype("float32")
    quantized = hsvit_keras.calibrate(model, [given])
    content = convert(lower(quantized), "int8")
    expected = predict(quantized, {"given": given})
    found = dict(zip(expected, TFLiteModel(content).predict({"given": given}).values(), strict=True))
    graph = Graph(quantized)
    steps = {}
    for name, outputs in expected.items():
        (last,) = graph.consumers(quantized.get_layer(f"{name}_after"))
        steps[name] = np.abs(found[name] - outputs) / (np.ptp([*map(float, last.bounds())]) / 255)
    return hsvit_keras.inspect_tflite(content), steps


@pytest.fixture(scope="module")
def integer_forms():
    return quantized_and_its_artifact(between_convolutions(integer_layers()))


@pytest.mark.slow
def test_forms_compute_with_integers_alone(integer_forms):
    """One QUANTIZE at the start, a DEQUANTIZE at each end; one partition of XNNPACK."""
    found, _ = integer_forms
    assert (found["ops"].get("QUANTIZE"), found["ops"].get("DEQUANTIZE")) == (1, len(integer_layers()))
    assert found["partitions"] == 1 and not found["undelegated_ops"]


@pytest.mark.slow
@pytest.mark.parametrize("form", integer_layers())
def test_forms(form, integer_forms):
    """A step of rounding."""
    _, steps = integer_forms
    assert steps[form].max() <= 3.01  # a step of each tensor between, in front of a kernel
    assert steps[form].mean() < 0.1


def floating_layers():
    return {
        "elu": layers.ELU(),
        "gelu": layers.Activation("gelu"),
        "group_normalization": layers.GroupNormalization(2),
        "hard_swish": layers.Activation("hard_silu"),
        "layer_normalization": layers.LayerNormalization(),
        "maximum": beside(lambda x, y: layers.Maximum()([x, y])),
        "overlapping_averages": layers.AveragePooling2D(3, 1, padding="same"),
        "prelu": grown(layers.PReLU(shared_axes=(1, 2))),
        "softmax": layers.Softmax(),
    }


@pytest.fixture(scope="module")
def floating_forms():
    return quantized_and_its_artifact(between_convolutions(floating_layers()))


def test_what_has_no_integer_kernel_is_float_in_between(floating_forms):
    """With one partition all the same: the converter would know integer ops that XNNPACK does not run."""
    found, _ = floating_forms
    assert found["partitions"] == 1 and not found["undelegated_ops"]
    assert found["ops"]["DEQUANTIZE"] >= 2 * len(floating_layers())


@pytest.mark.parametrize("form", floating_layers())
def test_floating_forms(form, floating_forms):
    _, steps = floating_forms
    assert steps[form].max() <= 3.01
    assert steps[form].mean() < 0.1


def opaque_layers():
    return {
        "gru": lambda maps: layers.Reshape((4, 4, 3))(
            layers.GRU(48, unroll=True)(layers.Reshape((8, 32))(maps))
        ),
    }


def test_what_stays_float_though_it_need_not_is_named_in_a_warning():
    with pytest.warns(UserWarning, match="the scheme has no entry for .*: they stay float"):
        found, steps = quantized_and_its_artifact(between_convolutions(opaque_layers()))
    assert found["ops"]["DEQUANTIZE"] >= 2 * len(opaque_layers())
    for form in steps:
        assert steps[form].max() <= 3.01
        assert steps[form].mean() < 0.1


@pytest.mark.parametrize("activation", ["sigmoid", "tanh"])
def test_activations_at_the_end_are_float(activation):
    """Their steps of 1/256 and 1/128 are coarser than what the model says."""
    model = keras.Sequential([keras.Input((8, 8, 3)), layers.Conv2D(2, 1), layers.Activation(activation)])
    given = np.random.default_rng(0).normal(size=(4, 8, 8, 3)).astype("float32")
    quantized = hsvit_keras.calibrate(model, [given])
    found = outputs_of(convert(lower(quantized), "int8"), given)
    np.testing.assert_allclose(found, np.asarray(quantized(given, training=False)), atol=1e-6)


def test_inputs_of_a_concatenation_have_one_range():
    given = keras.Input((8, 8, 3))
    small = layers.Conv2D(2, 1, name="small")(given)
    joined = layers.Concatenate(name="joined")([small, layers.Conv2D(2, 1, name="large")(given) * 100])
    quantized = hsvit_keras.quantize_aware(keras.Model(given, layers.Conv2D(2, 1, name="head")(joined)))
    names = [layer.name for layer in ranges_of(quantized)]
    assert len(names) == 4  # the input, `large` before its product, all that is joined, the head

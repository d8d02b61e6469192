"""Multiply-adds of single layers, counted by hand, and of whole models, counted in their artifacts."""

import keras
import numpy as np
import pytest
from keras import layers, ops

from hsvit_keras.compression import quantize_aware
from hsvit_keras.compression.counting import count_layers, count_multiply_adds
from hsvit_keras.layers import FirstToken, SoftmaxAttention
from hsvit_runtime.errors import InputError
from tests.models.small import small_model

GROUP_DENSE = "bngi,gio->bngo"


def double(x):
    """An activation function of one's own."""
    return ops.where(x > 0, 2 * x, x)


@pytest.mark.parametrize(
    "layer, input_shape, expected",
    [
        (layers.Conv2D(8, 3, padding="same"), (6, 5, 4), 6 * 5 * 8 * 3 * 3 * 4),
        (layers.Conv2D(8, (3, 2), strides=2), (7, 6, 4), 3 * 3 * 8 * 3 * 2 * 4),
        (layers.Conv2D(8, 1, groups=4), (2, 2, 16), 2 * 2 * 8 * 4),
        (layers.Conv1D(6, 3), (10, 2), 8 * 6 * 3 * 2),
        (layers.DepthwiseConv2D(3, depth_multiplier=2), (5, 5, 4), 3 * 3 * 8 * 3 * 3),
        (layers.Dense(7), (5,), 5 * 7),
        (layers.Dense(7), (3, 2, 5), 3 * 2 * 5 * 7),
        (layers.EinsumDense(GROUP_DENSE, (None, 4, 6)), (9, 4, 5), 9 * 4 * 5 * 6),
        (layers.EinsumDense("...x,xy->...y", 7), (3, 2, 5), 3 * 2 * 5 * 7),
        (layers.Conv3D(5, 2), (3, 4, 5, 2), 2 * 3 * 4 * 5 * 2 * 2 * 2 * 2),
        (layers.Conv2D(8, 3, dilation_rate=2, padding="same"), (5, 5, 4), 5 * 5 * 8 * 3 * 3 * 4),
        (layers.Conv2D(8, 3, groups=2, padding="same", strides=2), (5, 5, 4), 3 * 3 * 8 * 3 * 3 * 2),
        (layers.Conv1D(8, 3, dilation_rate=2, padding="causal"), (5, 4), 5 * 8 * 3 * 4),
        (layers.DepthwiseConv2D(3, dilation_rate=2, padding="same"), (5, 5, 4), 5 * 5 * 4 * 3 * 3),
        (layers.DepthwiseConv1D(3), (5, 4), 3 * 4 * 3),
        (layers.SeparableConv2D(6, 3, depth_multiplier=2), (5, 5, 4), 3 * 3 * (8 * 3 * 3 + 6 * 8)),
        (layers.SeparableConv1D(6, 3, strides=2, padding="same"), (5, 4), 3 * (4 * 3 + 6 * 4)),
        (layers.Conv2DTranspose(6, 3, strides=2), (5, 5, 4), 5 * 5 * 4 * 3 * 3 * 6),
        (layers.Conv2DTranspose(6, 3, padding="same"), (5, 5, 4), 5 * 5 * 4 * 3 * 3 * 6),
        (layers.Conv2DTranspose(6, 3), (5, 5, 4), 5 * 5 * 4 * 3 * 3 * 6),
        (layers.Conv1DTranspose(6, 3, strides=2, padding="same"), (5, 4), 5 * 4 * 3 * 6),
        (layers.Conv3DTranspose(2, 2, strides=2), (2, 2, 2, 3), 8 * 3 * 2 * 2 * 2 * 2),
        (layers.SimpleRNN(3), (5, 4), 5 * (4 * 3 + 3 * 3)),
        (layers.LSTM(3, return_sequences=True), (5, 4), 5 * 4 * (4 * 3 + 3 * 3)),
        (layers.LSTM(3, unroll=True), (5, 4), 5 * 4 * (4 * 3 + 3 * 3)),
        (layers.GRU(3), (5, 4), 5 * 3 * (4 * 3 + 3 * 3)),
        (layers.GRU(3, reset_after=False, go_backwards=True), (5, 4), 5 * 3 * (4 * 3 + 3 * 3)),
        (layers.Bidirectional(layers.GRU(3)), (5, 4), 2 * 5 * 3 * (4 * 3 + 3 * 3)),
        (layers.RNN([layers.GRUCell(3), layers.LSTMCell(2)]), (5, 4), 5 * (3 * 21 + 4 * (3 * 2 + 2 * 2))),
        (layers.ConvLSTM1D(2, 3), (4, 6, 3), 4 * 4 * (4 * 2 * 3 * 3 + 4 * 2 * 3 * 2)),
        (layers.TimeDistributed(layers.Dense(3)), (5, 4), 5 * 4 * 3),
        (layers.GroupNormalization(2), (4, 4, 6), 0),
        (layers.BatchNormalization(), (4, 4, 3), 0),
        (layers.BatchNormalization(axis=1), (4, 4, 3), 0),
        (layers.LayerNormalization(), (4, 6), 0),
        (layers.UnitNormalization(), (4, 6), 0),
        (layers.SpectralNormalization(layers.Dense(3)), (4,), 4 * 3),
        (layers.MaxPooling2D(), (4, 4, 3), 0),
        (layers.AveragePooling2D(2, padding="same"), (5, 5, 3), 0),
        (layers.UpSampling2D(2, interpolation="bilinear"), (4, 4, 3), 0),
        (layers.Resizing(7, 5, crop_to_aspect_ratio=True), (4, 4, 3), 0),
        (layers.Rescaling(1 / 255), (4, 4, 3), 0),
        (layers.Normalization(mean=1.0, variance=2.0), (4, 4, 3), 0),
        (layers.RandomFlip(), (4, 4, 3), 0),
        (layers.Activation(double), (4,), 0),
        (layers.Lambda(lambda x: ops.matmul(x, ops.transpose(x, (0, 2, 1)))), (4, 3), 4 * 4 * 3),
        (layers.Dense(3, activation="softmax"), (4,), 4 * 3),
    ],
)
def test_layers(layer, input_shape, expected):
    assert count_multiply_adds(keras.Sequential([keras.Input(input_shape), layer])) == expected


def count_of(function, *shapes):
    """The multiply-adds of a function of inputs of some shapes."""
    inputs = [keras.Input(shape) for shape in shapes]
    return count_multiply_adds(keras.Model(inputs, function(*inputs)))


OPERATIONS = {
    "dot": (lambda x, y: layers.Dot(axes=2)([x, y]), [(4, 5), (3, 5)], 4 * 3 * 5),
    "matmul": (ops.matmul, [(4, 5), (5, 3)], 4 * 5 * 3),
    "broadcast": (ops.matmul, [(6, 4, 5), (1, 5, 3)], 6 * 4 * 5 * 3),
    "einsum": (lambda x, y: ops.einsum("bnd,bmd->bnm", x, y), [(4, 5), (3, 5)], 4 * 3 * 5),
    "ellipsis": (lambda x, y: ops.einsum("b...d,bd->b...", x, y), [(2, 4, 5), (5,)], 2 * 4 * 5),
    "one_operand": (lambda x: ops.einsum("bnd->bd", x), [(4, 5)], 0),
    "summed_first": (lambda x, y: ops.einsum("bnd,bm->bm", x, y), [(4, 5), (3,)], 3),
    "sum_of_products": (lambda x, y: ops.sum(x * y, axis=-1), [(4, 5), (4, 5)], 0),
    "convolution": (
        lambda x: ops.conv(x, np.ones((3, 3, 2, 4), "float32"), padding="same"),
        [(5, 6, 2)],
        5 * 6 * 4 * 3 * 3 * 2,
    ),
    "patches": (lambda x: ops.image.extract_patches(x, 2), [(4, 4, 3)], 0),
    "resized": (lambda x: ops.image.resize(x, (6, 7)), [(4, 4, 3)], 0),
    "softmax": (ops.softmax, [(4, 5)], 0),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations(name):
    function, shapes, expected = OPERATIONS[name]
    assert count_of(function, *shapes) == expected


def test_attention_of_keras():
    assert count_of(lambda x, y: layers.Attention()([x, y]), (4, 5), (3, 5)) == 2 * 4 * 3 * 5
    additive = count_of(lambda x, y: layers.AdditiveAttention()([x, y]), (4, 5), (3, 5))
    assert additive == 4 * 3 * 5  # weights times values; its scores are sums
    grouped = count_of(lambda x: layers.GroupQueryAttention(8, 4, 2)(x, x), (6, 16))
    assert grouped == 6 * 16 * 8 * (4 + 2 + 2) + 2 * 6 * 6 * 4 * 8 + 6 * 4 * 8 * 16


def test_masked_steps_are_computed():
    def model(x):
        return layers.LSTM(3)(layers.Masking()(x))

    assert count_of(model, (5, 4)) == 5 * 4 * (4 * 3 + 3 * 3)


def of_the_backend(x):
    """A product and an activation by functions of the backend itself."""
    if keras.backend.backend() == "jax":
        import jax

        return jax.nn.gelu(jax.numpy.tensordot(x, jax.numpy.ones((4, 3)), 1))
    import tensorflow as tf

    return tf.nn.gelu(tf.tensordot(x, tf.ones((4, 3)), 1))


class Mine(layers.Layer):
    """A layer whose call is of the backend, which Keras cannot record."""

    def call(self, x):
        return of_the_backend(x)

    def compute_output_shape(self, shape):
        return (*shape[:-1], 3)


def test_layers_and_functions_of_the_backend():
    assert count_of(Mine(), (5, 4)) == 5 * 4 * 3
    assert count_of(layers.Lambda(of_the_backend, (5, 3)), (5, 4)) == 5 * 4 * 3
    if keras.backend.backend() == "jax":
        import jax

        assert count_of(layers.Dense(3, activation=jax.nn.silu), (4,)) == 4 * 3
    else:
        import tensorflow as tf

        assert count_of(layers.Dense(3, activation=tf.nn.silu), (4,)) == 4 * 3


class Loop(layers.Layer):
    """Multiplies by a matrix a number of times, which may depend on what is computed."""

    def __init__(self, times):
        super().__init__()
        self.times = times

    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], shape[-1]))

    def call(self, x):
        times = self.times if self.times else ops.cast(ops.sum(x), "int32")
        return ops.fori_loop(0, times, lambda i, x: ops.matmul(x, self.kernel), x)

    def compute_output_shape(self, shape):
        return shape


def test_a_loop_that_ends_by_what_it_computes_is_refused():
    with pytest.raises(InputError, match=r"multiply-adds of '.*' are unknown: .* loop of no fixed length"):
        count_of(Loop(None), (4,))


class Branches(layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.dense = [layers.Dense(unit) for unit in units]
        self.last = [layers.Dense(5) for _ in units]

    def build(self, shape):
        for dense, last in zip(self.dense, self.last, strict=True):
            dense.build(shape)
            last.build((*shape[:-1], dense.units))

    def call(self, x):
        return ops.cond(ops.sum(x) > 0, *(lambda i=i: self.last[i](self.dense[i](x)) for i in range(2)))

    def compute_output_shape(self, shape):
        return (*shape[:-1], 5)


def test_one_of_two_branches_counts():
    assert count_of(Branches([3, 3]), (4,)) == 4 * 3 + 3 * 5
    with pytest.raises(InputError, match=r"unknown: its branches have \[27, 45\]"):
        count_of(Branches([3, 5]), (4,))


class WeightsAlone(layers.Layer):
    """Multiplies two kernels, which an artifact holds as one."""

    def build(self, shape):
        self.down = self.add_weight(shape=(shape[-1], 2))
        self.up = self.add_weight(shape=(2, 3))

    def call(self, x):
        return ops.matmul(x, ops.matmul(self.down, self.up))


def test_products_of_weights_alone_are_computed_once():
    assert count_of(WeightsAlone(), (5,)) == 5 * 3


def test_what_no_output_needs_is_not_computed():
    x = keras.Input((5,))
    inside = keras.Model(y := keras.Input((5,)), [layers.Dense(3)(y), layers.Dense(4)(y)])
    assert count_multiply_adds(keras.Model(x, inside(x)[1])) == 5 * 4


def test_several_inputs_and_outputs():
    x, y = keras.Input((5,), name="x"), keras.Input((4,), name="y")
    hidden = layers.Concatenate()([layers.Dense(3)(x), y])
    model = keras.Model({"x": x, "y": y}, {"one": layers.Dense(2)(hidden), "all": hidden})
    assert count_multiply_adds(model) == 5 * 3 + 7 * 2


def test_a_batch_of_fixed_size_counts_for_one_image():
    x = keras.Input(batch_shape=(4, 5))
    assert count_multiply_adds(keras.Model(x, layers.Dense(3)(layers.Reshape((5,))(x)))) == 5 * 3


def test_free_sizes_are_refused():
    x = keras.Input((None, None, 3), name="image")
    with pytest.raises(InputError, match=r"input 'image', which is free in \(None, None, 3\)"):
        count_multiply_adds(keras.Model(x, layers.Conv2D(4, 3)(x)))


def test_sizes_that_are_unknown_in_the_graph():
    """The output of an EinsumDense layer has `None` tokens; layers that read it are counted all the same."""
    model = keras.Sequential(
        [
            keras.Input((9, 4, 5)),
            layers.EinsumDense(GROUP_DENSE, (None, 4, 6)),
            layers.EinsumDense(GROUP_DENSE, (None, 4, 3)),
        ]
    )
    assert count_multiply_adds(model) == 9 * 4 * (5 * 6 + 6 * 3)


def attention(tokens, reader=None):
    x = keras.Input((tokens, 4, 8))
    q, k, v = (layers.EinsumDense(GROUP_DENSE, (None, 4, 8), name=name)(x) for name in "qkv")
    mixed = SoftmaxAttention(2)(q, k, v)
    return keras.Model(x, reader(mixed) if reader else mixed)


def test_attention_counts_all_queries_by_all_keys_twice():
    projections = 3 * 9 * 4 * 8 * 8
    assert count_multiply_adds(attention(9)) == projections + 2 * 9 * 9 * 4 * 8


def test_a_class_token_counts_one_query():
    projections = (2 * 9 + 1) * 4 * 8 * 8
    assert count_multiply_adds(attention(9, FirstToken())) == projections + 2 * 9 * 4 * 8


def test_a_layer_called_twice_counts_twice_and_a_model_within_the_model_counts():
    image = keras.Input((5,))
    dense, inner = layers.Dense(5), keras.Sequential([keras.Input((5,)), layers.Dense(3)])
    model = keras.Model(image, inner(dense(dense(image))))
    assert count_multiply_adds(model) == 2 * 5 * 5 + 5 * 3


def test_layers_inside_of_layers_count():
    tokens = keras.Input((6, 8))
    model = keras.Model(tokens, layers.MultiHeadAttention(2, 4)(tokens, tokens))
    assert count_multiply_adds(model) == 4 * 6 * 8 * 8 + 2 * 6 * 6 * 8


def test_counting_does_not_modify_the_model():
    model = small_model("hsvit_tiny")
    before = [len(layer._inbound_nodes) for layer in model._flatten_layers()]
    first = count_multiply_adds(model)
    assert [len(layer._inbound_nodes) for layer in model._flatten_layers()] == before
    assert count_multiply_adds(model) == first


def test_quantization_does_not_change_the_count():
    model = small_model("hsvit_tiny")
    assert count_multiply_adds(quantize_aware(model)) == count_multiply_adds(model)


def test_normalization_of_pixels_counts_nothing():
    assert count_multiply_adds(small_model("hsvit_tiny", mean=0.5)) == count_multiply_adds(
        small_model("hsvit_tiny")
    )


def test_a_model_without_a_graph_is_refused():
    with pytest.raises(ValueError, match="has to be a Functional graph"):
        count_multiply_adds(keras.Model())


def test_convolutions_and_attentions_of_a_model_within_a_model_are_layers():
    image = keras.Input((8, 8, 3))
    maps = layers.Conv2D(4, 3, padding="same")(image)
    inner = keras.Sequential([keras.Input((8, 8, 4)), layers.DepthwiseConv2D(3, padding="same")])
    tokens = layers.Reshape((64, 4))(inner(maps))
    tokens = layers.MultiHeadAttention(2, 2)(tokens, tokens)
    tokens = SoftmaxAttention(2)(tokens, tokens, tokens)
    model = keras.Model(image, layers.Dense(3)(layers.Conv1D(4, 3)(tokens)))
    assert count_layers(model) == {"convolutions": 2, "attentions": 2}

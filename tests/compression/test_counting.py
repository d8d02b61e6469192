"""Multiply-adds of single layers, counted by hand, and of whole models, counted in their artifacts."""

import keras
import pytest
from keras import layers

from hsvit_keras.compression import quantize_aware
from hsvit_keras.compression.counting import count_multiply_adds
from hsvit_keras.layers import FirstToken, SoftmaxAttention
from tests.models.small import small_model

GROUP_DENSE = "bngi,gio->bngo"


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
        (layers.BatchNormalization(), (4, 4, 3), 0),
        (layers.MaxPooling2D(), (4, 4, 3), 0),
    ],
)
def test_layers(layer, input_shape, expected):
    assert count_multiply_adds(keras.Sequential([keras.Input(input_shape), layer])) == expected


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

"""Masks keep what is largest; kernels of all layers are looked at the right way round."""

import keras
import numpy as np
import pytest
from keras import layers

from hsvit_keras.compression.kernels import Kernel, kernels
from hsvit_keras.compression.masks import masking

RNG = np.random.default_rng(0)


def mask(pattern, rows, sparsity):
    """The mask of one matrix, as int."""
    (kept,) = masking(pattern, "layer").masks([np.array([rows], "float32")], sparsity)
    assert kept.dtype == bool
    return kept[0].astype(int).tolist()


def test_single_weights():
    assert mask("weight", [[1, -5, 2], [-3, 4, 0]], 0.5) == [[0, 1, 0], [1, 1, 0]]
    assert mask("weight", [[1, -5, 2], [-3, 4, 0]], 0.0) == [[1, 1, 1], [1, 1, 1]]


def test_the_largest_stays():
    assert mask("weight", [[1, -5, 2], [-3, 4, 0]], 0.99) == [[0, 1, 0], [0, 0, 0]]


def test_equal_weights_leave_the_sparsity_exact():
    assert mask("weight", [[2, 2, 2], [2, 2, 3]], 0.5) == [[1, 1, 0], [0, 0, 1]]
    assert np.sum(mask("weight", np.ones((10, 10)), 0.73)) == 27
    assert mask("weight", [[0, 0, 0, 7]], 0.5) == [[1, 0, 0, 1]]


@pytest.mark.parametrize(
    ("size", "sparsity", "kept"), [(10, 0.25, 8), (10, 0.45, 6), (4, 0.625, 2), (5, 0.9, 1)]
)
def test_counts_are_rounded_to_even(size, sparsity, kept):
    """7.5 to 8, 5.5 to 6, 1.5 to 2, 0.5 to 1 since one has to stay."""
    assert np.sum(mask("weight", RNG.normal(size=(1, size)), sparsity)) == kept


def test_blocks():
    rows = [[1, 1, 9, 0], [1, 1, 0, 0], [3, 3, 2, 2], [3, 3, 2, 2]]
    assert mask((2, 2), rows, 0.5) == [[0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 0], [1, 1, 0, 0]]  # 2.25 and 3
    assert mask((1, 2), rows, 0.75) == [[0, 0, 1, 1], [0, 0, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0]]
    assert mask([4, 1], rows, 0.75) == [[0, 0, 1, 0]] * 4


def test_blocks_at_the_edge():
    """A cut block counts by the mean of what is there."""
    assert mask((2, 2), [[1, 1, 5], [1, 1, 5], [2, 2, 0]], 0.5) == [[0, 0, 1], [0, 0, 1], [1, 1, 0]]


def test_two_of_four():
    column = [4, -3, 2, 1, 0, 1, -9, 8]
    rows = np.array([column, column[::-1]]).T
    assert np.array(mask("2:4", rows, 0.5)).T.tolist() == [[1, 1, 0, 0, 0, 0, 1, 1], [1, 1, 0, 0, 0, 0, 1, 1]]
    assert np.array(mask("1:4", rows, 0.75)).T.tolist()[0] == [1, 0, 0, 0, 0, 0, 1, 0]
    assert np.array(mask("2:4", rows, 0.25)).T.tolist()[0] == [1, 1, 1, 0, 0, 1, 1, 1]


def test_two_of_four_where_four_do_not_divide_the_inputs():
    assert np.array(mask("2:4", np.array([[6, 5, 4, 3, 2, 1, 1]]).T, 0.5)).T.tolist() == [
        [1, 1, 0, 0, 1, 1, 0]
    ]


def test_equal_weights_leave_two_of_four():
    assert np.array(mask("2:4", np.ones((8, 3)), 0.5)).sum(axis=0).tolist() == [4, 4, 4]


def test_stacks():
    """Each matrix of a stack has its blocks and its fours; the threshold is that of the kernel."""
    kernel = np.array([[[1, 2, 3, 4]], [[5, 6, 7, 8]]], "float32")
    assert masking("weight", "layer").masks([kernel], 0.5)[0].tolist() == [[[False] * 4], [[True] * 4]]
    kept = masking("2:4", "layer").masks([kernel.transpose(0, 2, 1)], 0.5)[0]
    assert kept.transpose(0, 2, 1).tolist() == [[[False, False, True, True]]] * 2


def test_each_layer_alone_or_all_together():
    """Squares over those at least as large: 1, 9/25, 4/29, 1/30 and 1, 49/113, 36/149, 25/174."""
    small, large = np.array([[[1, 2, 3, 4]]], "float32"), np.array([[[5, 6, 7, 8]]], "float32")
    alone = masking("weight", "layer").masks([small, large], 0.375)
    together = masking("weight", "global").masks([small, large], 0.375)
    assert [kept.sum() for kept in alone] == [2, 2]  # 2.5 to even
    assert together[0].tolist() == [[[False, False, True, True]]]
    assert together[1].tolist() == [[[False, True, True, True]]]


def test_together_the_scale_of_a_layer_does_not_matter():
    """It has no meaning in front of a normalization."""
    first, second = (RNG.normal(size=shape).astype("float32") for shape in ((1, 30, 20), (1, 10, 40)))
    second *= np.abs(second) ** 2  # some are much larger than others
    kept = masking("weight", "global").masks([first, second], 0.8)
    scaled = masking("weight", "global").masks([first, second / 1e4], 0.8)
    assert sum(mask.sum() for mask in kept) == 200
    assert kept[0].mean() > 1.5 * kept[1].mean()
    for mask, other in zip(kept, scaled, strict=True):
        np.testing.assert_array_equal(mask, other)
    for weights, mask in zip((first, second), kept, strict=True):
        assert np.abs(weights[mask]).min() > np.abs(weights[~mask]).max()


def test_together_keeps_one_of_each_at_any_sparsity():
    """Whatever its scale, and of zeros too."""
    weights = [np.full((1, 2, 2), value, "float32") for value in (0, 1e-20, 100)]
    assert [kept.sum() for kept in masking("weight", "global").masks(weights, 0.95)] == [1, 1, 1]


def test_blocks_together():
    rows = np.array([[[1, 1, 2, 2], [4, 4, 8, 8]]], "float32")
    kept = masking((1, 2), "global").masks([rows, rows * 100], 0.5)
    for mask in kept:
        assert mask.tolist() == [[[False] * 4, [True] * 4]]


@pytest.mark.parametrize(
    ("pattern", "scope", "message"),
    [
        ("block", "layer", "pattern has to be 'weight', a block .*; received 'block'"),
        ("4:2", "layer", "'m:n' with m < n, .*; received '4:2'"),
        ("0:4", "layer", "received '0:4'"),
        ((1, 0), "layer", r"received \(1, 0\)"),
        ((1, 2, 3), "layer", r"received \(1, 2, 3\)"),
        ((1, 2.5), "layer", r"received \(1, 2.5\)"),
        (None, "layer", "received None"),
        ("weight", "model", "scope has to be 'layer' or 'global'; received 'model'"),
        ("2:4", "global", "pattern '2:4' is the same in all layers: scope has to be 'layer'"),
    ],
)
def test_wrong_arguments(pattern, scope, message):
    with pytest.raises(ValueError, match=message):
        masking(pattern, scope)


def built(layer, *input_shape):
    layer.build((None, *input_shape))
    return layer


def apply(kernel, inputs):
    """What the matrices of a kernel say that its layer does: (stack, inputs) to (stack, outputs)."""
    return np.einsum("si,sio->so", inputs, kernel.read())


def answer(layer, inputs):
    return keras.ops.convert_to_numpy(layer(inputs))


@pytest.mark.parametrize(
    "layer",
    [
        layers.Conv2D(5, 1, use_bias=False),
        layers.Conv2DTranspose(5, 1, use_bias=False),
        layers.EinsumDense("abcd,de->abce", (1, 1, 5)),
        layers.Dense(5, use_bias=False),
    ],
    ids=lambda layer: type(layer).__name__,
)
def test_inputs_and_outputs(layer):
    inputs = RNG.normal(size=(1, 1, 1, 3)).astype("float32")
    expected = answer(layer, inputs)
    kernel = Kernel("it", layer)
    assert kernel.shape == (1, 3, 5)
    np.testing.assert_allclose(apply(kernel, inputs[0, 0]), expected[0, 0], rtol=1e-5, atol=1e-6)


def test_each_place_in_the_window_of_a_convolution():
    layer = built(layers.Conv2D(5, (2, 3)), 4, 4, 7)
    kernel = Kernel("it", layer)
    assert kernel.shape == (6, 7, 5)
    np.testing.assert_array_equal(kernel.read()[1 * 3 + 2], np.asarray(layer.kernel)[1, 2])


def test_grouped_convolutions_have_the_inputs_of_a_group():
    assert Kernel("it", built(layers.Conv2D(6, 1, groups=3), 4, 4, 9)).shape == (1, 3, 6)


def test_a_matrix_for_each_group():
    layer = layers.EinsumDense("btgd,gde->btge", (1, 4, 5))
    inputs = RNG.normal(size=(1, 1, 4, 3)).astype("float32")
    expected = answer(layer, inputs)
    kernel = Kernel("it", layer)
    assert kernel.shape == (4, 3, 5)
    np.testing.assert_allclose(apply(kernel, inputs[0, 0]), expected[0, 0], rtol=1e-5, atol=1e-6)


def test_several_axes_of_inputs():
    """The last projection of an attention layer sums over heads and their features."""
    layer = layers.EinsumDense("btnh,nhd->btd", (1, 5))
    inputs = RNG.normal(size=(1, 1, 4, 3)).astype("float32")
    expected = answer(layer, inputs)
    kernel = Kernel("it", layer)
    assert kernel.shape == (1, 12, 5)
    np.testing.assert_allclose(apply(kernel, inputs.reshape(1, 12)), expected[0], rtol=1e-5, atol=1e-6)


def test_open_equations():
    assert Kernel("it", built(layers.EinsumDense("...x,xy->...y", 5), 2, 3)).shape == (1, 3, 5)


@pytest.mark.parametrize(
    ("layer", "input_shape"),
    [
        (layers.Conv2D(5, (2, 3)), (4, 4, 7)),
        (layers.Conv1DTranspose(5, 2), (4, 7)),
        (layers.EinsumDense("btgd,dge->btge", (None, 4, 5)), (2, 4, 3)),
        (layers.EinsumDense("btd,ndh->btnh", (None, 4, 5)), (2, 3)),
    ],
    ids=["Conv2D", "Conv1DTranspose", "grouped", "heads"],
)
def test_back_in_place(layer, input_shape):
    kernel = Kernel("it", built(layer, *input_shape))
    np.testing.assert_array_equal(kernel.in_place(kernel.read()), np.asarray(layer.kernel))
    kept = kernel.read() > 0
    kernel.keep(keras.ops.convert_to_tensor(kernel.in_place(kept)))
    np.testing.assert_array_equal(kernel.read() != 0, kept)
    assert not np.signbit(kernel.read()).any()  # no negative zeros, which would not zip well


def nested():
    inputs = keras.Input((5, 8))
    tokens = layers.MultiHeadAttention(2, 4, name="attention")(inputs, inputs)
    tokens = layers.TimeDistributed(layers.Dense(8, name="inner"), name="each")(tokens)
    tokens = layers.LayerNormalization(name="norm")(tokens)
    block = keras.Sequential([keras.Input((5, 8)), layers.Dense(4, name="inner")], name="block")
    return keras.Model(inputs, layers.Dense(3, name="head")(block(tokens)), name="nested")


ATTENTION = {f"attention/{name}" for name in ("query", "key", "value", "attention_output")}
REST = {"each/inner", "block/inner", "head"}


@pytest.mark.parametrize(
    ("skip", "expected"),
    [
        ((), ATTENTION | REST),
        (("head", "block"), ATTENTION | {"each/inner"}),
        (("attention/key",), ATTENTION - {"attention/key"} | REST),
        (("attention", "norm"), REST),
    ],
)
def test_finds_kernels_inside_of_layers(skip, expected):
    found = kernels(nested(), skip)
    assert sorted(kernel.name for kernel in found) == sorted(expected)


def test_shared_layers_count_once():
    inputs = keras.Input((4,))
    dense = layers.Dense(4, name="shared")
    inside = keras.Sequential([keras.Input((4,)), dense], name="block")
    found = kernels(keras.Model(inputs, inside(dense(dense(inputs)))))
    assert [kernel.name for kernel in found] == ["shared"]


def test_names_are_those_after_loading(tmp_path):
    stack = [layers.Dense(3, name="first"), layers.Dense(3, name="second")]
    model = keras.Sequential([keras.Input((4,)), *stack], name="named")
    model.save(tmp_path / "model.keras")
    for each in (model, keras.models.load_model(tmp_path / "model.keras")):
        assert [kernel.name for kernel in kernels(each)] == ["first", "second"]


def test_leaves_depthwise_convolutions_and_gains():
    stack = [layers.DepthwiseConv2D(3), layers.BatchNormalization(), layers.SeparableConv2D(3, 2)]
    assert kernels(keras.Sequential([keras.Input((6, 6, 2)), *stack])) == []


@pytest.mark.parametrize(
    ("make", "skip", "message"),
    [
        (nested, ["heads"], "skip names 'heads', and 'nested' has no such layer"),
        (nested, ["attention/heads"], "skip names 'attention/heads'"),
        (lambda: keras.Sequential([layers.Dense(3)], name="early"), [], "'early' has no weights yet"),
    ],
)
def test_wrong_models(make, skip, message):
    with pytest.raises(ValueError, match=message):
        kernels(make(), skip)

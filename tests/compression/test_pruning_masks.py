"""Masks keep the largest weights; kernels of all layers are viewed as matrices of inputs and outputs."""

import keras
import numpy as np
import pytest
from keras import layers

from hsvit_keras.compression.kernels import Kernel, kernels
from hsvit_keras.compression.masks import pattern_of

RNG = np.random.default_rng(0)


def mask(pattern, rows, sparsity):
    """The mask of one matrix, as int."""
    (kept,) = pattern_of(pattern, "layer").masks([np.array([rows], "float32")], sparsity)
    assert kept.dtype == bool
    return kept[0].astype(int).tolist()


def test_single_weights():
    assert mask("weight", [[1, -5, 2], [-3, 4, 0]], 0.5) == [[0, 1, 0], [1, 1, 0]]
    assert mask("weight", [[1, -5, 2], [-3, 4, 0]], 0.0) == [[1, 1, 1], [1, 1, 1]]


def test_the_largest_weight_is_kept():
    assert mask("weight", [[1, -5, 2], [-3, 4, 0]], 0.99) == [[0, 1, 0], [0, 0, 0]]


def test_the_sparsity_is_exact_for_equal_weights():
    assert mask("weight", [[2, 2, 2], [2, 2, 3]], 0.5) == [[1, 1, 0], [0, 0, 1]]
    assert np.sum(mask("weight", np.ones((10, 10)), 0.73)) == 27
    assert mask("weight", [[0, 0, 0, 7]], 0.5) == [[1, 0, 0, 1]]


@pytest.mark.parametrize(
    ("size", "sparsity", "kept"), [(10, 0.25, 8), (10, 0.45, 6), (4, 0.625, 2), (5, 0.9, 1)]
)
def test_counts_are_rounded_to_even(size, sparsity, kept):
    """7.5 to 8, 5.5 to 6, 1.5 to 2; 0.5 to 1, since at least one weight is kept."""
    assert np.sum(mask("weight", RNG.normal(size=(1, size)), sparsity)) == kept


def test_blocks():
    rows = [[1, 1, 9, 0], [1, 1, 0, 0], [3, 3, 2, 2], [3, 3, 2, 2]]
    assert mask((2, 2), rows, 0.5) == [[0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 0], [1, 1, 0, 0]]  # 2.25 and 3
    assert mask((1, 2), rows, 0.75) == [[0, 0, 1, 1], [0, 0, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0]]
    assert mask([4, 1], rows, 0.75) == [[0, 0, 1, 0]] * 4


def test_blocks_at_the_edge():
    """The score of a smaller block is the mean of its weights."""
    assert mask((2, 2), [[1, 1, 5], [1, 1, 5], [2, 2, 0]], 0.5) == [[0, 0, 1], [0, 0, 1], [1, 1, 0]]


def test_two_of_four():
    column = [4, -3, 2, 1, 0, 1, -9, 8]
    rows = np.array([column, column[::-1]]).T
    assert np.array(mask("2:4", rows, 0.5)).T.tolist() == [[1, 1, 0, 0, 0, 0, 1, 1], [1, 1, 0, 0, 0, 0, 1, 1]]
    assert np.array(mask("1:4", rows, 0.75)).T.tolist()[0] == [1, 0, 0, 0, 0, 0, 1, 0]
    assert np.array(mask("2:4", rows, 0.25)).T.tolist()[0] == [1, 1, 1, 0, 0, 1, 1, 1]


def test_two_of_four_with_seven_inputs():
    assert np.array(mask("2:4", np.array([[6, 5, 4, 3, 2, 1, 1]]).T, 0.5)).T.tolist() == [
        [1, 1, 0, 0, 1, 1, 0]
    ]


def test_two_of_four_equal_weights():
    assert np.array(mask("2:4", np.ones((8, 3)), 0.5)).sum(axis=0).tolist() == [4, 4, 4]


def test_stacks():
    """Blocks and groups of four lie within one matrix of a stack; the threshold is that of the kernel."""
    kernel = np.array([[[1, 2, 3, 4]], [[5, 6, 7, 8]]], "float32")
    assert pattern_of("weight", "layer").masks([kernel], 0.5)[0].tolist() == [[[False] * 4], [[True] * 4]]
    kept = pattern_of("2:4", "layer").masks([kernel.transpose(0, 2, 1)], 0.5)[0]
    assert kept.transpose(0, 2, 1).tolist() == [[[False, False, True, True]]] * 2


def test_layer_and_global_scope():
    """The LAMP scores, from largest to smallest, are 1, 9/25, 4/29, 1/30 and 1, 49/113, 36/149, 25/174."""
    small, large = np.array([[[1, 2, 3, 4]]], "float32"), np.array([[[5, 6, 7, 8]]], "float32")
    alone = pattern_of("weight", "layer").masks([small, large], 0.375)
    together = pattern_of("weight", "global").masks([small, large], 0.375)
    assert [kept.sum() for kept in alone] == [2, 2]  # 2.5 to even
    assert together[0].tolist() == [[[False, False, True, True]]]
    assert together[1].tolist() == [[[False, True, True, True]]]


def test_the_scale_of_a_layer_does_not_matter_in_global_scope():
    """Normalization after the layer would remove it."""
    first, second = (RNG.normal(size=shape).astype("float32") for shape in ((1, 30, 20), (1, 10, 40)))
    second *= np.abs(second) ** 2  # some are much larger than others
    kept = pattern_of("weight", "global").masks([first, second], 0.8)
    scaled = pattern_of("weight", "global").masks([first, second / 1e4], 0.8)
    assert sum(mask.sum() for mask in kept) == 200
    assert kept[0].mean() > 1.5 * kept[1].mean()
    for mask, other in zip(kept, scaled, strict=True):
        np.testing.assert_array_equal(mask, other)
    for weights, mask in zip((first, second), kept, strict=True):
        assert np.abs(weights[mask]).min() > np.abs(weights[~mask]).max()


def test_global_scope_keeps_one_weight_of_each_kernel():
    """At any sparsity and scale, and even if all weights are zero."""
    weights = [np.full((1, 2, 2), value, "float32") for value in (0, 1e-20, 100)]
    assert [kept.sum() for kept in pattern_of("weight", "global").masks(weights, 0.95)] == [1, 1, 1]


def test_blocks_in_global_scope():
    rows = np.array([[[1, 1, 2, 2], [4, 4, 8, 8]]], "float32")
    kept = pattern_of((1, 2), "global").masks([rows, rows * 100], 0.5)
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
        pattern_of(pattern, scope)


def built(layer, *input_shape):
    layer.build((None, *input_shape))
    return layer


def apply(kernel, inputs):
    """Multiplies inputs `(stack, inputs)` by the matrices of a kernel: `(stack, outputs)`."""
    return np.einsum("si,sio->so", inputs, kernel.read())


def output_of(layer, inputs):
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
    expected = output_of(layer, inputs)
    kernel = Kernel("name", layer)
    assert kernel.shape == (1, 3, 5)
    np.testing.assert_allclose(apply(kernel, inputs[0, 0]), expected[0, 0], rtol=1e-5, atol=1e-6)


def test_a_matrix_for_each_position_of_the_window():
    layer = built(layers.Conv2D(5, (2, 3)), 4, 4, 7)
    kernel = Kernel("name", layer)
    assert kernel.shape == (6, 7, 5)
    np.testing.assert_array_equal(kernel.read()[1 * 3 + 2], np.asarray(layer.kernel)[1, 2])


def test_inputs_of_a_grouped_convolution_are_those_of_a_group():
    assert Kernel("name", built(layers.Conv2D(6, 1, groups=3), 4, 4, 9)).shape == (1, 3, 6)


def test_a_matrix_for_each_group():
    layer = layers.EinsumDense("btgd,gde->btge", (1, 4, 5))
    inputs = RNG.normal(size=(1, 1, 4, 3)).astype("float32")
    expected = output_of(layer, inputs)
    kernel = Kernel("name", layer)
    assert kernel.shape == (4, 3, 5)
    np.testing.assert_allclose(apply(kernel, inputs[0, 0]), expected[0, 0], rtol=1e-5, atol=1e-6)


def test_several_axes_of_inputs():
    """As in the output projection of attention, which sums over heads and their features."""
    layer = layers.EinsumDense("btnh,nhd->btd", (1, 5))
    inputs = RNG.normal(size=(1, 1, 4, 3)).astype("float32")
    expected = output_of(layer, inputs)
    kernel = Kernel("name", layer)
    assert kernel.shape == (1, 12, 5)
    np.testing.assert_allclose(apply(kernel, inputs.reshape(1, 12)), expected[0], rtol=1e-5, atol=1e-6)


def test_equations_with_an_ellipsis():
    assert Kernel("name", built(layers.EinsumDense("...x,xy->...y", 5), 2, 3)).shape == (1, 3, 5)


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
def test_to_variable_shape_and_apply_mask(layer, input_shape):
    kernel = Kernel("name", built(layer, *input_shape))
    np.testing.assert_array_equal(kernel.to_variable_shape(kernel.read()), np.asarray(layer.kernel))
    kept = kernel.read() > 0
    kernel.apply_mask(keras.ops.convert_to_tensor(kernel.to_variable_shape(kept)))
    np.testing.assert_array_equal(kernel.read() != 0, kept)
    assert not np.signbit(kernel.read()).any()  # negative zeros would not compress well


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


def test_shared_layers_are_listed_once():
    inputs = keras.Input((4,))
    dense = layers.Dense(4, name="shared")
    inside = keras.Sequential([keras.Input((4,)), dense], name="block")
    found = kernels(keras.Model(inputs, inside(dense(dense(inputs)))))
    assert [kernel.name for kernel in found] == ["shared"]


def test_names_are_the_same_after_loading(tmp_path):
    stack = [layers.Dense(3, name="first"), layers.Dense(3, name="second")]
    model = keras.Sequential([keras.Input((4,)), *stack], name="named")
    model.save(tmp_path / "model.keras")
    for each in (model, keras.models.load_model(tmp_path / "model.keras")):
        assert [kernel.name for kernel in kernels(each)] == ["first", "second"]


def test_depthwise_convolutions_and_gains_are_not_listed():
    stack = [layers.DepthwiseConv2D(3), layers.BatchNormalization(), layers.SeparableConv2D(3, 2)]
    assert kernels(keras.Sequential([keras.Input((6, 6, 2)), *stack])) == []


@pytest.mark.parametrize(
    ("make", "skip", "message"),
    [
        (nested, ["heads"], "skip names 'heads', but 'nested' has no such layer"),
        (nested, ["attention/heads"], "skip names 'attention/heads'"),
        (lambda: keras.Sequential([layers.Dense(3)], name="early"), [], "'early' has no weights yet"),
    ],
)
def test_wrong_models(make, skip, message):
    with pytest.raises(ValueError, match=message):
        kernels(make(), skip)

"""Which parts are kept: scores from first principles, numbers and shares of parts, and errors."""

import functools

import keras
import numpy as np
import pytest
from keras import layers

import hsvit_keras
from hsvit_keras.compression.graph import Graph
from hsvit_keras.compression.quantization import quantize_aware
from hsvit_keras.compression.slimming.parts import find_places
from hsvit_keras.compression.slimming.scores import part_scores, weight_scores
from tests.compression.test_slimming import with_random_weights
from tests.models.small import small_model

RNG = np.random.default_rng(0)


def mlp(dropout=0.0):
    inputs = keras.Input((3,))
    hidden = layers.Dense(4, activation="relu", name="hidden")(inputs)
    hidden = layers.Dropout(dropout, name="dropout")(hidden)
    return with_random_weights(keras.Model(inputs, layers.Dense(5, name="head")(hidden)))


def scores(model, kind, name, score, batches=None):
    place = find_places(Graph(model))[kind][name]
    return part_scores(name, place, weight_scores(model, score, batches))


def test_weight_is_the_mean_square_of_all_weights_of_a_part():
    model = mlp()
    (kernel, bias), (rows, _) = (model.get_layer(name).get_weights() for name in ("hidden", "head"))
    expected = ((kernel**2).sum(0) + bias**2 + (rows**2).sum(1)) / (3 + 1 + 5)
    np.testing.assert_allclose(scores(model, "mlp_units", "hidden", "weight"), expected, rtol=1e-5)


def test_weight_of_groups():
    """Kernels of the convolution with their normalization, class token and positions, all projections."""
    model = with_random_weights(small_model("hsvit_c2a2"))
    expected = []
    for group in range(4):
        of_group = slice(4 * group, 4 * group + 4)
        entries = [model.get_layer("stage1_conv1").kernel[..., of_group]]
        norm = model.get_layer("stage1_norm1")
        entries += [norm.gamma[of_group], norm.beta[of_group]]
        for name in ("class_token", "position_embedding"):
            entries.append(model.get_layer(name).weights[0][:, group])
        for block in ("block0", "block1"):
            names = ["norm", *(f"attention_{part}" for part in ("query", "key", "value", "output"))]
            entries += [
                weight[group] for name in names for weight in model.get_layer(f"{block}_{name}").weights
            ]
        squares = np.concatenate([np.asarray(entry).ravel() ** 2 for entry in entries])
        expected.append(squares.mean())
    np.testing.assert_allclose(scores(model, "groups", "stage1_conv1", "weight"), expected, rtol=1e-5)


def test_weight_of_blocks_does_not_depend_on_their_size():
    model = small_model("vit")
    for layer in model.layers:
        layer.set_weights([np.full(weight.shape, 0.5) for weight in layer.get_weights()])
    np.testing.assert_allclose(scores(model, "blocks", "blocks", "weight"), [0.25] * 4)


def test_gain_is_that_of_batch_normalization():
    model = small_model("hsvit_c2a2")
    norm = model.get_layer("stage0_norm0")
    gains = RNG.normal(size=8)
    norm.set_weights([gains, *norm.get_weights()[1:]])
    np.testing.assert_allclose(scores(model, "kernels", "stage0_conv0", "gain"), np.abs(gains), rtol=1e-6)


def test_frozen_layers_have_scores():
    model = mlp()
    expected = scores(model, "mlp_units", "hidden", "weight")
    model.trainable = False
    np.testing.assert_array_equal(scores(model, "mlp_units", "hidden", "weight"), expected)


def gradients(model, images, probabilities):
    """Gradients of the mean cross-entropy of `head(relu(hidden))`, computed by hand."""
    (kernel, bias), (rows, offset) = (model.get_layer(name).get_weights() for name in ("hidden", "head"))
    before = images @ kernel + bias
    hidden = np.maximum(before, 0)
    logits = hidden @ rows + offset
    exponentials = np.exp(logits - logits.max(1, keepdims=True))
    of_logits = (exponentials / exponentials.sum(1, keepdims=True) - probabilities) / len(images)
    of_hidden = (of_logits @ rows.T) * (before > 0)
    return images.T @ of_hidden, of_hidden.sum(0), hidden.T @ of_logits


@pytest.mark.parametrize("soft", [False, True], ids=["classes", "probabilities"])
def test_taylor_is_weight_times_gradient_summed_over_batches(soft):
    """Dropout has no effect, and the model is not modified."""
    model = mlp(dropout=0.5)
    before = model.get_weights()
    batches, expected = [], 0
    for size in (6, 6):
        images, labels = RNG.normal(size=(size, 3)).astype("float32"), RNG.integers(5, size=size)
        targets = np.eye(5, dtype="float32")[labels]
        targets = 0.9 * targets + 0.02 if soft else targets
        batches.append((images, targets if soft else labels))
        of_kernel, of_bias, of_rows = gradients(model, images, targets)
        (kernel, bias), (rows, _) = (model.get_layer(name).get_weights() for name in ("hidden", "head"))
        products = np.abs(kernel * of_kernel).sum(0) + np.abs(bias * of_bias) + np.abs(rows * of_rows).sum(1)
        expected = expected + products / (3 + 1 + 5)
    result = scores(model, "mlp_units", "hidden", "taylor", iter(batches))
    np.testing.assert_allclose(result, expected, rtol=1e-4)
    for old, new in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(old, new)


def kept_units(model, **arguments):
    """The units of `hidden` that `slim` keeps."""
    kernel = model.get_layer("hidden").get_weights()[0]
    slimmed = hsvit_keras.slim(model, **arguments).get_layer("hidden").get_weights()[0]
    return [int(np.flatnonzero((kernel == column[:, None]).all(0))[0]) for column in slimmed.T]


def ranked():
    """A model whose hidden units from the best to the worst are 2, 0, 3, 1."""
    model = mlp()
    for layer in model.layers:
        layer.set_weights([np.ones(weight.shape) for weight in layer.get_weights()])
    kernel = RNG.uniform(0.9, 1.1, (3, 4)) * [3, 1, 4, 2]
    model.get_layer("hidden").set_weights([kernel, np.zeros(4)])
    return model


@pytest.mark.parametrize(
    ("keep", "units"),
    [
        (1, [2]), (2, [0, 2]), (3, [0, 2, 3]), (4, [0, 1, 2, 3]), (0.25, [2]), (0.01, [2]), (0.5, [0, 2]),
        (0.6, [0, 2]), (0.7, [0, 2, 3]), (1.0, [0, 1, 2, 3]), ([3, 1], [1, 3]), ((0,), [0]),
        (np.array([1, 2]), [1, 2]), (np.int64(2), [0, 2]), ({"hidden": 1}, [2]), ({"hidden": [1]}, [1]),
        ({}, [0, 1, 2, 3]),
    ],
)  # fmt: skip
def test_numbers_shares_and_lists(keep, units):
    assert kept_units(ranked(), mlp_units=keep) == units


def test_taylor_keeps_the_unit_that_the_outputs_depend_on():
    """Only unit 1 is ever above zero, so the gradients of the others are zero."""
    model = ranked()
    model.get_layer("hidden").set_weights([np.ones((3, 4)), np.array([-9, 0, -9, -9])])
    images, labels = np.ones((4, 3), "float32"), np.array([0, 1, 2, 3])
    model.get_layer("head").set_weights([RNG.normal(size=(4, 5)), np.zeros(5)])
    slimmed = hsvit_keras.slim(model, mlp_units=1, score="taylor", batches=[(images, labels)])
    assert slimmed.get_layer("hidden").get_weights()[1] == [0]


def test_blocks_by_number():
    """The three with the largest weights are kept."""
    model = small_model("vit")
    for layer in model.layers:
        size = 0.1 if layer.name.startswith("block0_mlp") else 0.5
        layer.set_weights([np.full(weight.shape, size) for weight in layer.get_weights()])
    slimmed = hsvit_keras.slim(model, blocks=3)
    assert hsvit_keras.slimmable_parts(slimmed)["blocks"] == [
        "block0_attention_add", "block1_attention_add", "block1_mlp_add"
    ]  # fmt: skip
    assert not [layer.name for layer in slimmed.layers if layer.name.startswith("block0_mlp")]


HSVIT_ERRORS = {
    "no group": ({"groups": 0}, r"groups has to be the number to keep, 1 to 4, .*; received 0"),
    "no group of a list": ({"groups": []}, r"groups .*; received \(\)"),
    "too many groups": ({"groups": 5}, "1 to 4, .*; received 5"),
    "negative": ({"groups": -1}, "received -1"),
    "share of nothing": ({"groups": 0.0}, "received 0.0"),
    "share above one": ({"groups": 1.5}, "received 1.5"),
    "true": ({"groups": True}, "received True"),
    "text": ({"groups": "half"}, "received 'half'"),
    "unknown group": ({"groups": [0, 4]}, r"numbers from 0 to 3; received \(0, 4\)"),
    "negative group": ({"groups": [-1]}, r"received \(-1,\)"),
    "list of lists": ({"groups": [[0, 1]]}, "received"),
    "too many heads": ({"heads": 5}, "heads has to be the number to keep, 1 to 4 of 'block0_attention'"),
    "too many heads of one": (
        {"heads": {"block1_attention": 5}},
        "4 of 'block1_attention'.* received 5",
    ),
    "unknown attention": (
        {"heads": {"block9_attention": 1}},
        "heads names 'block9_attention', but the model has only block0_attention, block1_attention",
    ),
    "kernels of the last convolution": ({"kernels": {"stage1_conv1": 3}}, "kernels names 'stage1_conv1'"),
    "no kernel": (
        {"kernels": {"stage1_conv0": []}},
        "kernels .* keep, 1 to 16 of 'stage1_conv0', a share .* list of numbers",
    ),
    "no units": ({"mlp_units": 4}, "has no mlp_units that could be removed; received mlp_units=4"),
    "no block": ({"blocks": 0}, "blocks has to be the number to keep, 1 to 2, .* received 0"),
    "no block of a list": ({"blocks": []}, "blocks has to be the number to keep, 1 to 2"),
    "unknown block": (
        {"blocks": ["block0"]},
        "blocks names 'block0', but the model has only block0_add, block1_add",
    ),
    "unknown score": ({"groups": 2, "score": "size"}, "score has to be one of 'weight', .*score='size'"),
    "no batches": ({"groups": 2, "score": "taylor"}, "score='taylor' needs batches"),
    "empty batches": ({"groups": 2, "score": "taylor", "batches": []}, "score='taylor' needs batches"),
    "no gain": (
        {"heads": 2, "score": "gain"},
        "score='gain' needs batch normalization after the parts of 'block0_attention'",
    ),
}


@functools.cache
def hsvit():
    return small_model("hsvit_c2a2")


@pytest.mark.parametrize("name", HSVIT_ERRORS)
def test_errors(name):
    arguments, message = HSVIT_ERRORS[name]
    with pytest.raises(ValueError, match=message):
        hsvit_keras.slim(hsvit(), **arguments)


def test_groups_of_a_model_without_groups():
    with pytest.raises(ValueError, match="has no groups that could be removed; received groups=2"):
        hsvit_keras.slim(small_model("vit"), groups=2)


def test_a_model_without_a_graph():
    class Subclassed(keras.Model):
        pass

    for function in (hsvit_keras.slim, hsvit_keras.slimmable_parts):
        with pytest.raises(ValueError, match="'mine' of class Subclassed"):
            function(Subclassed(name="mine"))


def test_a_quantized_model():
    quantized = quantize_aware(hsvit())
    with pytest.raises(ValueError, match=r"'hsvit_c2a2' is quantized: slim it before .*remove_quantization"):
        hsvit_keras.slim(quantized, groups=2)

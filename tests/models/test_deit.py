"""DeiT: sizes of the papers, the two heads, and every argument that does not fit."""

import re

import keras
import numpy as np
import pytest

import hsvit_keras
from tests import reference
from tests.models.counting import outline, trainable
from tests.models.running import ON_JAX, numpy
from tests.parameters import slow_but

ROWS = reference.load("param_counts")["deit"]["rows"]
NAMES = {
    "starting point (Table 1)": "deit_scaled_start",
    "Pixel3 scaling (74.8%)": "deit_scaled_pixel3_e108",
    "Pixel3 scaling (77.5%)": "deit_scaled_pixel3_e142",
    "TX2 scaling (74.0%)": "deit_scaled_tx2_d6",
    "TX2 scaling (78.2%)": "deit_scaled_tx2_d10",
    "V100 scaling (Table 12)": "deit_scaled_v100",
}
SMALL = {
    "input_shape": (16, 24, 3), "num_classes": 5, "patch_size": 8, "hidden_dim": 12, "depth": 2,
    "num_heads": 3, "mlp_dim": 20,
}  # fmt: skip


def name_of(row):
    return NAMES.get(row["model"], row["model"].lower().replace("-", "_"))


def images(seed=0):
    return np.random.default_rng(seed).normal(size=(2, *SMALL["input_shape"])).astype("float32")


@pytest.mark.once
@pytest.mark.parametrize("row", slow_but(ROWS[:2], ROWS), ids=name_of)
def test_parameters_of_the_papers(row):
    assert trainable(name_of(row)) == row["trainable"]
    assert trainable(f"{name_of(row)}_distilled") == row["trainable_distilled"]


@pytest.mark.slow
@pytest.mark.once
@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_settings_of_the_papers(row):
    factors = row["hyper"]
    model = outline(name_of(row))
    assert model.input_shape == (None, factors["I"], factors["I"], 3)
    assert (model.depth, model.num_heads, model.patch_size) == (factors["d"], factors["h"], factors["p"])
    assert model.hidden_dim == factors["h"] * factors["e"]
    assert model.mlp_dim == factors["r"] * model.hidden_dim
    assert model.get_layer("patch_tokens").output.shape[1] == row["tokens_without_cls"]
    assert model.output_shape == (None, 1000)


@pytest.mark.once
def test_every_variant_is_in_the_reference():
    plain = [name for name in hsvit_keras.list_models("deit*") if not name.endswith("_distilled")]
    assert sorted(name_of(row) for row in ROWS) == plain
    assert hsvit_keras.list_models("deit*_distilled") == [f"{name}_distilled" for name in plain]


@pytest.mark.once
def test_table_of_the_docstring():
    table = re.findall(
        r"\| `(\w+)` *\| (\d+) x \d+ x 3 \| ([\d,]+) *\| ([\d,]+) *\|",
        hsvit_keras.VisionTransformer.__doc__,
    )
    expected = [
        (name_of(row), str(row["hyper"]["I"]), f"{row['trainable']:,}", f"{row['trainable_distilled']:,}")
        for row in ROWS
    ]
    assert sorted(table) == sorted(expected)


def test_distilled_answer_is_the_mean_of_both_heads():
    model = hsvit_keras.VisionTransformer(**SMALL, distilled=True)
    heads = keras.Model(
        model.input, [model.get_layer("head").output, model.get_layer("head_distillation").output]
    )
    first, second = map(numpy, heads(images()))
    assert np.abs(first - second).max() > 0.01
    np.testing.assert_allclose(numpy(model(images())), (first + second) / 2, atol=1e-6)


def test_each_head_reads_its_own_token():
    model = hsvit_keras.VisionTransformer(**SMALL, distilled=True)
    inputs = model.get_layer("block1_mlp_add").output
    heads = keras.Model(inputs, [model.get_layer("head").output, model.get_layer("head_distillation").output])
    tokens = np.random.default_rng(0).normal(size=(1, 8, 12)).astype("float32")
    before = [numpy(answer) for answer in heads(tokens)]
    for index, changed in ((0, [True, False]), (1, [False, True]), (2, [False, False]), (7, [False, False])):
        others = tokens.copy()
        others[:, index] = others[:, index, ::-1]
        after = [numpy(answer) for answer in heads(others)]
        moved = [not np.array_equal(x, y) for x, y in zip(before, after, strict=True)]
        assert moved == changed


def test_patches_are_rows_of_the_image():
    """Token 1 * 3 + 2 of a grid of 2 x 3 is the patch in the second row and third column."""
    model = hsvit_keras.VisionTransformer(**SMALL)
    probe = keras.Model(model.input, model.get_layer("patch_tokens").output)
    changed = images()
    changed[:, 8:, 16:] += 1
    difference = np.abs(numpy(probe(changed)) - numpy(probe(images()))).max((0, 2))
    assert difference[5] > 0.01
    np.testing.assert_array_equal(difference[:5], 0)


def test_dropout_is_for_training_alone():
    model = hsvit_keras.VisionTransformer(**SMALL, dropout_rate=0.5)
    np.testing.assert_array_equal(numpy(model(images())), numpy(model(images(), training=False)))
    assert np.abs(numpy(model(images(), training=True)) - numpy(model(images()))).max() > 1e-3


POWER = {"keep_rate": (1.0, 0.5)}


def test_a_block_keeps_the_patches_that_receive_most_attention():
    """PoWER-BERT, section 3: behind its attention, in front of its feed-forward; the class token stays."""
    model = hsvit_keras.VisionTransformer(**{**SMALL, **POWER})
    names = ["block1_attention_query", "block1_attention_key", "block1_attention_add", "block1_elimination"]
    probe = keras.Model(model.input, [model.get_layer(name).output for name in names])
    query, key, tokens, kept = map(numpy, probe(images()))
    assert model.get_layer("block0_elimination").output.shape[1] == 7  # 6 patches of 8 x 8, and the class
    query, key = (x.reshape(2, 7, 3, 4).transpose(0, 2, 1, 3) for x in (query, key))
    weights = np.exp(query @ key.transpose(0, 1, 3, 2) / 2)
    received = (weights / weights.sum(-1, keepdims=True)).sum((1, 2))[:, 1:]
    chosen = 1 + np.argsort(-received, axis=1)[:, :3]
    np.testing.assert_array_equal(kept[:, :1], tokens[:, :1])
    np.testing.assert_array_equal(kept[:, 1:], np.take_along_axis(tokens, chosen[..., None], 1))
    assert model.get_layer("block1_mlp_hidden").output.shape[1] == 4


def test_elimination_has_no_weights_and_none_that_does_not_learn():
    model, plain = hsvit_keras.VisionTransformer(**SMALL, **POWER), hsvit_keras.VisionTransformer(**SMALL)
    assert [weight.path for weight in model.weights] == [weight.path for weight in plain.weights]
    before = [weight.copy() for weight in model.get_weights()]
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("sgd", loss, run_eagerly=not ON_JAX)
    model.train_on_batch(images(), np.array([0, 1]))
    still = [
        weight.path
        for weight, old in zip(model.weights, before, strict=True)
        if np.array_equal(numpy(weight), old)
    ]
    assert [path for path in still if not path.endswith("key/bias")] == []


@pytest.mark.once
def test_features_where_tokens_are_left_out():
    model = hsvit_keras.VisionTransformer(**SMALL, **POWER, distilled=True, head=None)
    assert {name: output.shape[1:] for name, output in model.output.items()} == {
        "tokens": (5, 12),  # two class tokens and 3 of 6 patches
        "pooled": (12,),
        "pooled_distillation": (12,),
    }
    assert hsvit_keras.VisionTransformer(**SMALL, keep_rate=(1, 1.0), head=None).output.keys() >= {"map"}


WRONG = {
    "keep rate": ({"keep_rate": 0}, r"keep_rate has to be a number in \(0, 1\], or one for each of 2 blocks"),
    "keep rates": ({"keep_rate": (0.5,)}, r"received keep_rate=\(0.5,\)"),
    "patch": ({"patch_size": 7}, r"patch_size=7, input_shape=\(16, 24, 3\)"),
    "patch of one side": ({"patch_size": 12}, r"patch_size=12, input_shape=\(16, 24, 3\)"),
    "heads": ({"num_heads": 5}, "num_heads=5, hidden_dim=12"),
    "no classes": ({"num_classes": 0}, "num_classes=0"),
    "fraction of depth": ({"depth": 1.5}, "depth=1.5"),
    "no feed-forward": ({"mlp_dim": 0}, "mlp_dim=0"),
    "dropout": ({"dropout_rate": 1}, "dropout_rate=1"),
    "no channels": ({"input_shape": (16, 24)}, r"input_shape=\(16, 24\)"),
}


@pytest.mark.once
@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_named(name):
    arguments, message = WRONG[name]
    with pytest.raises(ValueError, match=message):
        hsvit_keras.VisionTransformer(**{**SMALL, **arguments})

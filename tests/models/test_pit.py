"""PiT: sizes of the papers, the pooling of the map, and every argument that does not fit."""

import re

import keras
import numpy as np
import pytest

import hsvit_keras
from tests import reference
from tests.models.counting import outline, trainable
from tests.models.running import numpy
from tests.parameters import slow_but

ROWS = reference.load("param_counts")["pit"]["rows"]
SMALL = {
    "input_shape": (32, 32, 3), "num_classes": 5, "patch_size": 8, "patch_stride": 4, "depths": (1, 1, 1),
    "num_heads": (2, 4, 4), "head_dims": (4, 4, 8),
}  # fmt: skip


def name_of(row):
    return row["model"].lower().replace("-", "_")


def images():
    return np.random.default_rng(0).normal(size=(2, *SMALL["input_shape"])).astype("float32")


def grids(model):
    """Height and width of the map in each stage."""
    stages = range(1, len(model.depths))
    maps = [model.get_layer("patch_embedding"), *(model.get_layer(f"stage{i}_pool_conv") for i in stages)]
    return [tuple(layer.output.shape[1:3]) for layer in maps]


@pytest.mark.once
@pytest.mark.parametrize("row", slow_but(ROWS[:2], ROWS), ids=name_of)
def test_parameters_of_the_papers(row):
    assert trainable(name_of(row)) == row["trainable"]
    assert trainable(f"{name_of(row)}_distilled") == row["trainable_distilled"]


@pytest.mark.once
@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_settings_of_the_papers(row):
    hyper = row["hyper"]
    model = outline(name_of(row))
    assert model.input_shape == (None, hyper["image"], hyper["image"], 3)
    assert (model.patch_size, model.patch_stride) == (hyper["patch"], hyper["stride"])
    assert list(model.depths) == hyper["depth"]
    assert list(model.num_heads) == hyper["heads"]
    assert set(model.head_dims) == {hyper["base_dims"]}
    assert model.mlp_ratio == hyper["mlp_ratio"]
    # scaling paper, Table 8; PiT-B: (224 - 14) / 7 + 1 = 31
    sides = {"pit_b": (31, 16, 8), 224: (27, 14, 7), 160: (19, 10, 5), 256: (31, 16, 8)}
    assert grids(model) == [(side, side) for side in sides.get(name_of(row), sides[hyper["image"]])]


@pytest.mark.once
def test_every_variant_is_in_the_reference():
    plain = [name for name in hsvit_keras.list_models("pit_*") if not name.endswith("_distilled")]
    assert sorted(name_of(row) for row in ROWS) == plain
    assert hsvit_keras.list_models("pit_*_distilled") == [f"{name}_distilled" for name in plain]


@pytest.mark.once
def test_table_of_the_docstring():
    table = re.findall(
        r"\| `(\w+)` *\| (\d+) x \d+ x 3 \| ([\d,]+) *\| ([\d,]+) *\|",
        hsvit_keras.PoolingTransformer.__doc__,
    )
    expected = [
        (name_of(row), str(row["hyper"]["image"]), f"{row['trainable']:,}", f"{row['trainable_distilled']:,}")
        for row in ROWS
    ]
    assert sorted(table) == sorted(expected)


@pytest.mark.once
@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((32, 32, 3), [(7, 7), (4, 4), (2, 2)]),
        ((35, 34, 1), [(7, 7), (4, 4), (2, 2)]),  # what is left over is not looked at
        ((36, 20, 3), [(8, 4), (4, 2), (2, 1)]),
        ((8, 8, 3), [(1, 1), (1, 1), (1, 1)]),
    ],
)
def test_any_image_gives_the_sizes_of_the_authors_formula(shape, expected):
    """floor((n - patch) / stride) + 1, then ceil(n / 2)."""
    model = hsvit_keras.PoolingTransformer(**{**SMALL, "input_shape": shape})
    assert grids(model) == expected
    assert model.output_shape == (None, 5)


def test_each_channel_of_the_pooling_makes_two_consecutive_ones():
    model = hsvit_keras.PoolingTransformer(**SMALL)
    pool = keras.Model(model.get_layer("stage1_pool_maps").output, model.get_layer("stage1_pool_conv").output)
    maps = np.random.default_rng(0).normal(size=(1, 7, 7, 8)).astype("float32")
    changed = maps.copy()
    changed[..., 3] += 1
    difference = np.abs(numpy(pool(changed)) - numpy(pool(maps))).max((0, 1, 2))
    assert np.flatnonzero(difference > 1e-3).tolist() == [6, 7]


@pytest.mark.parametrize("side", [7, 8])
def test_pooling_pads_before_and_behind(side):
    """Windows start at -1: with a kernel of ones the first sums pixels 0 and 1 in each direction."""
    model = hsvit_keras.PoolingTransformer(**{**SMALL, "input_shape": (4 * side + 4, 4 * side + 4, 3)})
    convolution = model.get_layer("stage1_pool_conv")
    convolution.set_weights([np.ones((3, 3, 8, 2)), np.zeros(16)])
    pool = keras.Model(model.get_layer("stage1_pool_maps").output, convolution.output)
    maps = np.random.default_rng(0).normal(size=(1, side, side, 8)).astype("float32")
    pooled = numpy(pool(maps))
    assert pooled.shape == (1, 4, 4, 16)
    np.testing.assert_allclose(pooled[0, 0, 0, ::2], maps[0, :2, :2].sum((0, 1)), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(pooled[0, 1, 3, 1::2], maps[0, 1:4, 5:8].sum((0, 1)), rtol=1e-4, atol=1e-5)


def test_class_token_goes_through_the_dense_layer_and_has_no_position():
    model = hsvit_keras.PoolingTransformer(**SMALL, distilled=True)
    assert model.get_layer("position_embedding").position.shape == (49, 8)
    assert model.get_layer("class_token").class_token.shape == (2, 8)
    dense = model.get_layer("stage1_pool_class_dense")
    before = keras.Model(model.input, model.get_layer("stage0_block0_mlp_add").output)(images())
    after = keras.Model(model.input, model.get_layer("stage1_pool_join").output)(images())
    assert after.shape == (2, 2 + 16, 16)
    kernel, bias = map(numpy, dense.weights)
    np.testing.assert_allclose(numpy(after)[:, :2], numpy(before)[:, :2] @ kernel + bias, atol=1e-5)


WRONG = {
    "patch": ({"patch_size": 33}, r"patch_size=33, input_shape=\(32, 32, 3\)"),
    "patch stride": ({"patch_stride": 0}, "patch_stride=0"),
    "stages of heads": ({"num_heads": (2, 4)}, r"num_heads=\(2, 4\), head_dims=\(4, 4, 8\)"),
    "stages of depth": ({"depths": (1, 1, 1, 1)}, r"depths=\(1, 1, 1, 1\)"),
    "no stage": ({"depths": (), "num_heads": (), "head_dims": ()}, r"depths=\(\)"),
    "no block": ({"depths": (1, 0, 1)}, "depths=0"),
    "width": ({"num_heads": (2, 4, 5)}, r"multiple .* num_heads=\(2, 4, 5\), head_dims=\(4, 4, 8\)"),
    "ratio": ({"mlp_ratio": 0}, "mlp_ratio=0"),
    "no classes": ({"num_classes": 0}, "num_classes=0"),
    "dropout": ({"dropout_rate": -0.1}, "dropout_rate=-0.1"),
    "one number": ({"input_shape": 32}, "input_shape=32"),
}


@pytest.mark.once
@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_named(name):
    arguments, message = WRONG[name]
    with pytest.raises(ValueError, match=message):
        hsvit_keras.PoolingTransformer(**{**SMALL, **arguments})

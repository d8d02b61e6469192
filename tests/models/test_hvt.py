"""HVT: sizes of the paper, the pooling of the sequence, and every argument that does not fit."""

import re

import keras
import numpy as np
import pytest

import hsvit_keras
from tests import reference
from tests.models.counting import outline, trainable
from tests.models.running import numpy
from tests.parameters import slow_but

ROWS = reference.load("param_counts")["hvt"]["rows"]
# the model of a row, and what it is given besides its number of classes
NAMES = {
    "HVT-Ti-1": ("hvt_ti_1", {}),
    "Scale HVT-Ti-4": ("hvt_scale_ti_4", {}),
    "DeiT-Ti without CLS (Table 2)": ("hvt_ti_0", {}),
    "HVT-S-4 with convolution instead of pooling (Table 3)": ("hvt_s_4_convolution", {}),
    "HVT-S-4, 12 blocks (Table 5)": ("hvt_s_4", {}),
    "HVT-S-4, 16 blocks (Table 5)": ("hvt_s_4_d16", {}),
    "HVT-S-4, 20 blocks (Table 5)": ("hvt_s_4_d20", {}),
    "HVT-S-4, 24 blocks (Table 5)": ("hvt_s_4_d24", {}),
    "HVT-Ti-4, 3 heads (Table 6)": ("hvt_ti_4", {}),
    "HVT-Ti-4, 6 heads (Table 6)": ("hvt_scale_ti_4", {}),
    "HVT-Ti-4, 12 heads (Table 6)": ("hvt_ti_4_h12", {}),
    "HVT-Ti-4, 16 heads (Table 6)": ("hvt_ti_4_h16", {}),
    "HVT-S-4, patch 8 (Table 8)": ("hvt_s_4_p8", {}),
    "HVT-S-4, patch 16 (Table 8)": ("hvt_s_4", {}),
    "HVT-S-4, patch 32 (Table 8)": ("hvt_s_4_p32", {}),
    "HVT-S-2 with 2D pooling, patch 8 (Table 9), grid 28-14-7 (padded pooling)": ("hvt_s_2_2d", {}),
    **{f"HVT-S-{m} (Table {1 if m == 1 else 4})": (f"hvt_s_{m}", {}) for m in range(5)},
    **{f"HVT-S-{m} (Table 4)": (f"hvt_s_{m}", {}) for m in range(5)},
    **{f"HVT-S-{m}, ImageNet head": (f"hvt_s_{m}", {}) for m in range(5)},
    **{
        f"HVT-S-4, resolution {side} (Table 7)": ("hvt_s_4", {"input_shape": (side, side, 3)})
        for side in (160, 224, 320, 384)
    },
}
SMALL = {
    "input_shape": (32, 48, 3), "num_classes": 5, "patch_size": 8, "hidden_dim": 12, "depth": 3,
    "num_heads": 3, "mlp_dim": 20, "pool_every": 2,
}  # fmt: skip


def images():
    return np.random.default_rng(0).normal(size=(2, *SMALL["input_shape"])).astype("float32")


def classes_of(row):
    return row["hyper"]["n"] if "hyper" in row else 100


def lengths(model):
    """Tokens at first and behind each pooling."""
    names = [layer.name for layer in model.layers if layer.name.endswith("position_embedding")]
    return [model.get_layer(name).output.shape[1] for name in names]


REPRODUCED = [row for row in ROWS if row["reproduced"] != "no"]


@pytest.mark.once
@pytest.mark.parametrize("row", slow_but(REPRODUCED[:4], REPRODUCED), ids=lambda row: row["model"])
def test_parameters_of_the_paper(row):
    name, arguments = NAMES[row["model"]]
    assert trainable(name, num_classes=classes_of(row), **arguments) == row["trainable"]


def test_average_pooling_has_the_parameters_of_max_pooling():
    """Table 3."""
    assert trainable("hvt_s_4_average", num_classes=100) == trainable("hvt_s_4", num_classes=100)


@pytest.mark.once
@pytest.mark.slow
@pytest.mark.parametrize("row", [row for row in ROWS if "hyper" in row], ids=lambda row: row["model"])
def test_settings_of_the_paper(row):
    hyper, (name, arguments) = row["hyper"], NAMES[row["model"]]
    model = outline(name, num_classes=classes_of(row), **arguments)
    assert model.num_heads == hyper["heads"]
    assert model.hidden_dim == 64 * hyper["heads"]
    assert model.mlp_dim == 4 * model.hidden_dim
    assert model.pool_every == (0 if hyper["width"] == "no pooling" else hyper["width"])
    assert model.depth == hyper.get("depth", 12)
    assert model.patch_size == hyper.get("patch", 16)


def test_lengths_of_the_paper():
    assert lengths(outline("hvt_s_4", num_classes=100)) == [196, 97, 48, 23, 11]
    assert lengths(outline("hvt_s_2_2d", num_classes=100)) == [784, 196, 49]
    assert lengths(outline("hvt_s_0", num_classes=100)) == [196]


@pytest.mark.once
@pytest.mark.slow
def test_table_of_the_docstring():
    table = re.findall(r"\| `(\w+)` *\| (\d+) *\| ([\d,]+) *\|", hsvit_keras.HVT.__doc__)
    assert sorted(name for name, _, _ in table) == hsvit_keras.list_models("hvt*")
    for name, classes, parameters in table:
        assert f"{trainable(name, num_classes=int(classes)):,}" == parameters


def pooled(tokens, **arguments):
    """What the first pooling of a small model makes of tokens (batch, 24, 12)."""
    model = hsvit_keras.HVT(**{**SMALL, **arguments})
    layer = "block0_pool" if model.pooling_axes == 1 else "block0_pool_tokens"
    probe = keras.Model(model.get_layer("block0_mlp_add").output, model.get_layer(layer).output)
    return numpy(probe(tokens)), model


TOKENS = np.random.default_rng(0).normal(size=(2, 24, 12)).astype("float32")


def test_max_pooling_of_the_sequence():
    """Window 3, stride 2, no padding: 24 tokens give 11, and the last token is not looked at."""
    result, _ = pooled(TOKENS)
    expected = np.stack([TOKENS[:, i : i + 3].max(1) for i in range(0, 22, 2)], axis=1)
    np.testing.assert_array_equal(result, expected)


def test_average_pooling_of_the_sequence():
    result, _ = pooled(TOKENS, pooling="average")
    expected = np.stack([TOKENS[:, i : i + 3].mean(1) for i in range(0, 22, 2)], axis=1)
    np.testing.assert_allclose(result, expected, atol=1e-6)


def test_convolution_of_the_sequence():
    result, model = pooled(TOKENS, pooling="convolution")
    kernel, bias = map(numpy, model.get_layer("block0_pool").weights)
    windows = np.stack([TOKENS[:, i : i + 3] for i in range(0, 22, 2)], axis=1)
    np.testing.assert_allclose(result, np.einsum("bnki,kio->bno", windows, kernel) + bias, atol=1e-5)


def test_max_pooling_of_the_map():
    """A map of 4 x 6 gives 2 x 3, neighbours in both directions, nothing that is padded."""
    result, _ = pooled(TOKENS, pooling_axes=2)
    maps = TOKENS.reshape(2, 4, 6, 12)
    expected = [maps[:, y : y + 3, x : x + 3].max((1, 2)) for y in (0, 2) for x in (0, 2, 4)]
    np.testing.assert_array_equal(result, np.stack(expected, axis=1))


def test_window_and_stride_are_arguments():
    result, _ = pooled(TOKENS, pool_size=5, pool_stride=4)
    expected = np.stack([TOKENS[:, i : i + 5].max(1) for i in (0, 4, 8, 12, 16)], axis=1)
    np.testing.assert_array_equal(result, expected)


@pytest.mark.once
def test_variants_of_the_ablations_have_the_classes_of_cifar_100():
    assert outline("hvt_s_4_d16").num_classes == 100
    assert outline("hvt_s_1").num_classes == 1000


@pytest.mark.once
@pytest.mark.parametrize(
    ("every", "expected"), [(0, [24]), (1, [24, 11, 5, 2]), (2, [24, 11, 5]), (3, [24, 11])]
)
def test_where_the_poolings_are(every, expected):
    assert lengths(hsvit_keras.HVT(**{**SMALL, "pool_every": every})) == expected


def test_positions_are_added_behind_the_pooling():
    model = hsvit_keras.HVT(**SMALL)
    names = ["block0_pool", "block0_position_embedding"]
    before, after = keras.Model(model.input, [model.get_layer(name).output for name in names])(images())
    position = numpy(model.get_layer("block0_position_embedding").position)
    assert position.shape == (11, 12)
    np.testing.assert_allclose(numpy(after), numpy(before) + position, atol=1e-6)


def test_answer_is_of_the_mean_token():
    model = hsvit_keras.HVT(**SMALL)
    tokens = numpy(keras.Model(model.input, model.get_layer("head_norm").output)(images()))
    kernel, bias = map(numpy, model.get_layer("head").weights)
    np.testing.assert_allclose(numpy(model(images())), tokens.mean(1) @ kernel + bias, atol=1e-5)


WRONG = {
    "patch": ({"patch_size": 5}, r"patch_size=5, input_shape=\(32, 48, 3\)"),
    "heads": ({"num_heads": 5}, "num_heads=5, hidden_dim=12"),
    "too short": (
        {"input_shape": (16, 24, 3), "pool_every": 1},
        r"behind block 1 has a window of 3 tokens and gets 2; received input_shape=\(16, 24, 3\), patch",
    ),
    "window": ({"pool_size": 25}, "behind block 0 has a window of 25 tokens and gets 24"),
    "no window": ({"pool_size": 0}, "pool_size=0"),
    "no stride": ({"pool_stride": 0}, "pool_stride=0"),
    "negative distance": ({"pool_every": -1}, "pool_every=-1"),
    "pooling": ({"pooling": "mean"}, "pooling has to be one of 'max', 'average', 'convolution'"),
    "axes": ({"pooling_axes": 3}, "pooling_axes=3"),
    "dropout": ({"dropout_rate": 2}, "dropout_rate=2"),
    "no classes": ({"num_classes": -1}, "num_classes=-1"),
}


@pytest.mark.once
@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_named(name):
    arguments, message = WRONG[name]
    with pytest.raises(ValueError, match=message):
        hsvit_keras.HVT(**{**SMALL, **arguments})


@pytest.mark.once
def test_registered_variant_on_too_small_an_image():
    with pytest.raises(ValueError, match=r"gets 1; .* pool_every=3"):
        hsvit_keras.create_model("hvt_s_4", input_shape=(32, 32, 3))

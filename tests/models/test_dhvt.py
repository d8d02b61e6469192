"""DHVT: sizes of the paper, its three parts, and every argument that does not fit."""

import re

import keras
import numpy as np
import pytest

import hsvit_keras
from hsvit_keras.models.dhvt import PLAIN
from tests import reference
from tests.models.counting import outline, trainable
from tests.models.running import numpy
from tests.parameters import slow_but

ROWS = reference.load("param_counts")["dhvt"]["rows"]
SMALL = {
    "input_shape": (16, 24, 3), "num_classes": 5, "patch_size": 4, "hidden_dim": 16, "depth": 2,
    "num_heads": 4, "mlp_dim": 32,
}  # fmt: skip


def name_of(row):
    size = row["model"].split()[0].replace("-", "_").lower()
    dataset = row.get("dataset", "DomainNet").lower()  # Table 10 has the heads of DomainNet
    return f"{size}_{dataset}" + (f"_p{row['hyper']['patch']}" if dataset == "cifar" else "")


def images(shape=SMALL["input_shape"]):
    return np.random.default_rng(0).normal(size=(2, *shape)).astype("float32")


def part(model, inputs, outputs):
    return keras.Model(model.get_layer(inputs).output, model.get_layer(outputs).output)


@pytest.mark.once
@pytest.mark.parametrize("row", slow_but(ROWS[:2], ROWS), ids=lambda row: f"{name_of(row)}-{row['classes']}")
def test_parameters_of_the_paper(row):
    assert trainable(name_of(row), num_classes=row["classes"]) == row["trainable"]


@pytest.mark.once
@pytest.mark.parametrize("row", slow_but(ROWS[:2], ROWS), ids=lambda row: f"{name_of(row)}-{row['classes']}")
def test_settings_of_the_paper(row):
    hyper = row["hyper"]
    model = outline(name_of(row), num_classes=row["classes"])
    side = hyper.get("image", 224)
    assert model.input_shape == (None, side, side, 3)
    assert (model.patch_size, model.num_heads) == (hyper["patch"], hyper["heads"])
    assert model.hidden_dim == hyper["dim"]
    assert model.depth == hyper.get("depth", 12)
    assert model.mlp_dim == hyper.get("mlp_ratio", 4) * hyper["dim"]
    assert model.get_layer("block0_mlp_compress").units == hyper["dim"] // hyper.get("se_reduction", 4)


@pytest.mark.once
def test_every_variant_is_in_the_reference():
    assert sorted({name_of(row) for row in ROWS}) == hsvit_keras.list_models("dhvt*")


@pytest.mark.once
@pytest.mark.exhaustive
def test_table_of_the_docstring():
    table = re.findall(r"\| `(\w+)` *\| (\d+) x \d+ x 3 *\| (\d+) *\| ([\d,]+) *\|", hsvit_keras.DHVT.__doc__)
    assert sorted(row[0] for row in table) == hsvit_keras.list_models("dhvt*")
    for name, side, classes, parameters in table:
        assert f"{trainable(name, num_classes=int(classes)):,}" == parameters
        assert outline(name, num_classes=int(classes)).input_shape[1] == int(side)


@pytest.mark.once
@pytest.mark.parametrize(
    ("patch_size", "filters", "gelus"),
    [(2, [16], [0]), (4, [8, 16], [0]), (16, [2, 4, 8, 16], [0, 1, 2])],
)
def test_convolutions_of_the_patches(patch_size, filters, gelus):
    """Supplement, section 1.2: the last convolution has no GELU, but the only one has."""
    model = hsvit_keras.DHVT(**{**SMALL, "patch_size": patch_size, "input_shape": (32, 48, 3)})
    names = [layer.name for layer in model.layers]
    convolutions = [model.get_layer(name) for name in names if name.startswith("patch_conv")]
    convolutions = [layer for layer in convolutions if isinstance(layer, keras.layers.Conv2D)]
    assert [layer.filters for layer in convolutions] == filters
    assert [name for name in names if name.startswith("patch_gelu")] == [f"patch_gelu{i}" for i in gelus]
    grid = model.get_layer("patch_affine_out").output.shape
    assert grid == (None, 32 // patch_size, 48 // patch_size, 16)


def test_affine_is_a_gain_and_an_offset_for_each_channel():
    model = hsvit_keras.DHVT(**SMALL)
    probe = keras.Model(model.input, model.get_layer("patch_affine_in").output)
    np.testing.assert_array_equal(numpy(probe(images())), images())  # at first
    gain, offset = np.array([1.0, -2.0, 0.5]), np.array([0.25, 0.0, -1.0])
    model.get_layer("patch_affine_in").set_weights([gain.reshape(1, 1, 3, 1), offset])
    np.testing.assert_allclose(numpy(probe(images())), images() * gain + offset, rtol=1e-6)


def test_head_tokens():
    """Supplement, section 1.3, in NumPy."""
    model = hsvit_keras.DHVT(**SMALL)
    tokens = np.random.default_rng(0).normal(size=(2, 25, 16)).astype("float32")
    result = numpy(part(model, "block0_norm", "block0_attention_heads_embedding")(tokens))
    kernel, bias = map(numpy, model.get_layer("block0_attention_heads_dense").weights)
    position = numpy(model.get_layer("block0_attention_heads_embedding").position)
    heads = tokens.astype("float64").reshape(2, 25, 4, 4).transpose(0, 2, 1, 3).mean(2)
    heads = (heads @ kernel + bias).reshape(2, 4, 4, 4)
    heads = (heads - heads.mean(-1, keepdims=True)) / np.sqrt(heads.var(-1, keepdims=True) + 1e-5)
    gelu = numpy(keras.ops.gelu(heads.astype("float32"), approximate=False))
    np.testing.assert_allclose(result, gelu.reshape(2, 4, 16) + position, atol=1e-5)


def test_head_tokens_are_the_last_and_go_into_the_class_token():
    model = hsvit_keras.DHVT(**SMALL)
    joined = keras.Model(
        model.get_layer("block0_attention_output").output, model.get_layer("block0_attention_join").output
    )
    answers = np.random.default_rng(0).normal(size=(2, 29, 16)).astype("float32")
    expected = answers[:, :25].copy()
    expected[:, 0] += answers[:, 25:].mean(1)
    np.testing.assert_allclose(numpy(joined(answers)), expected, atol=1e-6)


def test_feed_forward_scales_the_class_token_and_lets_it_into_no_patch():
    """No sigmoid: the weight is as large as the last Dense layer makes it, and may be negative."""
    model = hsvit_keras.DHVT(**SMALL)
    kernel, bias = model.get_layer("block0_mlp_excite").get_weights()
    model.get_layer("block0_mlp_excite").set_weights([0 * kernel, bias - 3])
    feed = part(model, "block0_mlp_norm", "block0_mlp_join")
    tokens = np.random.default_rng(0).normal(size=(2, 25, 16)).astype("float32")
    before = numpy(feed(tokens))
    np.testing.assert_allclose(before[:, 0], -3 * tokens[:, 0], rtol=1e-5)
    tokens[:, 0] += 1
    np.testing.assert_array_equal(numpy(feed(tokens))[:, 1:], before[:, 1:])


def test_feed_forward_looks_at_the_neighbours_of_a_patch():
    """A map of 4 x 6: patch (1, 2) reaches the nine around it and no other."""
    model = hsvit_keras.DHVT(**SMALL)
    feed = part(model, "block0_mlp_norm", "block0_mlp_join")
    tokens = np.random.default_rng(0).normal(size=(1, 25, 16)).astype("float32")
    changed = tokens.copy()
    changed[:, 1 + 1 * 6 + 2] += 1
    difference = np.abs(numpy(feed(changed)) - numpy(feed(tokens)))[0, 1:].max(-1).reshape(4, 6)
    expected = np.zeros((4, 6), bool)
    expected[0:3, 1:4] = True
    np.testing.assert_array_equal(difference > 0, expected)


def test_there_are_no_positions_but_those_of_the_head_tokens():
    model = hsvit_keras.DHVT(**SMALL)
    positions = [weight.path for weight in model.weights if weight.path.endswith("position")]
    assert positions == [f"block{i}_attention_heads_embedding/position" for i in range(2)]


def test_without_its_parts_it_is_deit():
    sizes = {**SMALL, "num_heads": 2, "mlp_dim": 32}
    plain, deit = hsvit_keras.DHVT(**sizes, **PLAIN), hsvit_keras.VisionTransformer(**sizes)
    assert [weight.path for weight in plain.weights] == [weight.path for weight in deit.weights]
    deit.set_weights([1.1 * weight + 0.01 for weight in deit.get_weights()])
    plain.set_weights(deit.get_weights())
    np.testing.assert_array_equal(numpy(plain(images())), numpy(deit(images())))


FEED = np.random.default_rng(1).normal(size=(2, 25, 16)).astype("float32")


def fed(model, tokens=FEED):
    """What the first feed-forward makes of normalized tokens, whose map is 4 x 6."""
    return numpy(part(model, "block0_mlp_norm", "block0_mlp_join")(tokens))


def scale_by(model, weight):
    """Lets each channel's weight of the recalibration be the same number for all images."""
    kernel, bias = model.get_layer("block0_mlp_excite").get_weights()
    model.get_layer("block0_mlp_excite").set_weights([0 * kernel, 0 * bias + weight])


def test_recalibration_of_all_tokens():
    """Table 3: patches are scaled by what scales the class token otherwise."""
    model = hsvit_keras.DHVT(**{**SMALL, "recalibration": "all_tokens"})
    scale_by(model, -3)
    joined, scaled = (
        numpy(part(model, "block0_mlp_norm", f"block0_mlp_{name}")(FEED)) for name in ("join", "scale")
    )
    np.testing.assert_allclose(scaled, -3 * joined, rtol=1e-5)


def test_a_split_class_token_without_recalibration_is_left_as_it_is():
    """Table 2, "Split CLS"."""
    model = hsvit_keras.DHVT(**{**SMALL, "recalibration": None})
    np.testing.assert_array_equal(fed(model)[:, 0], FEED[:, 0])


def test_average_of_the_neighbours():
    """Table 2, "AvgPool": the mean of the patches around one that are there, added to its own features."""
    model = hsvit_keras.DHVT(**{**SMALL, "neighbours": "average", "mlp_norm": None})
    added = part(model, "block0_mlp_gelu0", "block0_mlp_near_add")
    maps = np.random.default_rng(0).normal(size=(2, 4, 6, 32)).astype("float32")
    expected = maps.copy()
    for y, x in np.ndindex(4, 6):
        expected[:, y, x] += maps[:, max(0, y - 1) : y + 2, max(0, x - 1) : x + 2].mean((1, 2))
    np.testing.assert_allclose(numpy(added(maps)), expected, atol=1e-5)


def test_without_shortcut_a_feature_goes_on_only_through_the_convolution():
    """Table 3."""
    model = hsvit_keras.DHVT(**{**SMALL, "shortcut": False})
    kernel, bias = model.get_layer("block0_mlp_conv1").get_weights()
    model.get_layer("block0_mlp_conv1").set_weights([0 * kernel, 0 * bias])
    patches = fed(model)[:, 1:]
    np.testing.assert_allclose(patches, np.broadcast_to(patches[:1, :1], patches.shape), atol=1e-6)
    assert np.ptp(fed(hsvit_keras.DHVT(**SMALL))[:, 1:], axis=1).max() > 0.1


@pytest.mark.parametrize("where", ["embedding_norm", "mlp_norm"])
def test_layer_normalization_in_place_of_batch_normalization(where):
    """Table 5: each patch over its own channels."""
    model = hsvit_keras.DHVT(**{**SMALL, where: "layer"})
    kinds = {name: type(model.get_layer(name)).__name__ for name in ("patch_norm0", "block0_mlp_norm2")}
    other = {"embedding_norm": "block0_mlp_norm2", "mlp_norm": "patch_norm0"}[where]
    assert kinds.pop(other) == "BatchNormalization"
    (name,) = kinds
    values = numpy(keras.Model(model.input, model.get_layer(name).output)(images() * 10))
    np.testing.assert_allclose(values.mean(-1), 0, atol=1e-5)
    np.testing.assert_allclose(values.var(-1), 1, atol=1e-2)


def test_positions_and_heads_are_switches_of_their_own():
    """Supplement, section 2.3."""
    model = hsvit_keras.DHVT(**SMALL, position_embedding=True, head_tokens=False, affine=False)
    assert [weight.path for weight in model.weights if "position" in weight.path] == [
        "position_embedding/position"
    ]
    assert not [layer.name for layer in model.layers if "heads" in layer.name or "affine" in layer.name]


ABLATED = {
    "plain": PLAIN,
    "average": {**PLAIN, "split_class_token": True, "neighbours": "average"},
    "all tokens": {"recalibration": "all_tokens", "shortcut": False},
    "layer normalization": {"embedding_norm": "layer", "mlp_norm": "layer", "affine": False},
}


@pytest.mark.exhaustive
@pytest.mark.tensorflow
@pytest.mark.parametrize("name", ABLATED)
def test_ablated_models_run_on_phones(name, tmp_path):
    """`to_tflite` refuses an artifact whose outputs differ from the model's."""
    model = hsvit_keras.DHVT(**{**SMALL, **ABLATED[name]})
    report = hsvit_keras.to_tflite(model, tmp_path / "float32.tflite", preset="float32")
    assert report["fully_delegated"] and report["partitions"] == 1
    report = hsvit_keras.to_tflite(
        model, tmp_path / "int8.tflite", preset="int8", calibration=[images() for _ in range(4)]
    )
    assert report["parity"]["cosine"] > 0.98


WRONG = {
    "embedding": ({"embedding": "patch"}, "embedding has to be one of 'convolutions', 'patches'"),
    "norm": ({"mlp_norm": "group"}, "mlp_norm has to be one of 'batch', 'layer', None; received"),
    "neighbours": ({"neighbours": "max"}, "neighbours has to be one of 'depthwise', 'average', None"),
    "recalibration": ({"recalibration": "all"}, "recalibration has to be one of 'class_token', 'all_tokens'"),
    "class token": (
        {"split_class_token": False, "recalibration": None, "neighbours": None},
        "received split_class_token=False, neighbours=None, recalibration=None, mlp_norm='batch'",
    ),
    "patch": ({"patch_size": 8}, "patch_size has to be one of 2, 4, 16; received patch_size=8"),
    "image": ({"input_shape": (16, 26, 3)}, r"patch_size=4, input_shape=\(16, 26, 3\)"),
    "heads": ({"num_heads": 3}, "num_heads=3, hidden_dim=16"),
    "squeeze": ({"hidden_dim": 18, "num_heads": 3}, "squeeze ratio=4, hidden_dim=18"),
    "filters": (
        {"hidden_dim": 12, "patch_size": 16, "input_shape": (16, 16, 3)},
        "patch_size=8, hidden_dim=12",
    ),
    "no classes": ({"num_classes": 0}, "num_classes=0"),
    "no block": ({"depth": 0}, "depth=0"),
    "no channels": ({"input_shape": (16, 16)}, r"input_shape=\(16, 16\)"),
}


@pytest.mark.once
@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_named(name):
    arguments, message = WRONG[name]
    with pytest.raises(ValueError, match=message):
        hsvit_keras.DHVT(**{**SMALL, **arguments})

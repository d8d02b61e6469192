"""HSViT: sizes of the paper, and every argument that does not fit."""

import re

import keras
import numpy as np
import pytest

import hsvit_keras
from hsvit_keras.checkpoints import hsvit as checkpoint
from hsvit_keras.compression.counting import count_multiply_adds
from tests import reference
from tests.models.counting import count, outline, trainable, without_values

COUNTS = reference.load("param_counts")["hsvit"]
CLASSES = {"CIFAR-10": 10, "CIFAR-100": 100, "Fashion-MNIST": 10, "Tiny-ImageNet": 200, "Food-101": 101}


@pytest.mark.once
@pytest.mark.parametrize("row", COUNTS["rows"], ids=lambda row: f"{row['model']}-{row['dataset']}")
def test_parameters_of_the_paper(row):
    channels, *side = row.get("input", [3, 32, 32])
    ablation = {}
    if "without attention" in row["model"]:
        ablation = {"attention_groups": 0}
    elif "without convolution" in row["model"]:
        ablation = {"use_convolution": False, "hidden_dim": 1024}
    name = "hsvit_" + re.match(r"HSViT-(C\dA\d)", row["model"])[1].lower()
    classes = CLASSES[row["dataset"]]
    trained = trainable(name, input_shape=(*side, channels), num_classes=classes, **ablation)
    assert trained == row["trainable"]


@pytest.mark.once
@pytest.mark.parametrize(
    "row", [row for row in COUNTS["rows"] if "hyper" in row], ids=lambda row: row["model"]
)
def test_settings_of_the_paper(row):
    channels, *side = row["input"]
    name = row["model"].replace("-", "_").lower()
    model = outline(name, input_shape=(*side, channels), num_classes=CLASSES[row["dataset"]])
    hyper = row["hyper"]
    assert list(model.filters) == hyper["conv_kernel_nums"]
    assert set(model.kernel_sizes) == {hyper["conv_kernel_sizes"]}
    assert list(model.pool_strides) == hyper["pool_strides"]
    assert model.attention_groups == hyper["attn_num"]
    assert model.depth == hyper["attn_depth"]
    assert model.hidden_dim == hyper["attn_embed_dim"]
    assert model.num_heads == 8
    assert model.dropout_rate == hyper["dropout"]


@pytest.mark.once
@pytest.mark.parametrize("file", COUNTS["released_config_files"])
def test_parameters_of_the_released_files(file):
    released = COUNTS["released_config_files"][file]
    classes = {
        "cifar10": 10,
        "cifar100": 100,
        "fmnist": 10,
        "tiny_imagenet": 200,
        "food101": 101,
        "imagenet": 1000,
    }
    config = {
        "num_channels": released["channels"],
        "num_classes": classes[re.search(r"hsvit_(.*)\.yaml", file)[1]],
        "conv_kernel_sizes": 3,
        "dropout": 0.2,
        **{key: released[key] for key in released if key not in ("channels", "trainable")},
    }
    model = without_values(lambda: checkpoint.build("hsvit", config, None))
    assert count(model) == released["trainable"]


@pytest.mark.once
def test_default_is_where_the_paper_counts_parameters():
    model = outline("hsvit_c3a4")
    assert model.input_shape == (None, 64, 64, 3)
    assert model.output_shape == (None, 200)


@pytest.mark.once
@pytest.mark.parametrize(("side", "strides"), [(28, (2, 2)), (63, (2, 2)), (100, (4, 2)), (224, (4, 4))])
def test_other_sizes_take_the_column_below(side, strides):
    assert outline("hsvit_c2a2", input_shape=(side, side + 40, 3)).pool_strides == strides


SMALL = {
    "input_shape": (16, 16, 3), "num_classes": 5, "filters": (8, 16), "pool_strides": (2, 2),
    "attention_groups": 4, "hidden_dim": 16, "num_heads": 4,
}  # fmt: skip


@pytest.mark.once
@pytest.mark.parametrize("kernel_size", [1, 2, 3, 4, 5, 7])
@pytest.mark.parametrize("stride", [1, 2, 3, 4])
def test_any_kernel_and_stride_gives_the_sizes_of_symmetric_padding(kernel_size, stride):
    """Convolution k, padding k // 2, and pooling likewise: floor((n + 2 * (k // 2) - k) / s) + 1."""
    size = 16 + 2 * (kernel_size // 2) - kernel_size + 1
    pooled = (size + 2 * (kernel_size // 2) - kernel_size) // stride + 1 if stride > 1 else size
    model = hsvit_keras.HSViT(
        **{**SMALL, "filters": (8,), "kernel_sizes": kernel_size, "pool_strides": (stride,)}
    )
    assert model.get_layer("embedding").kernel.shape == (pooled * pooled, 16)
    assert model(np.zeros((1, 16, 16, 3), "float32")).shape == (1, 5)


def test_pooling_pads_before_and_behind():
    """Windows start at -1: the first sees pixels 0 and 1, not 0 to 2 as Keras' "same" would."""
    model = hsvit_keras.HSViT(**{**SMALL, "filters": (4,), "pool_strides": (2,)})
    pooling = keras.Model(model.get_layer("stage0_relu1").output, model.get_layer("stage0_pool").output)
    maps = np.abs(np.random.default_rng(0).normal(size=(1, 16, 16, 4))).astype("float32")
    pooled = keras.ops.convert_to_numpy(pooling(maps))
    assert pooled.shape == (1, 8, 8, 4)
    np.testing.assert_array_equal(pooled[0, 0, 0], maps[0, :2, :2].max((0, 1)))
    np.testing.assert_array_equal(pooled[0, 7, 7], maps[0, 13:16, 13:16].max((0, 1)))


@pytest.mark.once
def test_separable_convolutions_have_the_weights_and_multiply_adds_of_their_definition():
    """All but the first: k * k weights a channel, and channels * filters; C2A2 on 32 x 32 pixels."""
    arguments = {"input_shape": (32, 32, 3), "num_classes": 10}
    # channels, filters and side of the map
    convolutions = ((64, 64, 32), (64, 128, 16), (128, 128, 16))
    weights, multiply_adds = 0, 0
    for channels, filters, side in convolutions:
        saved = 9 * channels * filters - (9 * channels + channels * filters)
        weights += saved - 2 * channels  # gain and offset of the normalization between
        multiply_adds += saved * side**2
    plain, separable = (
        hsvit_keras.create_model("hsvit_c2a2", **arguments, separable=value) for value in (False, True)
    )
    assert count(plain) - count(separable) == weights
    assert count_multiply_adds(plain) - count_multiply_adds(separable) == multiply_adds
    assert separable.get_layer("stage1_depthwise0").kernel.shape == (3, 3, 64, 1)
    assert separable.get_layer("stage1_conv0").kernel.shape == (1, 1, 64, 128)


@pytest.mark.once
def test_parts_of_the_image_divide_the_multiply_adds_of_a_split_stem():
    """Each of 16 groups sees a quarter of 32 x 32 x 3 pixels; its tokens have 4 x 4 pixels, not 8 x 8."""
    arguments = {"input_shape": (32, 32, 3), "num_classes": 10, "stem": "split"}
    whole, parts = (
        hsvit_keras.create_model("hsvit_c2a2", **arguments, image_grid=grid) for grid in ((1, 1), (2, 2))
    )
    stem = 32**2 * 64 * (27 + 9 * 4) + 16**2 * 128 * (9 * 4 + 9 * 8)
    embedding = 128 * 64 * 64
    saved = count_multiply_adds(whole) - count_multiply_adds(parts)
    assert saved == (stem + embedding) * 3 // 4
    assert count(whole) - count(parts) == 64 * 64 * 3 // 4


def test_groups_see_their_part_of_the_image():
    model = hsvit_keras.HSViT(**SMALL, stem="split", image_grid=(2, 2))
    answers = keras.Model(model.inputs[0], model.get_layer("group_answers").output)
    image = np.random.default_rng(0).normal(size=(1, 16, 16, 3)).astype("float32")
    changed = image.copy()
    changed[:, 8:, :8] += 1  # below, on the left: part 2
    difference = np.abs(np.asarray(answers(changed)) - np.asarray(answers(image))).max(-1)[0]
    assert difference[2] > 1e-3
    np.testing.assert_array_equal(np.delete(difference, 2), 0)


@pytest.mark.once
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"image_grid": (2, 2)}, r"only columns of a split stem.*image_grid=\(2, 2\), stem='shared'"),
        ({"image_grid": 2}, r"image_grid has to be \(rows, columns\); received image_grid=2"),
        ({"image_grid": (3, 1), "stem": "split"}, r"image_grid\[0\] has to divide input_shape\[0\]"),
        ({"image_grid": (0, 1), "stem": "split"}, r"image_grid\[0\] has to be .* at least 1"),
        ({"image_grid": (4, 2), "stem": "split"}, "parts of image_grid has to divide attention_groups"),
        ({"image_grid": (4, 1), "stem": "split", "pool_strides": (4, 4)}, "the image is too small: stage 1"),
        ({"separable": True, "use_convolution": False, "hidden_dim": 256}, "without convolutions none"),
    ],
)  # fmt: skip
def test_stems_that_do_not_fit(changes, message):
    with pytest.raises(ValueError, match=message):
        hsvit_keras.HSViT(**{**SMALL, **changes})


def test_groups_do_not_hear_of_each_other():
    """Only the mean at the end joins them: section 3.3."""
    model = hsvit_keras.HSViT(**SMALL)
    answers = keras.Model(
        model.get_layer("embedding_dropout").output, model.get_layer("group_answers").output
    )
    tokens = np.random.default_rng(0).normal(size=(1, 16, 16)).astype("float32")
    changed = tokens.copy()
    changed[:, 4:8] *= 2  # the kernels of the second group
    difference = np.abs(np.asarray(answers(changed)) - np.asarray(answers(tokens))).max(-1)[0]
    assert difference[1] > 1e-3
    np.testing.assert_array_equal(np.delete(difference, 1), 0)


def test_training_leaves_each_image_some_of_its_groups():
    """The answer is that of their mean: of all 15 subsets, one a draw, none left out."""
    model = hsvit_keras.HSViT(**SMALL, dropout_rate=0.0, group_dropout_rate=0.5)
    end = keras.Model(model.get_layer("group_answers").output, model.output)
    groups = np.random.default_rng(0).normal(size=(4, 16)).astype("float32")
    head = keras.Model(model.get_layer("mean_answer").output, model.output)
    subsets = [[g for g in range(4) if number >> g & 1] for number in range(1, 16)]
    answers = np.asarray(head(np.stack([groups[subset].mean(axis=0) for subset in subsets])))
    trained = np.asarray(end(np.tile(groups, (300, 1, 1)), training=True))
    distance = np.abs(trained[:, None] - answers).max(axis=-1)
    np.testing.assert_allclose(distance.min(axis=1), 0, atol=1e-5)
    assert set(distance.argmin(axis=1)) == set(range(15))
    np.testing.assert_allclose(np.asarray(end(groups[None], training=False))[0], answers[-1], atol=1e-6)


def test_group_dropout_has_no_weights_and_is_off_by_default():
    plain = hsvit_keras.HSViT(**SMALL)
    dropping = hsvit_keras.HSViT(**SMALL, group_dropout_rate=0.3)
    names = [layer.name for layer in dropping.layers]
    assert [name for name in names if name != "group_dropout"] == [layer.name for layer in plain.layers]
    assert [weight.path for weight in dropping.weights] == [weight.path for weight in plain.weights]


def test_files_from_before_group_dropout_load():
    """Their config does not name it."""
    config = hsvit_keras.HSViT(**SMALL).get_config()
    assert config.pop("group_dropout_rate") == 0.0
    model = hsvit_keras.HSViT.from_config(config)
    assert model.group_dropout_rate == 0.0


def test_initial_projections_of_groups_are_as_large_as_a_dense_layers():
    kernel = np.asarray(hsvit_keras.create_model("hsvit_c2a2").get_layer("block0_attention_value").kernel)
    assert kernel.shape == (16, 64, 64)
    limit = np.sqrt(6 / (64 + 64))  # Glorot and Bengio
    assert np.abs(kernel).max() == pytest.approx(limit, rel=0.01)


WRONG = {
    "groups": ({"attention_groups": 3}, r"attention_groups=3, filters\[-1\]=16"),
    "heads": ({"num_heads": 5}, "num_heads=5, hidden_dim=16"),
    "no classes": ({"num_classes": 0}, "num_classes=0"),
    "fraction of classes": ({"num_classes": 2.5}, "num_classes=2.5"),
    "image too small": ({"input_shape": (2, 16, 3), "pool_strides": (2, 4)}, r"stage 1 .* stride 4 .* 1 x 8"),
    "no channels": ({"input_shape": (16, 16)}, r"input_shape=\(16, 16\)"),
    "one number": ({"input_shape": 16}, "input_shape=16"),
    "negative size": ({"input_shape": (16, -16, 3)}, r"input_shape=\(16, -16, 3\)"),
    "stages": ({"pool_strides": (2,)}, r"pool_strides=\(2,\)"),
    "kernel sizes": ({"kernel_sizes": (3, 3, 3)}, r"kernel_sizes=\(3, 3, 3\)"),
    "kernel size zero": ({"kernel_sizes": 0}, "kernel_sizes=0"),
    "no stage": ({"filters": (), "pool_strides": ()}, r"filters=\(\)"),
    "dropout": ({"dropout_rate": 1.5}, "dropout_rate=1.5"),
    "group dropout": ({"group_dropout_rate": 1.0}, r"group_dropout_rate has to .*=1\.0"),
    "group dropout without groups": (
        {"group_dropout_rate": 0.5, "attention_groups": 0},
        "group_dropout_rate=0.5, attention_groups=0",
    ),
    "depth": ({"depth": 0}, "depth=0"),
    "hidden_dim": ({"hidden_dim": 0}, "hidden_dim=0"),
    "no convolution": ({"use_convolution": False}, r"hidden_dim .* 256; received hidden_dim=16"),
}


@pytest.mark.once
@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_named(name):
    arguments, message = WRONG[name]
    with pytest.raises(ValueError, match=message):
        hsvit_keras.HSViT(**{**SMALL, **arguments})


@pytest.mark.once
def test_numpy_numbers_are_numbers():
    model = hsvit_keras.create_model(
        "hsvit_tiny", input_shape=np.array([32, 32, 1]), num_classes=np.int64(5), filters=np.array([8, 16])
    )
    assert model.output_shape == (None, 5)
    assert type(model.get_config()["num_classes"]) is int
    assert model.get_config()["input_shape"] == (32, 32, 1)


@pytest.mark.once
def test_one_number_for_the_stages():
    with pytest.raises(ValueError, match=r"filters has to be a sequence of integers.*filters=16"):
        hsvit_keras.HSViT(**{**SMALL, "filters": 16})
    with pytest.raises(ValueError, match="input_shape=32"):
        hsvit_keras.create_model("hsvit_tiny", input_shape=32)


def test_wrong_channels_at_the_call():
    with pytest.raises(ValueError, match=r"expected axis -1 of input shape to have value 3, .*16, 16, 1"):
        hsvit_keras.HSViT(**SMALL)(np.zeros((1, 16, 16, 1), "float32"))

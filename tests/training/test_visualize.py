"""The pictures of an HSViT show what its layers compute."""

import json

import keras
import numpy as np
import pytest

import hsvit_keras
from hsvit_runtime.errors import InputError, MissingFileError
from tests.command_line.in_process import call
from training import visualize
from training.visualizing import attention_maps, moving

pytestmark = pytest.mark.once  # JAX trains in test_train, and compresses in test_compress

GROUPS, HEADS, KERNELS = 2, 2, 8


def make_model(**overrides):
    """A model whose weights are far from their start, so that its attention is not even."""
    keras.utils.set_random_seed(3)
    arguments = {
        "filters": (4, KERNELS), "pool_strides": (2, 2), "attention_groups": GROUPS, "depth": 2,
        "hidden_dim": 8, "num_heads": HEADS,
    }  # fmt: skip
    model = hsvit_keras.create_model("hsvit_tiny", input_shape=(16, 12, 1), **{**arguments, **overrides})
    rng = np.random.default_rng(0)
    model.set_weights(
        [
            np.abs(rng.normal(size=w.shape)) if "norm" in w.path else rng.normal(size=w.shape)
            for w in model.weights
        ]
    )
    return model


@pytest.fixture(scope="module")
def model():
    return make_model()


@pytest.fixture(scope="module")
def images():
    return np.random.default_rng(1).normal(size=(3, 16, 12, 1)).astype("float32")


def output_of(model, name, images):
    return np.asarray(keras.Model(model.inputs[0], model.get_layer(name).output)(images))


def test_feature_maps_are_the_output_of_the_last_stage(model, images):
    maps = attention_maps.feature_maps(model, images)
    assert maps.shape == (3, 4, 3, KERNELS)
    np.testing.assert_array_equal(maps, output_of(model, "stage1_pool", images))


def test_feature_maps_of_a_last_stage_without_pooling(images):
    model = make_model(pool_strides=(2, 1))
    maps = attention_maps.feature_maps(model, images)
    assert maps.shape == (3, 8, 6, KERNELS)
    np.testing.assert_array_equal(maps, output_of(model, "stage1_relu1", images))


@pytest.mark.parametrize("block", [0, 1, -1])
def test_attention_is_the_softmax_of_the_class_tokens_query(model, images, block):
    """By its definition, group for group and head for head."""
    attention = attention_maps.class_attention(model, images, block)
    name = f"block{block % 2}_attention"
    query, key = (output_of(model, f"{name}_{part}", images) for part in ("query", "key"))
    expected = np.zeros((3, GROUPS, 1 + KERNELS // GROUPS))
    for group in range(GROUPS):
        for head in range(HEADS):
            cut = slice(head * 4, head * 4 + 4)
            scores = np.einsum("bd,btd->bt", query[:, 0, group, cut], key[:, :, group, cut]) / np.sqrt(4)
            exponentials = np.exp(scores - scores.max(-1, keepdims=True))
            expected[:, group] += exponentials / exponentials.sum(-1, keepdims=True) / HEADS
    np.testing.assert_allclose(attention, expected, atol=1e-5)
    np.testing.assert_allclose(attention.sum(-1), 1, atol=1e-5)
    assert attention.std() > 0.05


def test_attention_explains_what_the_layer_gives_out(images):
    """With values that are one-hot in the tokens, attention of one head gives its weights out."""
    model = make_model(num_heads=1, depth=1, dropout_rate=0.0)
    attention = attention_maps.class_attention(model, images)
    value = output_of(model, "block0_attention_value", images)
    mixed = output_of(model, "block0_attention", images)
    np.testing.assert_allclose(mixed[:, 0], np.einsum("bgt,btgd->bgd", attention, value), atol=1e-4)


def test_the_kernel_of_the_largest_weight_is_chosen_and_the_class_token_never():
    attention = np.array([[[0.9, 0.0, 0.1, 0.0, 0.0], [0.1, 0.2, 0.1, 0.1, 0.5]]])
    np.testing.assert_array_equal(attention_maps.most_attended(attention, kernels=8), [[1, 7]])


def test_without_attention_there_are_only_maps(images):
    model = make_model(attention_groups=0)
    assert attention_maps.class_attention(model, images) is None
    assert attention_maps.feature_maps(model, images).shape == (3, 4, 3, KERNELS)


def test_without_convolution_there_is_only_attention(images):
    model = make_model(use_convolution=False, hidden_dim=16 * 12)
    assert attention_maps.feature_maps(model, images) is None
    assert attention_maps.class_attention(model, images).shape == (3, GROUPS, 1 + KERNELS // GROUPS)


def test_a_block_that_is_not_there_is_named(model, images):
    with pytest.raises(ValueError, match="block has to be from -2 to 1; received block=2"):
        attention_maps.class_attention(model, images, 2)


def test_another_model_is_refused(images):
    other = keras.Sequential([keras.Input((16, 12, 1)), keras.layers.Flatten()], name="other")
    for function in (attention_maps.feature_maps, attention_maps.class_attention):
        with pytest.raises(ValueError, match="other is no HSViT"):
            function(other, images)


@pytest.mark.parametrize(
    "overrides, columns",
    [
        ({}, 1 + 2 + 3),
        ({"attention_groups": 0}, 1 + 5),
        ({"use_convolution": False, "hidden_dim": 192}, 1 + 3),
    ],
)
def test_the_picture_has_a_row_for_each_image(images, overrides, columns):
    model = make_model(**overrides)
    maps, attention = (
        attention_maps.feature_maps(model, images),
        attention_maps.class_attention(model, images),
    )
    kernels = None if maps is None else attention_maps.chosen_kernels(maps, attention, 5)
    maps = None if maps is None else attention_maps.maps_of(maps, kernels)
    figure = attention_maps.figure_of(np.clip(100 * images, 0, 255), "abc", maps, kernels, attention)
    assert tuple(figure.get_size_inches()) == pytest.approx((columns * 1.1, 3 * 1.35 + 0.3))
    assert [axes.get_title() for axes in figure.axes if axes.get_title() in "abc"] == ["a", "b", "c"]


def test_the_maps_are_those_of_the_chosen_kernels():
    maps = np.random.default_rng(0).normal(size=(2, 4, 3, 6))
    found = attention_maps.maps_of(maps, np.array([[5, 0], [1, 1]]))
    np.testing.assert_array_equal(found[0, 0], maps[0, :, :, 5])
    np.testing.assert_array_equal(found[1, 1], maps[1, :, :, 1])


def test_images_are_moved_by_whole_pixels_of_the_maps():
    image = np.arange(1, 1 + 8 * 8).reshape(1, 8, 8, 1)
    moved = moving.moved(image, (4, 4))
    assert (moved["shifted"][0, :2] == 0).all() and (moved["shifted"][0, :, :2] == 0).all()
    np.testing.assert_array_equal(moved["shifted"][0, 2:, 2:], image[0, :6, :6])
    # Counter-clockwise: the last column becomes the first row.
    np.testing.assert_array_equal(moved["rotated"][0, 0, :, 0], image[0, :, 7, 0])
    np.testing.assert_array_equal(moving.moved(image[:, :4], (2, 4))["rotated"][0, 0, 0], image[0, 3, 7])


def test_maps_of_pixels_agree_and_maps_of_places_do_not():
    images = np.random.default_rng(0).normal(size=(4, 16, 16, 1))
    halved = lambda images: images.reshape(-1, 8, 2, 8, 2, 1).mean((2, 4))  # noqa: E731
    assert moving.agreement(halved, images) == pytest.approx({"shifted": 1, "rotated": 1})
    row = np.arange(8.0)[:, None, None] ** 2
    assert moving.agreement(lambda images: np.ones((4, 1, 8, 1)) * row, images)["rotated"] == pytest.approx(0)
    against = moving.agreement(lambda images: halved(images) * [1, -1], images)
    assert against == pytest.approx({"shifted": 1, "rotated": 1})
    edges = lambda images: np.diff(halved(images), axis=1, append=0)  # noqa: E731
    found = moving.agreement(edges, images)
    assert found["shifted"] == pytest.approx(1, abs=0.15)  # but for the edge
    # Differences to the pixel below and to the one beside have one of two pixels in common.
    assert found["rotated"] == pytest.approx(0.5, abs=0.1)


def test_the_command_draws_and_writes_the_numbers(tmp_path):
    make_model(attention_groups=4, mean=0.3, std=0.3, data_set="digits").save(tmp_path / "best.keras")
    output = tmp_path / "maps.png"
    call(visualize, f"--model={tmp_path / 'best.keras'}", "--count=2", "--moved", f"--output={output}")
    assert output.read_bytes().startswith(b"\x89PNG")
    content = json.loads(output.with_suffix(".json").read_text())
    assert [row.get("moved") for row in content["images"]] == [None, None, "shifted", "rotated"]
    assert len({row["label"] for row in content["images"][1:]}) == 1
    weights = np.array(content["images"][0]["class_attention"])
    assert weights.shape == (4, 1 + KERNELS // 4)
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-4)


def test_a_missing_model_is_named(tmp_path):
    with pytest.raises(MissingFileError, match="no model file"):
        call(visualize, f"--model={tmp_path / 'missing.keras'}", f"--output={tmp_path / 'maps.png'}")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "shapes, words",
    [
        ([(None, None, 1)], "has to take images (batch, height, width, channels) of one size"),
        ([(8, 8, 1), (8, 8, 1)], "has to take images (batch, height, width, channels) of one size"),
        ([(8, 8, 1)], "has to give one output, and its outputs are [(None, 1), (None, 1)]"),
    ],
)
def test_models_of_which_there_is_no_picture(shapes, words, tmp_path):
    inputs = [keras.Input(shape) for shape in shapes]
    pooled = [keras.layers.GlobalMaxPooling2D()(tensor) for tensor in 2 * inputs]
    keras.Model(inputs, pooled).save(tmp_path / "m.keras")
    with pytest.raises(InputError) as raised:
        call(visualize, f"--model={tmp_path}/m.keras", f"--output={tmp_path}/p.png", "--data=digits")
    assert words in str(raised.value)
    assert [path.name for path in tmp_path.iterdir()] == ["m.keras"]

"""A config names a model of images, whose weights a detector's backbone or a model of clips starts from."""

import numpy as np
import pytest

import hsvit_keras
from hsvit_runtime.errors import InputError
from training.configs import digits_detection, digits_video
from training.fitting.building import build_model
from training.recipes import recipe

pytestmark = [pytest.mark.once, pytest.mark.slow_on_jax]

SMALL = {"patch_size": 6, "hidden_dim": 16, "depth": 1, "num_heads": 2, "mlp_dim": 32}


@pytest.fixture(scope="module")
def image_model(tmp_path_factory):
    model = hsvit_keras.create_model("deit_tiny", input_shape=(12, 12, 1), num_classes=3, **SMALL)
    path = tmp_path_factory.mktemp("images") / "deit.keras"
    model.save(path)
    return model, str(path)


def built(config, path, shape, classes, **arguments):
    config.image_model, config.image_shape, config.model_arguments = path, shape, arguments
    return build_model(recipe.plain(config), list("abcdefghij")[:classes])


def assert_same(layer, other):
    for one, two in zip(layer.get_weights(), other.get_weights(), strict=True):
        np.testing.assert_array_equal(one, two)


def test_a_model_of_clips(image_model):
    deit, path = image_model
    model = built(digits_video.get_config(), path, (2, 12, 12, 1), 6, **SMALL)
    assert_same(model.get_layer("block0_mlp_hidden"), deit.get_layer("block0_mlp_hidden"))
    assert_same(model.get_layer("block0_temporal_attention_query"), deit.get_layer("block0_attention_query"))


def test_a_detector(image_model):
    deit, path = image_model
    detector = built(
        digits_detection.get_config(), path, (24, 24, 1), 10, backbone="deit_tiny", backbone_arguments=SMALL,
        backbone_features=("map",), num_levels=2,
    )  # fmt: skip
    inside = detector.get_layer("backbone")
    assert_same(inside.get_layer("block0_mlp_hidden"), deit.get_layer("block0_mlp_hidden"))


def test_a_model_without_backbone(image_model):
    config = digits_video.get_config()
    config.model = "hsvit_tiny"
    with pytest.raises(InputError, match="'hsvit_tiny' is neither a DeformableDETR nor a TimeSformer"):
        built(config, image_model[1], (32, 32, 1), 6)

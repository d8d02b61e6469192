"""`from_timm` against timm itself: its names and shapes, its preparation of pictures, its answers."""

import math

import keras
import numpy as np
import pytest

import hsvit_keras
from hsvit_keras.checkpoints.tensors import Tensors
from hsvit_keras.checkpoints.timm.importing import build
from hsvit_keras.checkpoints.timm.variants import VARIANTS
from hsvit_keras.layers.model_description import description_of
from hsvit_runtime.resizing import Resizing
from tests import reference
from tests.models.running import outputs
from tests.parameters import exhaustive_but, slow_but
from tests.reference.made.make_timm import NAMES, NUM_CLASSES, digest, pixels, weight

MADE = reference.load("made/timm")
MODELS, ANSWERS = MADE["models"], MADE["answers"]
QUICK = ["mobilenetv2_035", "pit_ti_distilled_224"]


class Recording(Tensors):
    """Notes the shape of each tensor that a model takes."""

    def __init__(self):
        super().__init__({})
        self.shapes = {}

    def take(self, name, shape):
        self.shapes[name] = tuple(shape)
        return np.zeros(shape, "float32")


def shapes_of(name, sides, num_classes):
    """(names and shapes of the tensors that our model takes) for images of a size."""
    tensors = Recording()
    VARIANTS[name].load(build(name, (*sides, 3), num_classes), tensors)
    return tensors.shapes


def weights_of(name, sides, gain=1.0):
    return {key: weight(key, shape, gain) for key, shape in shapes_of(name, sides, NUM_CLASSES).items()}


# ---- what timm says --------------------------------------------------------------------------------
@pytest.mark.once
def test_all_models_are_compared():
    assert sorted(VARIANTS) == sorted(NAMES) == sorted(MODELS)


@pytest.mark.once
@pytest.mark.parametrize("name", exhaustive_but(QUICK, NAMES))
def test_names_and_shapes_are_those_of_timm(name):
    side = VARIANTS[name].side
    assert digest(shapes_of(name, (side, side), 1000)) == MODELS[name]["tensors"]


@pytest.mark.once
@pytest.mark.parametrize("name", NAMES)
def test_pictures_are_prepared_as_timm_does(name):
    variant, expected = VARIANTS[name], MODELS[name]
    assert (3, variant.side, variant.side) == tuple(expected["input_size"])
    assert variant.crop == expected["crop_pct"]
    assert variant.pixels == (tuple(expected["mean"]), tuple(expected["std"]))
    assert (expected["interpolation"], expected["crop_mode"]) == ("bicubic", "center")


# ---- models ----------------------------------------------------------------------------------------
@pytest.mark.slow_on_jax
@pytest.mark.parametrize("name", slow_but(QUICK, ANSWERS))
def test_answers_of_timm(name):
    """In float64; timm's own in float32 are not much nearer."""
    (height, width), expected = ANSWERS[name]["sides"], np.array(ANSWERS[name]["logits"])
    weights = weights_of(name, (height, width), ANSWERS[name]["gain"])
    model = hsvit_keras.from_timm(name, weights, input_shape=(height, width, 3))
    assert model.output_shape == (None, NUM_CLASSES)
    found = outputs(model, pixels(height, width))
    assert np.abs(found - expected).max() <= max(3e-6, 5 * ANSWERS[name]["float32_difference"])


@pytest.fixture(scope="module")
def small():
    """(a name, its weights, the model of its own size)."""
    name = "mobilenetv2_035"
    weights = weights_of(name, (224, 224))
    return name, weights, hsvit_keras.from_timm(name, weights)


@pytest.mark.once
def test_size_and_preparation_by_default(small, tmp_path):
    name, weights, model = small
    assert (model.name, model.input_shape) == (name, (None, 224, 224, 3))
    description = description_of(model)
    assert description.input_range == (0, 255)
    assert description.resizing == Resizing("bicubic", 256)
    other = hsvit_keras.from_timm(name, weights, input_shape=(96, 64, 3))
    assert description_of(other).resizing == Resizing("bicubic", math.floor(96 / 0.875))
    model.save(tmp_path / "model.keras")
    images = pixels(224, 224)
    loaded = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(outputs(loaded, images), outputs(model, images))


@pytest.mark.once
def test_fresh_head(small):
    name, weights, whole = small
    model = hsvit_keras.from_timm(name, weights, num_classes=3)
    assert model.output_shape == (None, 3)
    for layer in whole.layers:
        if layer.weights and layer.name != "head":
            found = model.get_layer(layer.name).get_weights()
            assert all(map(np.array_equal, found, layer.get_weights()))


@pytest.mark.once
def test_file(small, tmp_path):
    from safetensors.numpy import save_file

    name, weights, model = small
    save_file(weights, tmp_path / "model.safetensors")
    images = pixels(224, 224)
    found = hsvit_keras.from_timm(name, tmp_path / "model.safetensors")
    np.testing.assert_array_equal(outputs(found, images), outputs(model, images))


def test_other_images_than_those_of_the_positions():
    """The positions of 14 x 14 patches for 4 x 6."""
    name = "deit_tiny_distilled_patch16_224"
    weights = weights_of(name, (224, 224))
    model = hsvit_keras.from_timm(name, weights, input_shape=(64, 96, 3), interpolation="bilinear")
    (positions,) = model.get_layer("position_embedding").get_weights()
    assert positions.shape == (2 + 4 * 6, 192)
    np.testing.assert_array_equal(positions[:2], weights["pos_embed"][0, :2])


# ---- what does not fit -----------------------------------------------------------------------------
@pytest.mark.once
def test_unknown_names_are_told_the_known_ones():
    message = r"one of resnet18, .*, pit_b_distilled_224; received architecture='levit_128'$"
    with pytest.raises(ValueError, match=message) as error:
        hsvit_keras.from_timm("levit_128", {})
    assert "\n" not in str(error.value)


@pytest.mark.once
def test_tensors_that_do_not_fit_are_named_as_timm_names_them(small):
    name, weights, _ = small
    weights = {**weights, "blocks.0.0.more": np.zeros(3)}
    del weights["blocks.1.0.conv_pwl.weight"]
    with pytest.raises(ValueError) as error:
        hsvit_keras.from_timm(name, weights)
    message = str(error.value)
    assert "blocks.1.0.conv_pwl.weight is missing" in message
    assert "blocks.0.0.more with shape (3,) has no place" in message
    assert "\n" not in message

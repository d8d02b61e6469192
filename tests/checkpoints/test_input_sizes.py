"""Checkpoints for images of other sizes, against PyTorch and the library transformers."""

import json

import numpy as np
import pytest
from safetensors.numpy import save_file

import hsvit_keras
from hsvit_keras.checkpoints.interpolation import interpolate, interpolate_offsets
from tests import reference
from tests.models.running import outputs
from tests.reference.made.make_interpolation import CHANNELS, wave

MADE = reference.load("made/interpolation")


def name_of(case):
    return case.get("fixture") or f"{case['mode']} {case['old']} {case['new']}"


# ---- maps ------------------------------------------------------------------------------------------
@pytest.mark.once
@pytest.mark.parametrize("case", MADE["maps"], ids=name_of)
def test_maps_as_pytorch_interpolates_them(case):
    maps = wave((CHANNELS, *case["old"])).transpose(1, 2, 0)
    found = interpolate(maps, case["new"], case["mode"])
    np.testing.assert_allclose(found.transpose(2, 0, 1), case["values"], atol=1e-11)


@pytest.mark.once
@pytest.mark.parametrize("case", MADE["offsets"], ids=name_of)
def test_tables_of_distances(case):
    table = wave((CHANNELS, *case["old"])).reshape(CHANNELS, -1)
    found = interpolate_offsets(table, case["old"], case["new"], case["mode"])
    np.testing.assert_allclose(found.reshape(CHANNELS, *case["new"]), case["values"], atol=1e-11)


@pytest.mark.once
@pytest.mark.parametrize("mode", ["bicubic", "bilinear"])
def test_of_the_same_size_nothing_changes(mode):
    maps = wave((3, 4, CHANNELS))
    np.testing.assert_allclose(interpolate(maps, (3, 4), mode), maps, atol=1e-12)
    table = wave((CHANNELS, 12))
    np.testing.assert_allclose(interpolate_offsets(table, (3, 4), (3, 4), mode), table, atol=1e-12)


# ---- models of the library -------------------------------------------------------------------------
def folder_of(path, fixture):
    (path / "config.json").write_text(json.dumps(fixture["config"]))
    save_file(reference.weights(fixture), path / "model.safetensors")
    return path


def shape_of(input_shape):
    _, channels, height, width = input_shape
    return height, width, channels


@pytest.mark.slow_on_jax
@pytest.mark.parametrize("case", MADE["models"], ids=lambda case: f"{case['fixture']} {case['input_shape']}")
def test_models_as_the_library_interpolates_them(case, tmp_path):
    """Larger, smaller and rectangular; tokens of the class and of distillation keep their positions."""
    folder = folder_of(tmp_path, reference.load(case["fixture"]))
    model = hsvit_keras.from_transformers(folder, input_shape=shape_of(case["input_shape"]))
    (positions,) = model.get_layer("position_embedding").get_weights()
    np.testing.assert_allclose(positions, case["positions"], atol=1e-6)
    found = outputs(model, reference.images(case))
    np.testing.assert_allclose(found, case["output_float64"], atol=3e-6)


def test_positions_of_as_many_patches_in_another_order(tmp_path):
    """3 x 3 patches become 1 x 9."""
    fixture = reference.load("hf_vit")
    model = hsvit_keras.from_transformers(folder_of(tmp_path, fixture), input_shape=(6, 54, 3))
    positions = reference.weights(fixture)["vit.embeddings.position_embeddings"][0]
    expected = interpolate(positions[1:].reshape(3, 3, -1), (1, 9), "bicubic")[0]
    (found,) = model.get_layer("position_embedding").get_weights()
    np.testing.assert_array_equal(found[0], positions[0])
    np.testing.assert_allclose(found[1:], expected, atol=1e-6)


@pytest.mark.once
def test_sizes_that_contradict_each_other_are_refused(tmp_path):
    """What preprocessor_config.json says is no wish for another size."""
    folder = folder_of(tmp_path, reference.load("hf_vit"))
    settings = {"size": {"height": 24, "width": 24}, "image_processor_type": "ViTImageProcessor"}
    (folder / "preprocessor_config.json").write_text(json.dumps(settings))
    with pytest.raises(ValueError, match=r"position_embeddings has shape \(1, 10, 14\), .* \(1, 17, 14\)"):
        hsvit_keras.from_transformers(folder)
    assert hsvit_keras.from_transformers(folder, input_shape=(24, 24, 3)).input_shape == (None, 24, 24, 3)


# ---- authors' programs -----------------------------------------------------------------------------
def of_authors(name, sides, **options):
    """(the model of a fixture for images of other sides, the authors' weights)."""
    fixture = reference.load(name)
    weights, architecture = reference.weights(fixture), name.removesuffix("_distilled")
    config = fixture["config"]
    return hsvit_keras.from_torch(architecture, config, weights, input_shape=(*sides, 3), **options), weights


@pytest.mark.parametrize("mode", ["bicubic", "bilinear"])
def test_positions_of_deit(mode):
    model, weights = of_authors("deit_distilled", (16, 48), interpolation=mode)
    (found,) = model.get_layer("position_embedding").get_weights()
    np.testing.assert_array_equal(found[:2], weights["pos_embed"][0, :2])
    expected = interpolate(weights["pos_embed"][0, 2:].reshape(4, 4, -1), (2, 6), mode)
    np.testing.assert_allclose(found[2:], expected.reshape(12, -1), atol=1e-6)


def test_positions_of_pit():
    """7 x 7 patches become 9 x 4; class tokens have no positions there."""
    model, weights = of_authors("pit_distilled", (40, 20))
    (found,) = model.get_layer("position_embedding").get_weights()
    expected = interpolate(weights["pos_embed"][0].transpose(1, 2, 0), (9, 4), "bicubic")
    np.testing.assert_allclose(found, expected.reshape(36, -1), atol=1e-6)


@pytest.mark.slow_on_jax
def test_biases_of_efficientformer():
    """A map of 3 x 3 becomes one of 2 x 4."""
    model, weights = of_authors("efficientformer", (64, 128))
    (found,) = model.get_layer("stage3_block1_attention").get_weights()
    table = weights["network.6.2.token_mixer.attention_biases"]
    np.testing.assert_allclose(found, interpolate_offsets(table, (3, 3), (2, 4), "bicubic"), atol=1e-6)


@pytest.mark.slow_on_jax
def test_biases_of_the_librarys_efficientformer(tmp_path):
    fixture = reference.load("hf_efficientformer")
    folder = folder_of(tmp_path, fixture)
    model = hsvit_keras.from_transformers(folder, input_shape=(128, 160, 3), interpolation="bilinear")
    name = "efficientformer.encoder.last_stage.meta3D_layers.blocks.0.token_mixer.attention_biases"
    expected = interpolate_offsets(reference.weights(fixture)[name], (3, 3), (4, 5), "bilinear")
    (found,) = model.get_layer("stage3_block1_attention").get_weights()
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.once
def test_unknown_interpolation():
    message = "interpolation has to be 'bicubic' or 'bilinear'; received interpolation='area'"
    with pytest.raises(ValueError, match=message):
        of_authors("deit", (16, 16), interpolation="area")

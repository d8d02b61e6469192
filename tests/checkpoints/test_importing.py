"""`from_torch` on files, and on whatever does not fit."""

import keras
import numpy as np
import pytest

import hsvit_keras
from tests import reference

FIXTURE = reference.load("hsvit")


def test_npz_and_safetensors_give_the_model_of_the_mapping(tmp_path):
    from safetensors.numpy import save_file

    tensors = reference.weights(FIXTURE)
    np.savez(tmp_path / "weights.npz", **tensors)
    save_file(tensors, tmp_path / "weights.safetensors")
    for name in ("weights.npz", "weights.safetensors"):
        model = hsvit_keras.from_torch("hsvit", FIXTURE["config"], tmp_path / name)
        logits = keras.ops.convert_to_numpy(model(reference.images(FIXTURE), training=False))
        assert np.abs(logits - FIXTURE["output_float64"]).max() <= FIXTURE["suggested_atol"]


def test_counters_of_batch_norm_are_no_surplus():
    tensors = {"model.conv2d_layers.0.layer.0.normalization.num_batches_tracked": np.array(7)}
    hsvit_keras.from_torch("hsvit", FIXTURE["config"], {**reference.weights(FIXTURE), **tensors})


def test_every_problem_is_named_with_its_shapes():
    tensors = reference.weights(FIXTURE)
    tensors["model.embed_projection.0.weight"] = np.zeros((16, 49), "float32")
    tensors["model.more.weight"] = np.zeros((2, 3), "float32")
    del tensors["classifier.mlp_head.1.bias"]
    with pytest.raises(ValueError) as error:
        hsvit_keras.from_torch("hsvit", FIXTURE["config"], tensors)
    message = str(error.value)
    assert "model.embed_projection.0.weight has shape (16, 49), the model needs (16, 16)" in message
    assert "model.more.weight with shape (2, 3) has no place" in message
    assert "classifier.mlp_head.1.bias is missing, the model needs it with shape (5,)" in message


def test_many_problems_are_counted():
    with pytest.raises(ValueError, match=r"and \d+ more"):
        hsvit_keras.from_torch("hsvit", FIXTURE["config"], {"a": np.zeros(3)})


@pytest.mark.once
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"attn_nums": 4}, "unknown: attn_nums"),
        ({"attn_num": None}, "missing: attn_num"),
    ],
)
def test_config_with_a_typo(change, message):
    config = {key: value for key, value in {**FIXTURE["config"], **change}.items() if value is not None}
    with pytest.raises(ValueError, match=message):
        hsvit_keras.from_torch("hsvit", config, reference.weights(FIXTURE))


def test_unknown_architecture():
    with pytest.raises(ValueError, match=r"'hsvit'.*; received architecture='hsvitt'"):
        hsvit_keras.from_torch("hsvitt", {}, {})


def test_no_config():
    with pytest.raises(ValueError, match="config=None"):
        hsvit_keras.from_torch("hsvit", None, {})


def test_imported_model_saves_and_loads(tmp_path):
    model = hsvit_keras.from_torch("hsvit", FIXTURE["config"], reference.weights(FIXTURE))
    model.save(tmp_path / "imported.keras")
    loaded = keras.models.load_model(tmp_path / "imported.keras")
    images = reference.images(FIXTURE)
    np.testing.assert_array_equal(np.asarray(loaded(images)), np.asarray(model(images)))

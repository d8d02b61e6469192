"""Saved models."""

import keras
import pytest

import hsvit_keras
from hsvit_keras import model_files


def test_load_model(tmp_path):
    model = hsvit_keras.create_model("hsvit_tiny")
    model.save(tmp_path / "m.keras")
    assert model_files.load_model(tmp_path / "m.keras").get_config() == model.get_config()


@pytest.mark.parametrize("content", [b"", b"PK", b"not a model" * 100])
def test_damaged_model(tmp_path, content):
    (tmp_path / "m.keras").write_bytes(content)
    with pytest.raises(ValueError, match=r"m\.keras is damaged or no Keras model"):
        model_files.load_model(tmp_path / "m.keras")


def test_truncated_model(tmp_path):
    hsvit_keras.create_model("hsvit_tiny").save(tmp_path / "m.keras")
    content = (tmp_path / "m.keras").read_bytes()
    for share in (0.3, 0.9, 0.999):
        (tmp_path / "m.keras").write_bytes(content[: int(share * len(content))])
        with pytest.raises(ValueError, match="is damaged or no Keras model"):
            model_files.load_model(tmp_path / "m.keras")


def test_unregistered_class_is_named(tmp_path):
    class Homemade(keras.layers.Layer):
        def call(self, inputs):
            return inputs

    inputs = keras.Input((4,))
    keras.Model(inputs, Homemade()(inputs)).save(tmp_path / "m.keras")
    with pytest.raises(ValueError, match="it needs the class 'Homemade', which is not registered"):
        model_files.load_model(tmp_path / "m.keras")


def test_missing_and_other_files(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no model file .*m\.keras"):
        model_files.load_model(tmp_path / "m.keras")
    (tmp_path / "m.h5").touch()
    with pytest.raises(ValueError, match=r"saved by Keras ends in \.keras"):
        model_files.load_model(tmp_path / "m.h5")

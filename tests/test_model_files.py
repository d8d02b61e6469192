"""Saved models."""

import sys
import zipfile

import keras
import numpy as np
import pytest

import hsvit_keras
from hsvit_keras import model_files
from hsvit_runtime.errors import InputError

ONES = np.ones((2, 4), "float32")


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
    message = "it needs the class 'Homemade', which is not registered.* by --import=MODULE"
    with pytest.raises(ValueError, match=message):
        model_files.load_model(tmp_path / "m.keras")


def test_an_older_file(tmp_path):
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3)])
    keras.src.legacy.saving.legacy_h5_format.save_model_to_hdf5(model, str(tmp_path / "m.h5"))
    np.testing.assert_array_equal(model_files.load_model(tmp_path / "m.h5")(ONES), model(ONES))


def test_code_in_a_file_runs_only_where_it_is_allowed(tmp_path):
    model = keras.Sequential([keras.Input((4,)), keras.layers.Lambda(lambda x: x * 2)])
    model.save(tmp_path / "m.keras")
    with pytest.raises(InputError, match=r"has a Lambda layer.*if you trust the file, .* by --unsafe$"):
        model_files.load_model(tmp_path / "m.keras")
    with keras.src.saving.serialization_lib.SafeModeScope(False):
        np.testing.assert_array_equal(model_files.load_model(tmp_path / "m.keras")(ONES), 2 * ONES)


@pytest.mark.parametrize("written", ["keras_nlp.layers", "keras\\u005fnlp.layers"])
def test_no_package_is_imported_from_the_working_directory(written, tmp_path, monkeypatch):
    package = tmp_path / "keras_nlp"
    package.mkdir()
    (package / "__init__.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    (package / "layers.py").write_text("import keras\nclass Other(keras.layers.Layer): pass")
    monkeypatch.syspath_prepend(tmp_path)
    inputs = keras.Input((4,))
    keras.Model(inputs, keras.layers.Dense(2)(inputs)).save(tmp_path / "plain.keras")
    with (
        zipfile.ZipFile(tmp_path / "plain.keras") as plain,
        zipfile.ZipFile(tmp_path / "m.keras", "w") as other,
    ):
        for name in plain.namelist():
            content = plain.read(name)
            if name == "config.json":
                dense = b'{"module": "keras.layers", "class_name": "Dense"'
                assert dense in content
                content = content.replace(dense, f'{{"module": "{written}", "class_name": "Other"'.encode())
            other.writestr(name, content)
    with pytest.raises(InputError, match=r"needs the package 'keras_nlp', which lies in .* is not installed"):
        model_files.load_model(tmp_path / "m.keras")
    assert not (tmp_path / "ran").exists() and "keras_nlp" not in sys.modules


def test_missing_and_other_files(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no model file .*m\.keras"):
        model_files.load_model(tmp_path / "m.keras")
    (tmp_path / "m.pt").touch()
    with pytest.raises(ValueError, match=r"saved by Keras ends in \.keras or \.h5"):
        model_files.load_model(tmp_path / "m.pt")


def test_models_are_what_they_say_however_keras_is_configured(tmp_path):
    model = hsvit_keras.create_model("hsvit_tiny", mean=0.5, std=0.5)
    model.save(tmp_path / "m.keras")
    images = np.random.default_rng(0).uniform(0, 255, (2, *model.input_shape[1:])).astype("float32")
    keras.config.set_image_data_format("channels_first")
    keras.config.set_floatx("float16")
    try:
        loaded = model_files.load_model(tmp_path / "m.keras")
    finally:
        keras.config.set_image_data_format("channels_last")
        keras.config.set_floatx("float32")
    assert loaded.input_shape == model.input_shape and loaded.inputs[0].dtype == "float32"
    np.testing.assert_array_equal(loaded(images), model(images))

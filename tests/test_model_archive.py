"""A `.keras` file that lies is refused before Keras builds what it says."""

import json
import zipfile

import keras
import numpy as np
import pytest

import hsvit_keras
from hsvit_keras import model_archive, model_files
from hsvit_runtime.errors import InputError


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Path of a model of stock layers."""
    path = tmp_path_factory.mktemp("model") / "m.keras"
    layers = [
        keras.layers.Conv2D(2, 3, name="stem"),
        keras.layers.Flatten(),
        keras.layers.Dense(3, name="head"),
    ]
    keras.Sequential([keras.Input((8, 8, 1)), *layers]).save(path)
    return path


def rewritten(source, path, change=lambda config: None, leave_out=(), **contents):
    """A copy of an archive with another config, without some members, or with other contents."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        config = json.loads(old.read("config.json"))
        change(config)
        contents = {"config.json": json.dumps(config), **contents}
        for name in old.namelist():
            if name not in leave_out:
                new.writestr(name, contents.get(name, old.read(name)))
    return path


def set_of(layer, **settings):
    return lambda config: config["config"]["layers"][layer]["config"].update(settings)


def more_layers(config):
    config["config"]["layers"][2:2] = [{"class_name": "Flatten"}] * 1000


LIES = {
    "filters": (
        set_of(1, filters=10**7),
        "Conv2D has filters=10000000, for which its weights are too few",
    ),
    "units": (set_of(3, units=10**9), "Dense has units=1000000000, for which its weights are too few"),
    "kernel": (
        set_of(1, kernel_size=[10**5, 10**5]),
        r"Conv2D has kernel_size=\[100000, 100000\], ",
    ),
    "product": (set_of(1, filters=9999, kernel_size=[99, 99]), "Conv2D has filters=9999 and kernel_size="),
    "layers": (more_layers, "its Sequential has 1,004 layers, and at most 1,000 are built"),
    "list": (lambda config: config.update(config=[1]), "its config.json describes no layers"),
    "negative": (set_of(1, filters=-4), "its Sequential cannot be made: .*filters.*[Rr]eceived filters=-4"),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_config_that_lies(lie, whole, tmp_path):
    change, words = LIES[lie]
    path = rewritten(whole, tmp_path / "lie.keras", change)
    with pytest.raises(InputError, match=rf"lie\.keras is damaged or no Keras model: {words}") as raised:
        model_files.load_model(path)
    assert "\n" not in str(raised.value) and len(str(raised.value)) < 500


@pytest.mark.parametrize(
    "settings", [{"depth": 10**6}, {"hidden_dim": 10**9}, {"patch_size": [10**7, 10**7]}]
)
def test_one_of_our_models_that_lies(settings, tmp_path):
    model = hsvit_keras.VisionTransformer(
        (8, 8, 1), 3, patch_size=4, hidden_dim=8, depth=1, num_heads=2, mlp_dim=8
    )
    model.save(tmp_path / "m.keras")
    assert model_archive.read_config(tmp_path / "m.keras")["class_name"] == "VisionTransformer"
    path = rewritten(
        tmp_path / "m.keras", tmp_path / "lie.keras", lambda config: config["config"].update(settings)
    )
    (name,) = settings
    with pytest.raises(
        InputError, match=rf"VisionTransformer has {name}=.*, for which its weights are too few"
    ):
        model_files.load_model(path)


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"leave_out": ["config.json"]}, "the archive has no config.json"),
        ({"leave_out": ["model.weights.h5"]}, "the archive has no weights"),
        ({"config.json": b"{"}, "its config.json is no JSON: expecting property name"),
        ({"config.json": b'{"a":' * 100_000}, "its config.json is nested too deeply"),
        ({"config.json": b" " * 70 * 2**20}, "its config.json would have 73 MB"),
        ({"model.weights.h5": bytes(range(256)) * 200}, "its weights are damaged or cut short"),
        ({"model.weights.h5": bytes(2**23)}, r"its model\.weights\.h5 would have 8 MB"),
    ],
)
def test_members_of_the_archive(changes, words, whole, tmp_path):
    path = rewritten(whole, tmp_path / "m.keras", **changes)
    with pytest.raises(InputError, match=rf"m\.keras is damaged or no Keras model: {words}"):
        model_files.load_model(path)


@pytest.mark.parametrize("value", [np.nan, -np.inf])
def test_weights_that_are_no_numbers_are_named(value, whole, tmp_path):
    model = keras.models.load_model(whole)
    kernel, bias = model.get_layer("stem").get_weights()
    kernel[0, 1, 0, :] = value
    model.get_layer("stem").set_weights([kernel, bias])
    model.save(tmp_path / "m.keras")
    words = r"holds NaN or infinity in its weights: \S*stem/kernel \(2 of 18 values\)$"
    with pytest.raises(InputError, match=rf"m\.keras {words}"):
        model_files.load_model(tmp_path / "m.keras")
    with pytest.raises(InputError, match=words):
        model_files.check_finite(model, "the model")


@pytest.mark.filterwarnings("ignore:You are saving a model that has not yet been built")
def test_a_model_that_was_never_built(tmp_path):
    keras.Sequential([keras.layers.Dense(3)]).save(tmp_path / "m.keras")
    with pytest.raises(InputError, match=r"m\.keras was saved before it was built, and has no weights: give"):
        model_files.load_model(tmp_path / "m.keras")

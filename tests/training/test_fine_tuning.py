"""What is frozen, how fast each depth learns, when a run ends, and what it goes on from."""

import json
import pathlib
import shutil

import keras
import numpy as np
import pytest
from PIL import Image

from data_sets import load_dataset
from data_sets.image_sizes import typical_shape
from hsvit_keras.layers.model_description import description_of
from hsvit_runtime.errors import InputError
from tests.command_line.in_process import call
from tests.models.small import small_model
from tests.training import test_optimization as optimizing
from tests.training.breaking import broken_off
from tests.training.test_train import assert_same_run, metrics, small_config
from training import train as train_command
from training.configs import digits, folder
from training.fitting import fit, freezing, optimization
from training.fitting.building import FloatCopy, build_model
from training.fitting.data import Data
from training.fitting.open_values import complete, load_source
from training.fitting.run import train
from training.recipes import recipe


def settings(**changes):
    config = digits.get_config()
    for key, value in changes.items():
        config[key] = value
    return recipe.plain(config)


# ---- learning rates by depth -----------------------------------------------------------------------
BEIT = {"patch_embedding": 0.5**3, "block0": 0.5**2, "block1": 0.5, "head": 1.0}  # of two blocks


def beit_scale(path):
    """layer_decay ** (num_layers + 1 - i) of BEiT's program, for a variable's path."""
    return next((scale for name, scale in BEIT.items() if path.startswith(name)), 0.5**3)


@pytest.mark.parametrize("name", ["sgd", "adam", "adamw"])
def test_the_rate_of_a_step_and_of_decay_is_that_of_the_depth(name):
    """Of gradients that are all alike, which is what differs between the variables."""
    changes = {"optimizer": name, "weight_decay": 0.1, "momentum": 0.0, "schedule": "step_decay"}
    values = settings(**changes, learning_rate=0.01, layer_decay=0.5)
    model = small_model("deit_tiny")
    model.set_weights([np.ones(weight.shape, "float32") for weight in model.get_weights()])
    optimizer = optimization.build_optimizer(model, values, steps=4)
    optimizer = type(optimizer).from_config(optimizer.get_config())
    optimizer.build(model.trainable_variables)
    optimizer.apply([np.full(variable.shape, 0.5, "float32") for variable in model.trainable_variables])
    change = 0.5 if name == "sgd" else 1.0  # Adam's first step is the gradient's sign
    for variable in model.trainable_variables:
        rate = 0.01 * beit_scale(variable.path)
        # Decay comes first, of the weight before the step.
        expected = 1 - rate * 0.1 - rate * change
        np.testing.assert_allclose(np.asarray(variable), expected, rtol=2e-6, err_msg=variable.path)


def test_without_decay_the_optimizer_is_keras_own():
    model, _ = optimizing.two_weights()
    assert type(optimization.build_optimizer(model, settings(), steps=4)) is keras.optimizers.AdamW


def test_a_later_optimizer_goes_on_in_the_schedule():
    values = settings(epochs=10, learning_rate=0.5, schedule="cosine")
    model, _ = optimizing.two_weights()
    optimizer = optimization.build_optimizer(model, values, steps=4, epoch=3)
    assert float(optimizer.learning_rate) == pytest.approx(0.25 * (1 + np.cos(np.pi * 0.3)), rel=1e-5)
    again = type(optimizer).from_config(optimizer.get_config())
    assert float(again.learning_rate) == float(optimizer.learning_rate)


# ---- frozen parts ----------------------------------------------------------------------------------
def trained(model, frozen, epoch=0):
    """The layers with weights that are trained."""
    freezing.freeze(model, {"frozen": frozen, "epochs": 10}, epoch)
    return {layer.name for layer in model.layers if layer.trainable_variables}


def test_parts_by_name_by_depth_and_the_trunk():
    model = small_model("deit_tiny_distilled")
    everything = {layer.name for layer in model.layers if layer.weights}
    assert trained(model, []) == everything
    in_block0 = {name for name in everything if name.startswith("block0")}
    assert trained(model, [["block0_*", None]]) == everything - in_block0
    assert trained(model, [["*_norm", None], ["patch_embedding", 3]]) == {
        name for name in everything if not name.endswith("_norm") and name != "patch_embedding"
    }
    front = {"patch_embedding", "class_token", "position_embedding"}
    assert trained(model, [[2, None]]) == everything - in_block0 - front
    assert trained(model, [["trunk", None]]) == {"head", "head_distillation"}


def test_parts_thaw_in_their_epochs():
    model = small_model("deit_tiny")
    frozen = [["trunk", 2], [1, 5], ["block0_norm", None]]
    assert trained(model, frozen, epoch=1) == {"head"}
    assert "block0_norm" not in trained(model, frozen, epoch=2)
    assert "patch_embedding" not in trained(model, frozen, epoch=4)
    assert "patch_embedding" in trained(model, frozen, epoch=5)
    assert freezing.thaws({"frozen": frozen, "epochs": 10}) == [2, 5]
    assert freezing.thaws({"frozen": frozen, "epochs": 5}) == [2]


@pytest.mark.parametrize(
    "frozen, words",
    [
        ([["blokc0_*", None]], "deit_tiny has no layer 'blokc0_"),
        ([["*", 3]], "leaves nothing to train in epoch 1"),
        ([[4, None]], "head of deit_tiny has depth 3, and all of it is below 4"),
    ],
)
def test_a_part_that_is_not_there_is_named(frozen, words):
    with pytest.raises(InputError, match=words):
        freezing.freeze(small_model("deit_tiny"), {"frozen": frozen, "epochs": 10}, 0)


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"frozen": (("trunk",),)}, "config.frozen has to be a sequence of pairs of a part"),
        ({"frozen": ((0, None),)}, "config.frozen has to be"),
        ({"frozen": (("trunk", 0),)}, "config.frozen has to be"),
        ({"layer_decay": 1.5}, "config.layer_decay has to be a number above 0 and at most 1; received 1.5"),
        ({"patience": 0}, "config.patience has to be an integer from 1 to 1000000, or None; received 0"),
        ({"class_weights": "blanced"}, "config.class_weights has to be one of balanced, or None"),
        ({"init_input_range": (1, 1)}, "config.init_input_range has to be two different numbers"),
    ],
)
@pytest.mark.once
def test_a_wrong_value_is_named(changes, words):
    with pytest.raises(InputError, match=words):
        settings(**changes)


def test_frozen_normalizations_keep_their_statistics():
    model = keras.Sequential(
        [keras.Input((2,)), keras.layers.BatchNormalization(name="norm"), keras.layers.Dense(2, name="head")]
    )
    freezing.freeze(model, {"frozen": [["norm", None]], "epochs": 10}, 0)
    model.compile("sgd", loss="mse")
    before = model.get_layer("norm").get_weights()
    model.fit(np.full((4, 2), 7.0), np.zeros((4, 2)), verbose=0)
    for old, new in zip(before, model.get_layer("norm").get_weights(), strict=True):
        np.testing.assert_array_equal(old, new)


def test_a_saved_copy_is_not_frozen():
    model = small_model("deit_tiny")
    freezing.freeze(model, {"frozen": [["trunk", None]], "epochs": 10}, 0)
    assert len(FloatCopy(model)().trainable_variables) > 20 > len(model.trainable_variables)


# ---- the end of a run ------------------------------------------------------------------------------
class Run:
    """The rows of a run with these accuracies."""

    def __init__(self, *accuracies):
        self.rows = [{"epoch": i, "accuracy": value} for i, value in enumerate(accuracies, 1)]

    def best_row(self):
        return max(self.rows, key=lambda row: row["accuracy"])


@pytest.mark.parametrize(
    "accuracies, changes, ended",
    [
        ((0.5, 0.6, 0.6), {"patience": 2}, False),
        ((0.5, 0.6, 0.6, 0.6), {"patience": 2}, True),
        ((0.5, 0.6, 0.6, 0.7), {"patience": 2}, False),
        ((0.9, 0.6, 0.6, 0.6), {"patience": 2, "frozen": [["trunk", 3]]}, False),
        ((0.9, 0.6, 0.6, 0.6, 0.5), {"patience": 2, "frozen": [["trunk", 3]]}, True),
        ((0.9,) * 9, {"patience": None}, False),
        ((0.9,) * 10, {"patience": None}, True),
        ((), {"patience": 1}, False),
    ],
)
@pytest.mark.once
def test_patience(accuracies, changes, ended):
    assert fit.has_ended(Run(*accuracies), {"epochs": 10, "frozen": [], **changes}) == ended


# ---- what a config leaves open ---------------------------------------------------------------------
def write_images(path, brightness, counts, size=(50, 40), mode="L"):
    """Class folders of plain images, of one brightness a class."""
    for (name, level), count in zip(brightness.items(), counts, strict=True):
        (path / name).mkdir(parents=True)
        for i in range(count):
            Image.new(mode, size, level).save(path / name / f"{i}.png")
    return path


@pytest.fixture
def images(tmp_path):
    """Three classes, of which two thirds are black; a fifth of each is to test on."""
    return write_images(tmp_path / "images", {"black": 0, "dark": 0, "white": 255}, (40, 10, 25))


@pytest.mark.once
@pytest.mark.parametrize("size, side", [((50, 40), 32), ((300, 64), 64), ((999, 500), 128), ((9, 20), 32)])
@pytest.mark.parametrize("mode, channels", [("L", 1), ("RGB", 3)])
def test_the_size_of_images_is_the_largest_of_the_paper_that_they_fill(tmp_path, size, side, mode, channels):
    path = write_images(tmp_path, {"one": 0}, (3,), size, mode)
    assert typical_shape(load_dataset("folder", "train", path)) == (*size[::-1], channels)
    values = complete(recipe.plain(folder.get_config()), None, path)
    assert values["image_shape"] == [side, side, channels]


@pytest.mark.once
def test_mean_and_deviation_are_those_of_the_training_part(images, capsys):
    values = complete(recipe.plain(folder.get_config()), None, images)
    in_train = load_dataset("folder", "train", images)
    share = np.mean(in_train.labels == 2)
    assert values["mean"] == [pytest.approx(share, abs=1e-4)]
    assert values["std"] == [pytest.approx(np.sqrt(share * (1 - share)), abs=1e-4)]
    assert "images are about 40 x 50 pixels and grey" in capsys.readouterr().out
    given = {**recipe.plain(folder.get_config()), "mean": [0.3], "image_shape": [16, 16, 1]}
    assert complete(given, None, images)["mean"] == [0.3]


@pytest.mark.once
def test_classes_weigh_inversely_to_their_size(images):
    values = complete(recipe.plain(folder.get_config()), None, images)
    data = Data(values, images)
    counts = np.bincount(data.train_set.labels)
    np.testing.assert_allclose(data.class_weights * counts, counts.sum() / 3)
    assert Data({**values, "class_weights": None}, images).class_weights is None


def test_a_config_takes_channels_and_normalization_of_the_model_that_it_trains_on(tmp_path):
    source = small_model("deit_tiny", mean=0.1, std=0.7, input_shape=(16, 16, 3))
    source.save(tmp_path / "source.keras")
    values = settings(init=str(tmp_path / "source.keras"), image_shape=(32, 16, 1))
    source = load_source(values)
    values = complete(values, source, None)
    assert (values["model"], values["image_shape"]) == ("deit_tiny", [32, 16, 3])
    assert values["mean"] is values["std"] is None
    model = build_model(values, tuple("abc"), source)
    assert (model.mean, model.std, model.input_shape) == (0.1, 0.7, (None, 32, 16, 3))
    assert description_of(model).class_names == tuple("abc")
    np.testing.assert_array_equal(
        model.get_layer("block1_mlp_output").get_weights()[0],
        source.get_layer("block1_mlp_output").get_weights()[0],
    )


def test_the_pixels_of_a_model_to_train_on_have_to_be_known(tmp_path):
    small_model("deit_tiny").save(tmp_path / "source.keras")
    with pytest.raises(InputError, match=r"by config\.init_input_range, such as 0,255"):
        load_source(settings(init=str(tmp_path / "source.keras")))
    assert load_source(settings(init=str(tmp_path / "source.keras"), init_input_range=(-1, 1)))
    with pytest.raises(FileNotFoundError, match=r"no model file .*none\.keras"):
        load_source(settings(init=str(tmp_path / "none.keras")))


# ---- whole runs ------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """The file of a model that was trained for an epoch."""
    workdir = tmp_path_factory.mktemp("source")
    train(small_config(epochs=1), workdir)
    return str(workdir / "best.keras")


@pytest.mark.exhaustive
@pytest.mark.slow_on_jax
@pytest.mark.parametrize(
    "changes",
    [
        # Broken off as the trunk has just thawed, and before it does.
        {"frozen": (("trunk", 1),), "layer_decay": 0.7, "ema_momentum": 0.9, "clip_norm": 0.5},
        {
            "frozen": (("trunk", 2), ("embedding", None)),
            "optimizer": "sgd",
            "layer_decay": 0.5,
            "schedule": "cosine_by_epoch",
        },
    ],
)
def test_a_run_that_breaks_off_goes_on_to_the_same_end(tmp_path, source, changes):
    config = small_config(init=source, **changes)
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    train(config, whole)
    with broken_off():
        train(config, broken)
    train(config, broken)
    assert metrics(whole) == metrics(broken)
    assert_same_run(whole, broken)
    if "schedule" not in changes:
        rates = [row["learning_rate"] for row in metrics(whole)]
        expected = 0.003 * (1 + np.cos(np.pi * np.array([1, 2, 3]) / 3)) / 2
        np.testing.assert_allclose(rates, expected, atol=1e-9)
    best = keras.models.load_model(whole / "best.keras")
    assert all(layer.trainable for layer in best.layers)


@pytest.mark.exhaustive
@pytest.mark.slow_on_jax
def test_a_linear_probe_trains_the_head_alone(tmp_path, source, capsys):
    summary = train(small_config(init=source, frozen=(("trunk", None),), epochs=2), tmp_path)
    probed, before = (keras.models.load_model(path) for path in (tmp_path / "best.keras", source))
    for old, new in zip(before.layers, probed.layers, strict=True):
        for one, other in zip(old.get_weights(), new.get_weights(), strict=True):
            assert np.array_equal(one, other) == (old.name != "head")
    assert (
        summary["init"] == source
        and summary["parameters"] == before.count_params() - summary["non_trainable_parameters"]
    )
    assert f"trained on from {source}" in capsys.readouterr().out


@pytest.mark.exhaustive
@pytest.mark.slow_on_jax
def test_a_finished_run_goes_on_for_more_epochs(tmp_path, source, capsys):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    for workdir in (whole, broken):
        shutil.copytree(pathlib.Path(source).parent, workdir)
    train(small_config(), whole)
    assert "extended: the learning rate is that of a run of 3 epochs" in capsys.readouterr().out
    with broken_off():
        train(small_config(), broken)
    assert not (broken / "summary.json").exists()
    summary = train(small_config(), broken)
    assert_same_run(whole, broken)
    assert summary["schedules"] == [1, 3] and summary["epochs"] == 3
    rates = [row["learning_rate"] for row in metrics(whole)]
    np.testing.assert_allclose(rates[1:], 0.003 * (1 + np.cos(np.pi * np.array([2, 3]) / 3)) / 2, atol=1e-9)
    with pytest.raises(InputError, match="another config: epochs was 3 and is 2"):
        train(small_config(epochs=2), whole)
    with pytest.raises(InputError, match=r"another config: .*learning_rate was 0\.003 and is 0\.1"):
        train(small_config(epochs=4, learning_rate=0.1), whole)


@pytest.mark.exhaustive
@pytest.mark.slow_on_jax
def test_a_run_without_improvement_ends_early(tmp_path):
    """Of weights that are not changed by so small steps, behind frozen statistics of normalization."""
    still = {"epochs": 9, "learning_rate": 1e-12, "weight_decay": 0.0, "frozen": (("stage*", None),)}
    summary = train(small_config(**still, patience=2), tmp_path)
    assert summary["best"]["epoch"] == 1
    assert summary["epochs"] == len(metrics(tmp_path)) == 3
    summary = train(small_config(**still, patience=3), tmp_path)
    assert summary["epochs"] == len(metrics(tmp_path)) == 4


@pytest.mark.exhaustive
@pytest.mark.tensorflow
def test_a_folder_of_images_needs_no_config(images, tmp_path, capsys):
    small = {"filters": "(8,)", "pool_strides": "(2,)", "attention_groups": 2, "depth": 1, "hidden_dim": 8}
    call(
        train_command,
        f"--images={images}",
        f"--workdir={tmp_path / 'run'}",
        "--config.epochs=2",
        "--config.num_workers=0",
        "--config.model=hsvit_tiny",
        *(f"--config.model_arguments.{name}={value}" for name, value in small.items()),
        "--config.model_arguments.num_heads=2",
    )
    said = capsys.readouterr().out
    assert "image_shape [32, 32, 1], mean [0." in said
    assert "3 classes of " in said and "weighing 0." in said
    config = json.loads((tmp_path / "run/config.json").read_text())
    assert (config["data"], config["image_shape"]) == ("folder", [32, 32, 1])
    assert 0.2 < config["mean"][0] < 0.5
    with pytest.raises(InputError, match="--images is a folder of class folders"):
        call(train_command, f"--images={images}", "--workdir=x", "--config=training/configs/digits.py")
